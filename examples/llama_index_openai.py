"""Record a LlamaIndex chat engine on your own files. Needs rag-cover[llama-index], llama-index-llms-openai, OPENAI_API_KEY."""

import sys

from llama_index.core import SimpleDirectoryReader, VectorStoreIndex
from llama_index.llms.openai import OpenAI

from rag_cover_llama_index import RagCoverEmbedding, attach


def main(folder: str) -> None:
    """Chat about the files of a folder; what every answer left out is logged as it becomes known, and shown at the end."""
    import logging

    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    logging.getLogger("rag_cover.recording").setLevel(logging.INFO)
    llm = OpenAI(model="gpt-4.1-mini")
    index = VectorStoreIndex.from_documents(SimpleDirectoryReader(folder).load_data(), embed_model=RagCoverEmbedding())
    engine = index.as_chat_engine(chat_mode="condense_plus_context", llm=llm)
    with attach(generator=llm, traces="traces.jsonl", store="results.sqlite") as recording:
        while question := input("\nYou: ").strip():
            for token in engine.stream_chat(question).response_gen:
                print(token, end="", flush=True)
    recording.evaluation.to_html("report.html")
    print(f"\n{recording.counts.measured} answers measured: report.html; traces.jsonl holds what was recorded.")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
