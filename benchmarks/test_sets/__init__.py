"""Test sets made of documents."""
