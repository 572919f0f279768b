"""Faults, hostile input and injections."""
