"""Noise: exact samples of discrete laws from a cryptographic source, and the laws themselves.

`law` is public knowledge about the noise and may be imported by recovery; everything else here draws, so it
belongs to the private side. Nothing is imported on the package's behalf, which keeps the two apart.
"""
