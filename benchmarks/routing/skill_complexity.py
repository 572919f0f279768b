"""Does retrieval complexity add to what skills foretell? NQ-open, fifteen systems.

    python -m benchmarks.routing.skill_complexity --kept complexities.npy

No corpus of Wikipedia is at hand, so that each question is probed, without references, over a stand-in: the paragraphs of QED,
which hold the answers of some of the questions, and those of SQuAD 2.0's development articles, which hold few. A question
whose own paragraph is there is told apart from the others by that alone, which says nothing of the systems; what counts is
the gain on questions *without a paragraph of their own*.

Skills are fitted on train buckets; the adjustment by complexity (`rag_cover.routing.fit_adjustment`) on cross-fitted
predictions for the same questions; both are scored on test buckets. *Recalibrated* is an adjustment without evidence, so that
what the evidence adds is seen. Gains are bootstraps over questions.

Data: shared folder.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.routing.skills import Sheet, sheet_of
from benchmarks.support.datasets import lines
from benchmarks.support.multihop import retriever_over
from benchmarks.support.skill_scores import scores_of
from benchmarks.support.tables import arguments, show
from rag_cover import Passage, open_scorer
from rag_cover.backends import Failure
from rag_cover.complexity import complexities_of
from rag_cover.question_keys import normalise_question
from rag_cover.routing import Caimira, Responses, complexity_evidence, fit_adjustment
from rag_cover.routing.irt import probabilities
from rag_cover.stats.folds import folds_of
from rag_cover.stats.logistic import logits_of

Floats = NDArray[np.float64]

K = 10
BLOCK = 64  # questions judged together


def corpus_of(data: Path) -> tuple[list[Passage], set[str]]:
    """Read the paragraphs, and the questions that have one of their own, normalised."""
    rows = list(lines(data / "reading/qed_dev.jsonl"))
    found = {row["paragraph_text"]: row["title_text"] for row in rows}
    articles = json.loads((data / "reading/squad2_dev_part.json").read_text(encoding="utf-8"))
    for article in articles["data"] if isinstance(articles, dict) else articles:
        found |= {paragraph["context"]: article["title"].replace("_", " ") for paragraph in article["paragraphs"]}
    return [Passage(text, title=title) for text, title in found.items()], {
        normalise_question(row["question_text"]) for row in rows
    }


def probed(questions: Sequence[str], corpus: Sequence[Passage], judge: str, kept: Path | None) -> Floats:
    """Return (n, 2) evidence of each question, from the file where it is."""
    if kept is not None and kept.exists():
        return np.asarray(np.load(kept, allow_pickle=False), dtype=np.float64)
    retriever, scorer, found = retriever_over("BM25", corpus), open_scorer(judge), []
    for start in range(0, len(questions), BLOCK):
        asked = [(question, tuple(retriever.retrieve(question, k=K)), ()) for question in questions[start : start + BLOCK]]
        found += [None if isinstance(each, Failure) else each for each in complexities_of(asked, scorer)]
    evidence = complexity_evidence(found)
    if kept is not None:
        np.save(kept, evidence, allow_pickle=False)
    return evidence


def cross_fitted(sheet: Sheet, dimensions: int) -> Floats:
    """Return (n, a) logits: of train questions by models that did not see them, of test questions by one of all train ones."""
    found = np.zeros_like(sheet.responses.values)
    places = np.flatnonzero(sheet.train)
    found[~sheet.train] = _logits(sheet, sheet.train, ~sheet.train, dimensions)
    for held in folds_of(range(len(places))):
        known, asked = np.zeros_like(sheet.train), np.zeros_like(sheet.train)
        known[places[~held]], asked[places[held]] = True, True
        found[asked] = _logits(sheet, known, asked, dimensions)
    return found


def _logits(sheet: Sheet, known: NDArray[np.bool_], asked: NDArray[np.bool_], dimensions: int) -> Floats:
    responses = sheet.responses.of_questions(known)
    model = Caimira(dimensions).fit(Responses(responses.agents, responses.questions, responses.values), sheet.features[known])
    return logits_of(model.predict(sheet.features[asked]), edge=1e-6)


def rows_of(sheet: Sheet, logits: Floats, evidence: Floats, kept: NDArray[np.bool_]) -> list[list[str]]:
    """Score the test questions among those kept: skills, recalibrated, and with complexity."""
    train, test, agents = sheet.train & kept, ~sheet.train & kept, sheet.responses.agents
    values = sheet.responses.values
    nothing = np.zeros_like(evidence)
    predicted = {"skills": probabilities(logits[test])}
    for name, table in (("recalibrated", nothing), ("with retrieval complexity", evidence)):
        fit = fit_adjustment(logits[train], values[train], table[train], agents)
        predicted[name] = probabilities(fit.adjustment.adjust(logits[test], table[test]))
    scored = {name: scores_of(said, values[test]) for name, said in predicted.items()}
    return [[name, *each.row, *each.less(scored["recalibrated"])] for name, each in scored.items()]


def main() -> None:
    """Print a table for all questions, and one for those without a paragraph of their own."""
    parser = arguments(__doc__)
    parser.add_argument("--kept", type=Path, help="a file to keep the complexities in, and to read them back from")
    parser.add_argument("--dimensions", type=int, default=5, help="(default: 5)")
    options = parser.parse_args()
    sheet = sheet_of(options.data, options.judge, options.limit)
    corpus, owners = corpus_of(options.data)
    evidence = probed(sheet.responses.questions, corpus, options.judge, options.kept)
    logits = cross_fitted(sheet, options.dimensions)
    own = np.array([normalise_question(question) in owners for question in sheet.responses.questions])
    header = ["predictions", "accuracy", "AUC", "log-loss", "Brier", "AUC less recalibrated", "log-loss less recalibrated"]
    for name, kept in (("all questions", np.ones_like(own)), ("without a paragraph of their own", ~own)):
        n = int((kept & ~sheet.train).sum())
        show(f"{name}: {n} test questions, {len(corpus)} paragraphs", header, rows_of(sheet, logits, evidence, kept))


if __name__ == "__main__":
    main()
