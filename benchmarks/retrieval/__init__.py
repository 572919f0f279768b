"""The embedded retriever."""
