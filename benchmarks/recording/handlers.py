"""Whether a handler for each request costs the process threads or memory.

    python -m benchmarks.recording.handlers --handlers 5000

A LangChain chain of scripted parts is asked one question for each handler, which is made for it and not closed, as in a web
server's request. Printed are threads and resident memory in MiB at the beginning, and after each tenth of the handlers.

Data: none.
"""

from __future__ import annotations

import argparse
import gc
import threading
from pathlib import Path

from benchmarks.support.tables import show
from rag_cover.testing import KeywordScorer

_MIB = 1024 * 1024
_PAGE = 4096


def resident_mib() -> float:
    """Return the resident memory of this process (Linux)."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * _PAGE / _MIB


def main() -> None:
    """Make the handlers, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--handlers", type=int, default=5000)
    parser.add_argument("--embedded", action="store_true", help="measure by the embedded judge, not by words")
    options = parser.parse_args()
    from langchain_core.documents import Document
    from langchain_core.language_models import FakeListChatModel
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough

    from rag_cover_langchain import RagCoverCallbackHandler

    found = RunnableLambda(lambda _: [Document("The sky is blue because air scatters blue light.")])
    prompt = ChatPromptTemplate.from_template("{context}\n{question}")
    chain = {"context": found, "question": RunnablePassthrough()} | prompt | FakeListChatModel(responses=["Air scatters it."])
    judge, rows = "embedded" if options.embedded else KeywordScorer(), []
    for number in range(options.handlers + 1):
        handler = RagCoverCallbackHandler(measures=["coverage"], judge=judge)
        chain.invoke("Why is the sky blue?", {"callbacks": [handler]})
        if number % max(1, options.handlers // 10) == 0:
            handler.flush()
            gc.collect()
            rows.append([f"{number:,}", str(threading.active_count()), f"{resident_mib():.0f}"])
    show("A handler for each request", ["handlers", "threads", "MiB"], rows)


if __name__ == "__main__":
    main()
