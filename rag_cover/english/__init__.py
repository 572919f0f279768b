"""English by rules: words, clauses and noun phrases."""
