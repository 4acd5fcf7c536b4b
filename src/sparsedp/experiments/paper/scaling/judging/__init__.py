"""What the claims, the table and the figures read out of the outcomes."""
