"""Private looks at the cells that choose what to measure: how rough they are, and where they are flat."""
