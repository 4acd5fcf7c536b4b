"""Real data: records that ship in packages, and the paper's files, fetched from their authors or the user's own."""
