"""CMCO against the continual mechanism: the error of every prefix of a stream, and what each of them spends."""
