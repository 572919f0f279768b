"""Study two components of a retriever, k and a reranker, over the demo corpus. Needs nothing but rag_cover."""

import json
from collections.abc import Sequence
from itertools import product

import bm25s

from rag_cover import Models, Passage, Question, RetrievalStep, Trace, UtilityMeasure, evaluate, open_scorer
from rag_cover.backends import ScoringItem
from rag_cover.demo import corpus_path
from rag_cover.studies import Study, study_components

QUESTIONS = {
    "Which standard does a surveyor follow for the heat loss of every room?": "EN 12831",
    "Under which standard is the SCOP calculated?": "EN 14825",
    "What is the night noise limit in purely residential areas of Germany?": ("35 dB", "35 dB(A)"),
    "Which standard must a heat pump's noise calculation pass in England?": "MCS 020",
    "How many decibels does a wall behind the unit add?": ("3 dB", "up to 3 dB"),
    "At which temperature are legionella bacteria killed?": "60 °C",
    "How big is the hot-water cylinder of a family of four?": "200 to 300 litres",
    "At what pressure is a blower-door test done?": "50 Pa",
    "How much water does a family of four release into the air each day?": ("about ten litres", "ten litres"),
    "Through which contact can solar panels signal a surplus to a heat pump?": "SG Ready",
    "How often are the filters of ventilation with heat recovery changed?": "every six to twelve months",
    "How many working days does it take to replace a boiler by a heat pump?": ("three to seven", "three to seven working days"),
    "How much electricity does each degree less of flow temperature save?": ("2 to 2.5", "2 to 2.5 per cent"),
    "How much hotter must the heat pump run because of a buffer tank?": ("2 to 3 K", "about 2 to 3 K"),
}
CANDIDATES = 8  # that BM25 finds, and of which a reranker keeps k
SETTINGS = tuple(product((1, 3, 6), ("none", "judge")))


def main() -> None:
    """Print each setting with its utility and length, and what each component does, all else equal."""
    passages = [Passage.model_validate(json.loads(line)) for line in corpus_path().read_text(encoding="utf-8").splitlines()]
    traces = [
        _trace(Question(text, references=references), found, k, reranker)
        for (text, references), found in zip(QUESTIONS.items(), _found(passages), strict=True)
        for k, reranker in SETTINGS
    ]
    evaluation = evaluate(traces, measures=[UtilityMeasure()], models=Models(receiver="embedded"))
    study = study_components(evaluation.results, by=["k", "reranker"], baseline="k=1, reranker=none")
    _print(study)


def _found(passages: Sequence[Passage]) -> list[list[Passage]]:
    """Retrieve candidates for every question by BM25 over the titles alone, a weak retriever, best first."""
    titles = [passage.title or "" for passage in passages]
    retriever = bm25s.BM25()
    retriever.index(bm25s.tokenize(titles, stopwords="en", show_progress=False), show_progress=False)
    asked = bm25s.tokenize(list(QUESTIONS), stopwords="en", show_progress=False)
    numbers, _ = retriever.retrieve(asked, k=CANDIDATES, show_progress=False)
    return [[passages[number] for number in row] for row in numbers]


def _trace(question: Question, found: Sequence[Passage], k: int, reranker: str) -> Trace:
    """Record what a pipeline with this setting would do; only the first k of what is left reach its prompt."""
    steps = [RetrievalStep(id="bm25", query=question.text, passages=tuple(found if reranker == "judge" else found[:k]))]
    if reranker == "judge":
        kept = tuple(_reranked(question, found)[:k])
        steps.append(RetrievalStep(id="judge", kind="rerank", passages=kept, input_ids=("bm25",)))
    return Trace(question=question, steps=tuple(steps), metadata={"k": k, "reranker": reranker})


def _reranked(question: Question, found: Sequence[Passage]) -> list[Passage]:
    """Sort passages by the judge's probability that they answer."""
    scores = open_scorer("embedded").correctness([ScoringItem(question.text, passage.text) for passage in found])
    return [passage for _, passage in sorted(zip(-scores, found, strict=True), key=lambda pair: pair[0])]


def _print(study: Study) -> None:
    print(f"{study.questions} questions, baseline {study.baseline.name}\n")
    for figures in study.settings:
        mark, worth = "*" if figures.on_frontier else " ", figures.utility.estimate
        hurt = f"hurts {len(figures.hurt)}" if figures.against_baseline else "baseline"
        print(f"{mark} {figures.setting.name:22}{worth:+.2f}  {figures.length.estimate:5.0f} {study.unit}  {hurt}")
    print("\n* no other setting is worth as much with a prompt as short\n")
    for effect in study.effects:
        found, p_value = effect.difference.interval, effect.difference.adjusted_p_value
        print(f"{effect.component} {effect.reference} to {effect.level}: {found.estimate:+.2f} (p = {p_value:.3f} after Holm)")


if __name__ == "__main__":
    main()
