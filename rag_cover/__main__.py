"""``python -m rag_cover``: the command ``rag-cover``, where its script is not on the path."""

from rag_cover.cli import main

if __name__ == "__main__":
    main()
