"""Ours beside all other mechanisms, on public inputs: measured, compared, shown."""
