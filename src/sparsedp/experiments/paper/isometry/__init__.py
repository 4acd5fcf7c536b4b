"""How nearly the sensing keeps the length of sparse vectors: the restricted-isometry constant, sampled and searched."""
