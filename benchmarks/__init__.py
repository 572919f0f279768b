"""Benchmarks: a folder for each method, and one for what they share. ``python -m benchmarks`` lists them."""
