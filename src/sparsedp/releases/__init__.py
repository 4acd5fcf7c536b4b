"""The published estimate of every cell: ask it anything, save it, open it elsewhere."""
