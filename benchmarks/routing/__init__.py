"""Query routing by complexity and by skill."""
