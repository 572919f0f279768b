"""Answer relevance and context relevance."""
