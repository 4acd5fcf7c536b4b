"""How the errors of streams grow with the horizon, with time, with 1/ε and with the sparsity: Table 2, measured."""
