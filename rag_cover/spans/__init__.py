"""Spans of tracing tools and of callbacks, read as the steps of a trace."""
