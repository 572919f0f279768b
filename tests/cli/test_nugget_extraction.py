"""``rag-cover nuggets extract``: nuggets without a language model, and what coverage makes of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag_cover import Models, Nugget, Passage, Question, Trace, evaluate
from rag_cover.coverage.result import Loss
from rag_cover.nuggets import NuggetSource
from rag_cover.stores import read_traces
from rag_cover.testing import KeywordEntailer, KeywordScorer
from rag_cover.traces import RetrievalStep

HEAT = "How does a heat pump heat a house?"
PUMP = "A heat pump moves heat from the outside air into the house."
COST = "A heat pump for a house costs about 12,000 euros."


def line(pipeline: str, answer: str, *passages: str) -> dict[str, Any]:
    found = [{"id": f"p{number}", "text": text} for number, text in enumerate(passages)]
    return {"question": HEAT, "pipeline": pipeline, "answer": answer, "steps": [{"query": HEAT, "passages": found}]}


def test_nuggets_are_made_of_the_other_pipelines_answers_and_of_passages(
    make: Callable[..., Path], command: Callable[..., Any], folder: Path
) -> None:
    pytest.importorskip("rag_cover_embedded.judge")
    one = make(folder / "one.jsonl", [line("one", COST, PUMP)])
    two = make(folder / "two.jsonl", [line("two", "It is a box.", PUMP)])

    result = command("nuggets", "extract", str(one), str(two), "--out", "made.jsonl")

    assert result.exit_code == 0, result.stderr
    said = " ".join(f"{result.stdout} {result.stderr}".split())
    first, second = read_traces(folder / "made.jsonl")
    assert first.nuggets is None
    assert {nugget.text for nugget in second.nuggets or ()} == {PUMP, COST}
    assert "Nuggets of 1 of 2 traces made" in said
    assert "fewer than two other sources" in said


class _Judge(KeywordScorer):
    """Judges questions and statements by shared words."""

    def entail(self, pairs: Any) -> Any:
        return KeywordEntailer().entail(pairs)


def test_retrieval_is_not_judged_by_nuggets_of_the_passages_that_it_found() -> None:
    found = (Passage(PUMP, id="p1"), Passage(COST, id="p2"))
    nuggets = [
        Nugget(text, importance="vital", sources=[NuggetSource(kind="passage", id=name)])
        for text, name in ((PUMP, "p1"), (COST, "p2"))
    ]
    trace = Trace(
        question=Question(HEAT),
        steps=(RetrievalStep(passages=found),),
        prompt=found[:1],
        answer="No idea.",
        nuggets=tuple(nuggets),
    )

    (result,) = evaluate([trace], models=Models(judge=_Judge()), measures=["coverage"]).results

    assert result.coverage is not None
    assert result.coverage.from_own_passages
    assert [each.retrieved for each in result.coverage.sub_questions] == [None, None]
    assert [each.loss for each in result.coverage.sub_questions] == [Loss.UNUSED, None]
    assert json.loads(json.dumps(result.coverage.to_dict()))["from_own_passages"]
