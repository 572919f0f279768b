"""The names under which pipelines keep a question, an answer, its citations and documents, the likeliest first."""

from __future__ import annotations

__all__ = ["ANSWERED", "ASKED", "CITED", "DOCUMENTS"]

ASKED = (
    *("question", "query", "user_question", "user_query", "user_input", "query_str", "str_or_query_bundle", "query_bundle"),
    *("input", "inputs", "prompt", "text", "topic", "message", "messages", "chat_history"),
)

ANSWERED = (
    *("answer", "final_answer", "response", "final_response", "output", "result", "generation", "output_text", "completion"),
    *("reply", "text", "content", "generations", "message", "messages"),
)

CITED = ("citations", "cited_sources", "source_ids")
"""Of a list of the sources that a structured answer cites; a trace keeps it in its metadata, by the first of these."""

DOCUMENTS = (
    *("context", "contexts", "documents", "source_documents", "retrieved_documents", "retrieved_docs", "retrieved_contexts"),
    *("docs", "nodes", "source_nodes", "passages", "chunks", "context_str"),
)
