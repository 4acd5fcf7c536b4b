"""Comparing releases with the truth: for data owners and for research; nothing here is private."""
