"""Noise: exact samples of discrete laws from a cryptographic source. Private side; the laws are public (`laws.py`)."""
