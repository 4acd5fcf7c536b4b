"""How accurate every mechanism is on the public family of inputs: `make bench-accuracy`."""
