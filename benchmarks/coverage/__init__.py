"""Coverage of sub-questions."""
