"""The compressive mechanism against Laplace, HRMS and others, from ε = 1 down to 10⁻⁵."""
