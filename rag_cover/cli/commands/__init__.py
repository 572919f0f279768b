"""The commands of ``rag-cover``, each in a module named after it."""
