"""Which questions do rules make of documents, how long does it take, and how many does a person keep?

    python -m benchmarks.test_sets.questions --documents FOLDER

Makes ``--n`` questions of a folder of documents, as ``rag-cover questions`` does, and lists them with their answers, so that a
person can mark those that are usable without an edit. Printed are how many there are of each kind, what was left out and why,
and the seconds it took. The pages of documentation that were read are those of Debian's package ``borgbackup-doc``.

Data: none; a folder of documents.
"""

from __future__ import annotations

import time
from pathlib import Path

from benchmarks.support.tables import arguments, show
from rag_cover.registry import build_retriever, open_embedder, open_scorer
from rag_cover.testsets import TestsetMaker, candidates_by_rules, load_documents


def main() -> None:
    """Print the questions and the tables."""
    parser = arguments(__doc__)
    parser.add_argument("--documents", type=Path, required=True, help="a folder of documents")
    parser.add_argument("--n", type=int, default=50, help="how many questions")
    given = parser.parse_args()
    began = time.perf_counter()
    passages = load_documents(given.documents)
    maker = TestsetMaker(passages, build_retriever("embedded", passages), open_scorer(given.judge), open_embedder("embedded"))
    made = maker.make(candidates_by_rules(passages, seed=given.seed), given.n, seed=given.seed)
    seconds = time.perf_counter() - began
    show("Questions", ["kind", "question", "answer"], [[each.kind, each.text, each.reference or ""] for each in made.questions])
    kinds = ("single", "multi", "unanswerable")
    rows = [[kind, str(sum(each.kind == kind for each in made.questions))] for kind in kinds]
    show(f"{len(passages):,} passages, {seconds:.0f} s", ["kind", "questions"], rows)
    show("Left out", ["because", "candidates"], [[reason, str(count)] for reason, count in sorted(made.rejected.items())])


if __name__ == "__main__":
    main()
