"""Real data that ships in packages, for the demo, the tests and the experiments."""
