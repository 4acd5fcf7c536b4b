"""Mechanisms of others, written anew from their papers to be compared with. Not for use: see each for why."""
