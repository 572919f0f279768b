"""What the benchmarks share: data sets, scores, tables, and processes of their own."""
