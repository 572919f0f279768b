"""How many files of the package a reader passes on the way of one thing: those whose functions run.

    python -m benchmarks.architecture.files_walked --files        # which files, too

Two walks: a LangChain event to a stored result (one retrieval and one answer, recorded and measured into a store), and a line
of a JSONL file to a stored result (`evaluate` into a store). Functions are seen by `sys.setprofile` in every thread; what runs
at import does not count, and neither do the files of the embedded models, which are another package. Sub-questions are given
with their roles, so that decomposition by rules does not count.

Data: none.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType

from rag_cover.questions import Role, SubQuestion

QUESTION = "Why is the sky blue?"
SUB_QUESTIONS = (SubQuestion("What scatters blue light?", role=Role.CORE),)
_PACKAGES = ("rag_cover", "rag_cover_langchain")


def main() -> None:
    """Print how many files each walk passes, and with ``--files`` which."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true", help="name the files, too")
    shown = parser.parse_args().files
    walks = {"a LangChain event to a stored result": event_to_store, "a JSONL line to a stored result": line_to_store}
    for name, walk in walks.items():
        with tempfile.TemporaryDirectory() as folder:
            files = walk(Path(folder) / "results.sqlite")
        print(f"{name}: {len(files)} files")
        if shown:
            print("\n".join(f"  {file}" for file in sorted(files)))


def event_to_store(store: Path) -> set[str]:
    """Record two calls of a small chain, measured into a store; watch the second one until its result is stored."""
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnableLambda

    from rag_cover_langchain import attach

    class Sky(BaseRetriever):
        def _get_relevant_documents(self, query: str, **_: object) -> list[Document]:  # noqa: ARG002  # LangChain passes it by name
            return [Document("Rayleigh scattering makes the sky blue.", id="sky")]

    chain = Sky() | RunnableLambda(lambda documents: f"Because of scattering: {documents[0].page_content}")
    watch = _Watch()
    with watch, attach(measures=["coverage"], store=store) as recording, recording.question(sub_questions=SUB_QUESTIONS):
        chain.invoke(QUESTION)
        recording.flush()
        watch.on = True
        chain.invoke(QUESTION)
        recording.flush()
        watch.on = False
    return watch.files


def line_to_store(store: Path) -> set[str]:
    """Evaluate a file of one trace into a store, twice; watch the second one."""
    from rag_cover import Passage, RetrievalStep, Trace, evaluate, write_traces

    passage = Passage(id="sky", text="Rayleigh scattering makes the sky blue.")
    step = RetrievalStep(id="s", kind="retrieve", query=QUESTION, passages=(passage,))
    trace = Trace(question=QUESTION, steps=(step,), answer="Scattering.", sub_questions=SUB_QUESTIONS)
    file = store.with_suffix(".jsonl")
    write_traces(file, [trace])
    evaluate(file, measures=["coverage"], store=store)
    watch = _Watch()
    with watch:
        watch.on = True
        evaluate(file, measures=["coverage"], store=store.with_stem("second"))
    return watch.files


class _Watch:
    """Notes the package's files whose functions are called while it is ``on``, in this thread and those that start in it."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.on = False

    def __enter__(self) -> None:
        threading.setprofile(self._see)
        sys.setprofile(self._see)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]

    def _see(self, frame: FrameType, event: str, _: object) -> None:
        if self.on and event == "call" and frame.f_code.co_name != "<module>":
            path = Path(frame.f_code.co_filename)
            if path.parts[-1] != "<string>" and any(part in _PACKAGES for part in path.parts):
                self.files.add("/".join(path.parts[_start(path) :]))


def _start(path: Path) -> int:
    return next(place for place, part in enumerate(path.parts) if part in _PACKAGES)


if __name__ == "__main__":
    main()
