"""Published ways to release tables of many axes, written from their papers or run by their authors' library.

**Do not publish with them**: noise in floating point has known holes.
"""
