"""The errors of an estimate, from the synopsis alone (errors.md)."""
