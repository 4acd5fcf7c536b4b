"""Table 1 as measured laws: how the errors grow with the cells, with 1/ε and with the sparsity."""
