"""Retrieval complexity, and kinds of questions."""
