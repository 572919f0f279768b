"""Questions with and, or and not."""
