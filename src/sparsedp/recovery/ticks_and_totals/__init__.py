"""Noisy ticks and noisy running totals of one series, combined (`fusion.md`)."""
