"""Models of a checkpoint, on torch."""
