"""rag_cover for LlamaIndex, under the name by which evaluations of LlamaIndex are found: all of `rag_cover_llama_index`.

    from llama_index.evaluation.rag_cover import evaluate_pipeline

    evaluation = evaluate_pipeline(query_engine, ["What does a heat pump cost?"])

`llama_index` and `llama_index.evaluation` are namespaces, to which other distributions add, too.
"""

from rag_cover_llama_index import *  # noqa: F403  # these names are all of its own
from rag_cover_llama_index import __all__ as __all__
