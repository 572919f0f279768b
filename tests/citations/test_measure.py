"""Citations measured on traces: what supports what, which citations are misattributed, and real pipelines that cite."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover import Models, NotApplicable, Passage, Question, RetrievalStep, Trace, evaluate
from rag_cover.citations import CitationsMeasure, CitationsResult, judge_citations
from rag_cover.errors import InvalidValueError
from rag_cover.testing import KeywordScorer

SKY, GRASS, WATER = "The sky looks blue today.", "Grass is mostly green here.", "Water boils at sea level."


class Nested:
    """A text entails a sentence that it holds; sentences that "join" two facts need both."""

    fingerprint = "nested"

    def __init__(self) -> None:
        self.calls = 0

    def entail(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
        self.calls += 1
        return np.array([(0.9, 0.1, 0.0) if _follows(*pair) else (0.1, 0.9, 0.0) for pair in pairs], dtype=np.float32)


def _follows(premise: str, hypothesis: str) -> bool:
    return all(part.strip(" .").casefold() in premise.casefold() for part in hypothesis.split(" plus "))


def passages(*texts: str) -> tuple[Passage, ...]:
    return tuple(Passage(f"{text} That is so.", id=f"p{number}") for number, text in enumerate(texts, 1))


def trace(answer: str | None, *, prompt: tuple[Passage, ...] = passages(SKY, GRASS, WATER), **more: Any) -> Trace:
    return Trace(question=Question("What is known?"), answer=answer, prompt=prompt, **more)


def measured(*traces: Trace, measure: CitationsMeasure | None = None) -> list[CitationsResult]:
    models = Models(judge=KeywordScorer(), entailer=Nested())
    found = evaluate(traces, measures=[measure or CitationsMeasure()], models=models, on_error="raise").results
    return [result["citations"] for result in found]


def findings(result: CitationsResult) -> list[list[str]]:
    return [[citation.finding for citation in each.citations] for each in result.statements]


def test_each_citation_is_told_what_it_is_to_its_statement() -> None:
    joined = f"{SKY[:-1]} plus {GRASS[:-1].lower()}"
    answer = f"{SKY[:-1]} [1]. {joined} [1][2]. {GRASS[:-1]} [3]. {WATER[:-1]} [3][1]. Snow melts in May [2]. It is cold [9]."

    (result,) = measured(trace(answer))

    assert findings(result) == [
        ["supports"],
        ["needed", "needed"],
        ["misattributed"],
        ["supports", "misattributed"],
        ["unsupported"],
        ["missing"],
    ]
    assert result.values == {
        "citation_recall": pytest.approx(3 / 6),
        "citation_precision": pytest.approx(4 / 7),
        "misattributed_citations": pytest.approx(2 / 8),
    }


def test_misattributed_citations_are_listed_with_what_would_be_right() -> None:
    (result,) = measured(trace(f"{GRASS[:-1]} [3]."))

    ((statement, citation),) = result.misattributed
    assert (statement.text, citation.label) == (GRASS, "[3]")
    assert [result.passage_keys[place] for place in citation.passages] == ["id:p3"]
    assert [result.passage_keys[place] for place in citation.supporting] == ["id:p2"]
    assert f"“{GRASS}” cites [3], which does not support it; passage 2 does" in result.reason


def test_a_retrieved_passage_that_the_prompt_lost_would_have_been_right() -> None:
    step = RetrievalStep(passages=passages(SKY, GRASS))

    (result,) = measured(trace(f"{GRASS[:-1]} [1].", prompt=passages(SKY), steps=(step,)))

    assert findings(result) == [["misattributed"]]
    assert "retrieved passage 2, not in the prompt, does" in result.reason


def test_a_citation_that_others_do_without_is_irrelevant() -> None:
    parts = passages(SKY, GRASS, "Nothing at all.")
    joined = f"{SKY[:-1]} plus {GRASS[:-1].lower()}"

    (result,) = measured(trace(f"{joined} [1][2][3].", prompt=parts))

    assert findings(result) == [["needed", "needed", "irrelevant"]]
    assert result.values["citation_precision"] == pytest.approx(2 / 3)


def test_only_the_first_citations_count_where_so_many_are_asked_for() -> None:
    answer = f"{SKY[:-1]} [2][3][1]."

    every, two = (measured(trace(answer), measure=CitationsMeasure(most_citations=most))[0] for most in (None, 2))

    assert (every.values["citation_recall"], two.values["citation_recall"]) == (1.0, 0.0)
    assert [len(each.statements[0].citations) for each in (every, two)] == [3, 2]


def test_an_answer_without_citations_has_recall_0_and_no_precision() -> None:
    (result,) = measured(trace(SKY))

    assert result.values == {"citation_recall": 0.0, "citation_precision": None, "misattributed_citations": None}


def test_an_answer_without_statements_has_neither() -> None:
    (result,) = measured(trace("What do you mean? [1]"))

    assert set(result.values.values()) == {None}


def test_a_list_for_the_whole_answer_need_not_support_each_statement() -> None:
    (result,) = measured(trace(f"{SKY} {GRASS}", metadata={"citations": [1, 2, 3]}))

    assert result.values == {
        "citation_recall": 1.0,
        "citation_precision": pytest.approx(2 / 3),
        "misattributed_citations": None,
    }
    assert result.listed


def test_all_traces_are_asked_about_in_one_call() -> None:
    entailer = Nested()

    judge_citations([trace(f"{SKY[:-1]} [1][2]."), trace(f"{GRASS[:-1]} [3].")], entailer)

    assert entailer.calls == 1


def test_results_survive_json() -> None:
    (result,) = measured(trace(f"{SKY[:-1]} [1]. {GRASS[:-1]} [3]."))

    assert CitationsResult.from_dict(json.loads(json.dumps(result.to_dict()))) == result


def test_redacted_results_quote_nothing() -> None:
    models = Models(judge=KeywordScorer(), entailer=Nested())

    (result,) = evaluate([trace(f"{GRASS[:-1]} [3].")], measures=["citations"], models=models, redact=True).results

    assert "green" not in json.dumps(result.to_dict()) + result["citations"].reason
    assert result["citations"].values["citation_recall"] == 0.0


def test_what_it_needs_is_said() -> None:
    models = Models(judge=KeywordScorer(), entailer=Nested())
    lacking = [Trace(question="Why?"), Trace(question="Why?", answer=SKY)]
    unknown = Trace(question="Why?", answer=SKY, steps=(RetrievalStep(passages=passages(SKY)),), calls=())

    found = evaluate([*lacking, unknown], measures=["citations"], models=models).results

    assert [result.outcomes["citations"] for result in found] == [
        NotApplicable("citations needs an answer and a prompt or retrieval steps"),
        NotApplicable("citations needs a prompt or retrieval steps"),
        NotApplicable("what the answer was written from is not known"),
    ]


@pytest.mark.parametrize("wrong", [{"threshold": 2.0}, {"most_citations": 0}, {"first_number": 2}])
def test_parameters_that_mean_nothing_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError):
        CitationsMeasure(**wrong)


@pytest.mark.parametrize(
    "answer",
    [
        f"**Colours.** {SKY[:-1]} [1]. **Heat.** {WATER[:-1]} [3].",
        f"**Colours**\n{SKY[:-1]} [1].\n\n**Heat**\n{WATER[:-1]} [3].",
        f"1. Colours. {SKY[:-1]} [1].\n2. Heat. {WATER[:-1]} [3].",
        f"| What | Source |\n|---|---|\n| {SKY[:-1]} | [1] |\n| {WATER[:-1]} | [3] |",
    ],
)
def test_a_statement_that_a_heading_leads_into_keeps_its_citations(answer: str) -> None:
    (result,) = measured(trace(answer))

    assert [[citation.label for citation in each.citations] for each in result.statements] == [["[1]"], ["[3]"]]
