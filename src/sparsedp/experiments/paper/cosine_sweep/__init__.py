"""The same sweep over ε in the cosine basis, on series in time."""
