"""The same releases made by sparsedp and by other libraries, one library a file, for `bench_peers.py`."""
