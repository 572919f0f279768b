"""What retrieval steps were worth to a receiver behind a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rag_cover import Models, Passage, Question, RetrievalStep, Trace, evaluate
from rag_cover.backends import Failure
from rag_cover.registry import open_receiver
from rag_cover.testing import ScriptedEntailer

MODEL = "openai:small"
ASKED = "How long is the Moselle?"
RIGHT = ScriptedEntailer({(f"{ASKED} 545 km", f"{ASKED} 545 km"): 1.0})


def trace(number: int = 1) -> Trace:
    found, kept = Passage("The Moselle is 545 km long."), Passage(f"The Moselle is a river ({number}).")
    return Trace(
        question=Question(ASKED, references=("545 km",)),
        steps=(
            RetrievalStep(id="search", query="Moselle", passages=(found, kept)),
            RetrievalStep(id="rerank", kind="rerank", input_ids=("search",), passages=(kept,)),
        ),
    )


def told(body: dict[str, Any]) -> str:
    return "545 km" if "545" in str(body["messages"]) else "No idea"


@pytest.mark.parametrize(("gives_logprobs", "preset"), [(True, "official"), (False, "unbiased")])
def test_steps_are_worth_what_they_make_the_model_say(
    server: Any, options: dict[str, Any], preset: str, *, gives_logprobs: bool
) -> None:
    server.reply, server.gives_logprobs = told, gives_logprobs
    models = Models(receiver=open_receiver(MODEL, **options), entailer=RIGHT)

    (result,) = evaluate([trace()], measures=["utility"], models=models).results

    assert result.utility is not None
    assert (result.utility.preset, result.utility.prior.n) == (preset, 10)
    assert [step.marginal.value for step in result.utility.steps] == [1.0, -1.0]
    assert result.utility.total.value == 0.0


def test_a_server_that_fails_on_one_trace_costs_no_other_its_utility_and_a_resumed_run_asks_again(
    server: Any, options: dict[str, Any], fault: Any, tmp_path: Path
) -> None:
    server.reply = told
    server.fault_of = lambda body: fault(status=404) if "(2)" in str(body["messages"]) else None
    models = Models(receiver=open_receiver(MODEL, **options), entailer=RIGHT)
    traces = [trace(number) for number in range(4)]

    first = evaluate(traces, measures=["utility"], models=models, store=tmp_path / "utility.sqlite").results
    failed = [isinstance(result.outcomes["utility"], Failure) for result in first]
    server.fault_of = lambda _: None
    again = evaluate(traces, measures=["utility"], models=models, store=tmp_path / "utility.sqlite", resume=True).results

    assert failed == [False, False, True, False]
    assert all(result.utility for result in again)
    prompts = [str(body["messages"]) for body in server.answered]
    assert len(prompts) == len(set(prompts))
