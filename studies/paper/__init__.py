"""The experiments of the paper, and checks of what it proves: measured, drawn and judged."""
