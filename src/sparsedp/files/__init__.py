"""The file format, and files from strangers: read within bounds, checked, signed, and written whole or not at all."""
