"""Sampling from a causal language model: n answers a prompt from one prefill, with the log-probabilities of what was drawn."""
