"""Retrieval augmentation by sub-questions."""
