"""Nuggets made and assigned over the wire, by a server that keeps a list as it is told to."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from rag_cover.coverage.nugget_assignments import assignments_of
from rag_cover.coverage.nugget_scores import NuggetScores
from rag_cover.decomposition.nuggetizer import Nuggetizer
from rag_cover.evaluation import evaluate
from rag_cover.llm.cache import cache_for
from rag_cover.llm.session import LLMSession
from rag_cover.nuggets import Importance, Nugget, NuggetSource
from rag_cover.questions import Passage, Question, Role
from rag_cover.registry import Models, open_generator, open_scorer
from rag_cover.traces import RetrievalStep, Trace

SKY = Question("Why is the sky blue?", id="q1")
FACTS = [f"Fact {number} holds" for number in range(1, 24)]
PASSAGES = tuple(Passage(f"{fact}.", id=f"p{number}") for number, fact in enumerate(FACTS, 1))
VITAL = 3  # the first facts are vital


def fenced(body: dict[str, Any], tag: str) -> list[str]:
    return re.findall(rf"<{tag}(?: number=\"\d+\")?>\n(.*?)\n</{tag}>", body["messages"][-1]["content"], re.DOTALL)


def keeper(body: dict[str, Any]) -> str:
    """Add a nugget for each passage, weigh by number, assign by words: all the words of a nugget, some, or none."""
    nuggets, (system,) = fenced(body, "nugget"), [each["content"] for each in body["messages"] if each["role"] == "system"]
    if "passage" in system and "keep a list" in system:
        added = [{"text": text.rstrip("."), "passages": [number]} for number, text in enumerate(fenced(body, "passage"), 1)]
        return json.dumps({"nuggets": [*({"text": text, "passages": []} for text in nuggets), *added]})
    if "how important" in system:
        labels = ["vital" if int(text.split()[1]) <= VITAL else "okay" for text in nuggets]
        return json.dumps({"importance": [{"number": n, "importance": label} for n, label in enumerate(labels, 1)]})
    (text,) = fenced(body, "text")
    return json.dumps({"assignments": [assignment(number, nugget, text) for number, nugget in enumerate(nuggets, 1)]})


def assignment(number: int, nugget: str, text: str) -> dict[str, Any]:
    words = nugget.split()
    share = sum(word in text.split() for word in words) / len(words)
    label = "support" if share == 1 else "partial_support" if share else "not_support"
    return {"number": number, "assignment": label, "fragment": next((word for word in words if word in text.split()), None)}


def nuggetizer(options: dict[str, Any], run: LLMSession | None = None, **settings: Any) -> Nuggetizer:
    made = Nuggetizer(open_generator("openai:small", **options), **settings)
    return made if run is None else made.for_run(run)


def test_passages_come_in_windows_and_the_list_grows_with_each(server: Any, options: dict[str, Any]) -> None:
    server.reply = keeper

    (made,) = nuggetizer(options).make([(SKY, PASSAGES)])

    creating = [body for body in server.requests if fenced(body, "passage")]
    weighing = [body for body in server.requests if not fenced(body, "passage")]
    assert [(len(fenced(body, "passage")), len(fenced(body, "nugget"))) for body in creating] == [(10, 0), (10, 10), (3, 20)]
    assert sorted(len(fenced(body, "nugget")) for body in weighing) == [3, 10, 10]  # asked at once, in any order
    assert isinstance(made, tuple)
    assert [each.text for each in made] == FACTS
    assert [each.importance for each in made] == [Importance.VITAL] * VITAL + [Importance.OKAY] * 20
    assert {each.importance_source for each in made} == {"model:openai:small"}
    assert made[12].sources == (NuggetSource(kind="passage", id="p13"),)


def test_the_list_never_exceeds_its_most_and_the_vital_are_kept(server: Any, options: dict[str, Any]) -> None:
    server.reply = keeper

    (made,) = nuggetizer(options, max_nuggets=12, keep=4).make([(SKY, PASSAGES[::-1])])

    assert isinstance(made, tuple)
    assert len(made) == 4
    assert all(len(fenced(body, "nugget")) <= 12 for body in server.requests)


def test_what_was_made_is_not_paid_for_again(server: Any, options: dict[str, Any], tmp_path: Path) -> None:
    server.reply = keeper
    cache = cache_for(tmp_path / "calls.sqlite", None)
    first = nuggetizer(options, LLMSession(cache)).make([(SKY, PASSAGES)])
    asked = len(server.requests)

    again = nuggetizer(options, LLMSession(cache)).make([(SKY, PASSAGES)])

    assert (again, len(server.requests)) == (first, asked)


def test_an_interrupted_making_goes_on_where_it_was(server: Any, options: dict[str, Any], tmp_path: Path, fault: Any) -> None:
    server.reply, cache = keeper, cache_for(tmp_path / "calls.sqlite", None)
    server.fault_of = lambda body: fault(status=400) if len(fenced(body, "nugget")) == 20 else None  # the third window
    (failed,) = nuggetizer(options, LLMSession(cache)).make([(SKY, PASSAGES)])
    server.fault_of, asked = lambda _: None, len(server.requests)

    (made,) = nuggetizer(options, LLMSession(cache)).make([(SKY, PASSAGES)])

    assert not isinstance(failed, tuple)
    assert failed.message.startswith("its nuggets could not be made: ")
    assert isinstance(made, tuple)
    assert len(server.requests) - asked == 1 + 3  # the window that failed, and the weighing


def test_one_question_that_fails_costs_no_other_its_nuggets(server: Any, options: dict[str, Any]) -> None:
    server.reply = lambda body: "I would rather not." if "grass" in str(body["messages"]) else keeper(body)

    made, failed = nuggetizer(options).make([(SKY, PASSAGES[:2]), (Question("Why is grass green?"), PASSAGES[:2])])

    assert isinstance(made, tuple)
    assert not isinstance(failed, tuple)
    assert failed.kind == "malformed"
    assert "I would rather not." in (failed.raw or "")


def test_a_model_as_judge_tells_partial_support_in_answers_and_passages(server: Any, options: dict[str, Any]) -> None:
    server.reply = keeper
    nuggets = tuple(Nugget(text, importance=weight) for text, weight in zip(FACTS, ("vital", "vital", "okay"), strict=False))
    step = RetrievalStep(query="sky", passages=(Passage("Fact 1 holds"), Passage("Nothing of that")))
    trace = Trace(question=SKY, steps=(step,), answer="Fact 1 holds", nuggets=nuggets, pipeline="run-1")

    evaluation = evaluate([trace], measures=["coverage"], models=Models(judge=open_scorer("openai:small", **options)))

    (result,) = evaluation.results
    assert result.coverage is not None
    rows = result.coverage.sub_questions
    assert [(row.role, row.answer and row.answer.covered, row.answer and row.answer.partial) for row in rows] == [
        (Role.CORE, True, False),
        (Role.CORE, False, True),
        (Role.BACKGROUND, False, True),
    ]
    assert [[(chunk.covered, chunk.partial) for chunk in row.chunks or ()] for row in rows][1] == [
        (False, True),
        (False, False),
    ]
    assert rows[0].answer is not None
    assert rows[0].answer.fragment is not None
    assert result.coverage.nugget_scores == NuggetScores(2 / 3, 1 / 3, 0.75, 0.5, 0.7, 0.4)
    exported = assignments_of(trace, result.coverage)
    assert exported is not None
    assert exported.to_dict() == {
        "query": SKY.text,
        "qid": "q1",
        "run_id": "run-1",
        "answer_text": "Fact 1 holds",
        "response_length": 3,
        "nuggets": [
            {"text": FACTS[0], "importance": "vital", "assignment": "support"},
            {"text": FACTS[1], "importance": "vital", "assignment": "partial_support"},
            {"text": FACTS[2], "importance": "okay", "assignment": "partial_support"},
        ],
    }


def test_at_most_ten_nuggets_are_assigned_in_one_call(server: Any, options: dict[str, Any]) -> None:
    server.reply = keeper
    trace = Trace(question=SKY, answer="Fact 1 holds", nuggets=tuple(map(Nugget, FACTS)))

    evaluate([trace], measures=["coverage"], models=Models(judge=open_scorer("openai:small", **options)))

    assert sorted(len(fenced(body, "nugget")) for body in server.requests if fenced(body, "nugget")) == [3, 10, 10]


def test_an_invented_quotation_is_asked_about_once_more_and_never_shown(server: Any, options: dict[str, Any]) -> None:
    server.reply = lambda _: '{"assignments": [{"number": 1, "assignment": "support", "fragment": "made up"}]}'
    trace = Trace(question=SKY, answer="Fact 1 holds", nuggets=(Nugget(FACTS[0]),))

    (result,) = evaluate([trace], measures=["coverage"], models=Models(judge=open_scorer("openai:small", **options))).results

    assert result.coverage is not None
    (row,) = result.coverage.sub_questions
    assert row.answer is not None
    assert (row.answer.covered, row.answer.fragment) == (True, None)
    assert "a fragment did not stand in the text" in str(server.requests[-1]["messages"])


def test_labels_that_cannot_be_read_are_a_failure_and_no_score(server: Any, options: dict[str, Any]) -> None:
    server.reply = lambda _: '{"assignments": [{"number": 1, "assignment": "perhaps"}]}'
    trace = Trace(question=SKY, answer="Fact 1 holds", nuggets=(Nugget(FACTS[0]),))

    (result,) = evaluate([trace], measures=["coverage"], models=Models(judge=open_scorer("openai:small", **options))).results

    assert result.failures["coverage"].kind == "malformed"
