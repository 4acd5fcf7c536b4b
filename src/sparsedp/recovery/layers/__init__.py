"""Recovery of layers of group sums: fuse them, shrink the noise, keep sums, remove negative cells."""
