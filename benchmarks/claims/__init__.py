"""Claims and citations."""
