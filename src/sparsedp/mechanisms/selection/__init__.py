"""The private choice of the sparsity: candidates, exact scores, and the exponential mechanism's draw."""
