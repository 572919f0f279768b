"""Asking language models: sessions, deadlines, retries, rate limits, cache, usage, safe prompts, replies read as JSON."""
