"""Servers load an application, fork workers and answer in them: each adapter records it, measured by processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rag_cover.evaluation import Evaluation

PREFORK = """
import os, sys, warnings
warnings.simplefilter("ignore")  # a process with threads that forks is warned; that is what happens here
from rag_cover.testing import KeywordEntailer

options = dict(store="results.sqlite", measures=["groundedness"], entailer=KeywordEntailer(), measuring="process")
if sys.argv[1] == "langchain":
    from langchain_core.runnables import RunnableLambda
    from rag_cover_langchain import RagCoverCallbackHandler

    recording = RagCoverCallbackHandler(**options)
    chain = RunnableLambda(lambda question: "Air scatters blue light.")
    ask = lambda question: chain.invoke(question, {"callbacks": [recording]})
else:
    from llama_index.core.llms import MockLLM
    from llama_index.core.query_engine import RetrieverQueryEngine
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode
    from rag_cover_llama_index import attach

    class Fixed(BaseRetriever):
        def _retrieve(self, query):
            return [NodeWithScore(node=TextNode(text="Air scatters blue light."), score=1.0)]

    engine = RetrieverQueryEngine.from_args(Fixed(), llm=MockLLM(max_tokens=4))
    recording, ask = attach(**options), engine.query

ask("before")
workers = []
for number in range(2):
    if not (pid := os.fork()):
        code = 1
        try:
            ask(f"worker {number}")
            recording.close()
            code = int(recording.counts.measured != 1)
        finally:
            os._exit(code)
    workers.append(pid)
codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in workers]
recording.close()
print(codes, recording.counts.measured)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
@pytest.mark.slow
@pytest.mark.parametrize(("framework", "package"), [("langchain", "langchain_core"), ("llama-index", "llama_index.core")])
def test_workers_that_a_server_forks_off_are_measured_by_processes_of_their_own(
    framework: str, package: str, tmp_path: Path
) -> None:
    pytest.importorskip(package)
    begun = [sys.executable, "-c", PREFORK, framework]

    done = subprocess.run(begun, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)

    assert (done.returncode, done.stdout) == (0, "[0, 0] 1\n"), done.stderr
    asked = [result.trace.question.text for result in Evaluation.open(tmp_path / "results.sqlite").results]
    assert sorted(asked) == ["before", "worker 0", "worker 1"]
