"""Recording of live pipelines."""
