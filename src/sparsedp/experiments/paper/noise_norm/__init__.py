"""How large the noise ‖e‖₂ of the compressive mechanism is, against the bound that the paper takes from Chebyshev."""
