"""Record a LangChain agent over your files. Needs rag-cover[langchain], langchain, langchain-openai and OPENAI_API_KEY."""

import logging
import sys
from pathlib import Path

from langchain.agents import create_agent
from langchain_core.documents import Document
from langchain_core.tools import create_retriever_tool
from langchain_openai import ChatOpenAI

from rag_cover_langchain import RagCoverCallbackHandler, RagCoverRetriever


def main(folder: str) -> None:
    """Talk about the text files of a folder; what every answer left out is logged as it becomes known, and shown at the end."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    logging.getLogger("rag_cover.recording").setLevel(logging.INFO)
    model = ChatOpenAI(model="gpt-4.1-mini")
    paragraphs = [
        Document(page_content=paragraph, metadata={"title": path.name})
        for path in sorted(Path(folder).glob("*.txt"))
        for paragraph in path.read_text(encoding="utf-8").split("\n\n")
        if paragraph.strip()
    ]
    search = create_retriever_tool(RagCoverRetriever.from_documents(paragraphs, k=5), "search", "Searches the files.")
    agent = create_agent(model, [search])
    with RagCoverCallbackHandler(generator=model, traces="traces.jsonl", store="results.sqlite") as handler:
        while question := input("\nYou: ").strip():
            said = agent.invoke({"messages": [("user", question)]}, config={"callbacks": [handler]})
            print(said["messages"][-1].text)
    handler.evaluation.to_html("report.html")
    print(f"\n{handler.counts.measured} answers measured: report.html; traces.jsonl holds what was recorded.")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else ".")
