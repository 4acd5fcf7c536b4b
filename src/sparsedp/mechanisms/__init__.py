"""One small file a mechanism."""
