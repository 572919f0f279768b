"""Whole runs against a server that fails: nothing is lost, nothing is asked twice, nothing is made up, no key gets out."""

from __future__ import annotations

import json
import random
import re
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rag_cover.backends import Failure
from rag_cover.cli import app
from rag_cover.evaluation import Evaluation, Progress, evaluate
from rag_cover.questions import Passage, Question, Role, SubQuestion
from rag_cover.registry import Models, open_generator, open_scorer
from rag_cover.traces import RetrievalStep, Trace

MODEL = "openai:small"
JUDGED = ["coverage"]


def opened(**options: Any) -> Any:
    """Open the model, which tells more than a Generator must."""
    return open_generator(MODEL, **options)


def judging(body: dict[str, Any]) -> str:
    """Judge as a model does that reads its rules: what the text says in the words of the question is answered."""
    prompt = body["messages"][1]["content"]
    (text,) = re.findall(r"<text>\n(.*)\n</text>", prompt, re.DOTALL)
    questions = re.findall(r"<question number=\"(\d+)\">\n(.*?)\n</question>", prompt, re.DOTALL)
    return json.dumps({"verdicts": [verdict(int(number), question, text) for number, question in questions]})


def verdict(number: int, question: str, text: str) -> dict[str, Any]:
    wanted = question.rstrip("?").split()[-1]
    found = wanted in text
    return {"question": number, "answered": found, "probability": 0.9 if found else 0.1, "fragment": wanted if found else None}


def trace(number: int, said: str = "blue") -> Trace:
    return Trace(
        question=Question(f"What colour is sky {number}?"),
        steps=(RetrievalStep(query="sky", passages=(Passage(f"Sky {number} is blue."), Passage(f"Sky {number} is far."))),),
        answer=f"Sky {number} is {said} today.",
        sub_questions=(SubQuestion("Is it blue?", role=Role.CORE), SubQuestion("Is it far?", role=Role.BACKGROUND)),
    )


@pytest.mark.slow
def test_of_a_thousand_calls_that_fail_in_a_third_all_succeed_and_none_is_sent_twice_after_success(
    server: Any, options: dict[str, Any], fault: Callable[..., Any]
) -> None:
    drawn, lock = random.Random(4), threading.Lock()  # a seeded draw
    faults = [
        fault(status=429, headers={"Retry-After": "0.005"}),
        fault(status=429),
        fault(status=500),
        fault(status=503),
        fault(status=408),
        fault("reset"),
        fault("broken"),
    ]

    def failing(_: dict[str, Any]) -> object:
        with lock:
            return drawn.choice(faults) if drawn.random() < 0.3 else None

    server.fault_of = failing
    server.reply = lambda body: body["messages"][0]["content"]
    generator = opened(**options)

    generations = generator.generate([f"prompt {number}" for number in range(1_000)])

    assert [generation.failure for generation in generations] == [None] * 1_000
    assert [generation.samples[0].text for generation in generations] == [f"prompt {number}" for number in range(1_000)]
    assert set(Counter(body["messages"][0]["content"] for body in server.answered).values()) == {1}
    assert len(server.requests) > 1_300
    (usage,) = generator.spending.usage
    assert (usage.calls, usage.retries, usage.failures) == (1_000, len(server.requests) - 1_000, 0)


@pytest.mark.slow
def test_malformed_replies_become_failures_and_never_scores(server: Any, options: dict[str, Any]) -> None:
    spoilt = {f"Sky {number} " for number in range(0, 60, 20)}
    nonsense = iter(
        ["Blue, I think.", '{"verdicts": [{"question": 1, "answered": "perhaps"}]}', '{"verdicts": [{"quest', ""] * 9
    )

    def reply(body: dict[str, Any]) -> str:
        prompt = body["messages"][1]["content"]
        return next(nonsense) if any(sky in prompt for sky in spoilt) else judging(body)

    server.reply = reply

    evaluation = evaluate(
        [trace(number) for number in range(60)], measures=JUDGED, models=Models(judge=open_scorer(MODEL, **options))
    )

    failed = [number for number, result in enumerate(evaluation.results) if result.failures]
    assert failed == [0, 20, 40]
    assert {result.failures["coverage"].kind for result in evaluation.results if result.failures} == {"malformed"}
    assert all(result.failures["coverage"].raw is not None for result in evaluation.results if result.failures)
    scores = [
        each.answer.probability
        for result in evaluation.results
        if result.coverage
        for each in result.coverage.sub_questions
        if each.answer
    ]
    assert Counter(scores) == {0.9: 57, 0.1: 57}
    summary = evaluation.summary()
    assert (summary.outcomes["coverage"].measured, summary.outcomes["coverage"].failed) == (57, 3)


def test_a_failed_trace_costs_the_others_no_second_call(server: Any, options: dict[str, Any]) -> None:
    server.reply = lambda body: "no" if "Sky 3 is red" in body["messages"][1]["content"] else judging(body)
    traces = [trace(number, "red" if number == 3 else "blue") for number in range(8)]

    evaluation = evaluate(traces, measures=JUDGED, models=Models(judge=open_scorer(MODEL, **options)))

    assert sum(bool(result.failures) for result in evaluation.results) == 1
    spoilt = [body for body in server.requests if "Sky 3 is red" in str(body["messages"])]
    prompts = Counter(json.dumps(body["messages"]) for body in server.requests if body not in spoilt)
    assert set(prompts.values()) == {1}
    assert len(spoilt) == 3  # at first, to be repaired, afresh


def test_a_run_with_a_store_keeps_answers_and_the_next_asks_nothing(
    server: Any, options: dict[str, Any], tmp_path: Path
) -> None:
    server.reply = judging
    traces = [trace(number) for number in range(4)]
    models = Models(judge=open_scorer(MODEL, **options))

    first = evaluate(traces, measures=JUDGED, models=models, store=tmp_path / "one.sqlite")
    asked = len(server.requests)
    again = evaluate(traces, measures=JUDGED, models=models, store=tmp_path / "one.sqlite", overwrite=True)
    cached = len(server.requests) - asked
    evaluate(traces, measures=JUDGED, models=models, store=tmp_path / "one.sqlite", cache=False, overwrite=True)

    assert (asked, cached, len(server.requests)) == (12, 0, 24)
    assert (tmp_path / "one.answers.sqlite").exists()
    assert [result.outcomes for result in again.results] == [result.outcomes for result in first.results]
    assert [(usage.calls, usage.cache_hits) for usage in again.spending.usage] == [(0, 12)]
    assert Evaluation.open(tmp_path / "one.sqlite").spending.usage[0].calls == 12


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.slow
def test_a_resumed_run_asks_again_for_what_failed_and_keeps_the_rest(
    server: Any, options: dict[str, Any], fault: Callable[..., Any], tmp_path: Path, *, cache: bool
) -> None:
    down = {f"Sky {number} " for number in range(30, 64)}
    server.reply = judging
    server.fault_of = lambda body: fault(status=503) if any(sky in str(body["messages"]) for sky in down) else None
    policy = replace(options["policy"], attempts=2)
    models = Models(judge=open_scorer(MODEL, **options | {"policy": policy}))
    traces = [trace(number) for number in range(64)]
    run = partial(evaluate, traces, measures=JUDGED, models=models, store=tmp_path / "one.sqlite", cache=cache)
    failures = [result.failures["coverage"].kind for result in run().results if result.failures]
    server.fault_of, asked = lambda _: None, len(server.answered)
    progress: list[Progress] = []

    again = run(resume=True, progress=progress.append)
    asked_again = len(server.answered) - asked
    run(resume=True)

    assert failures == ["server error"] * 34
    assert again.summary().outcomes["coverage"].failed == 0
    assert [result.trace.question.text for result in again.results] == [each.question.text for each in traces]
    assert progress[-1].resumed == 30
    assert asked_again == 34 * 3
    assert max(Counter(json.dumps(body["messages"]) for body in server.answered).values()) == 1
    assert len(server.answered) == 64 * 3


def test_what_fails_again_stays_a_failure_until_a_later_run(
    server: Any, options: dict[str, Any], fault: Callable[..., Any], tmp_path: Path
) -> None:
    models = Models(judge=open_scorer(MODEL, **options))
    run = partial(evaluate, [trace(1)], measures=JUDGED, models=models, store=tmp_path / "one.sqlite", resume=True)
    server.reply, server.fault_of = judging, lambda _: fault(status=404, message="No such model.")

    twice = [run().results[0].failures["coverage"].kind for _ in range(2)]
    server.fault_of = lambda _: None
    at_last = run()

    assert twice == ["not found", "not found"]
    assert at_last.results[0].coverage


def test_a_run_that_asks_no_remote_model_spends_nothing_and_leaves_no_cache(tmp_path: Path) -> None:
    from rag_cover.testing import KeywordScorer

    evaluation = evaluate([trace(1)], measures=JUDGED, models=Models(judge=KeywordScorer()), store=tmp_path / "one.sqlite")

    assert not evaluation.spending
    assert not list(tmp_path.glob("*.answers.sqlite"))


def test_after_the_deadline_nothing_is_asked(server: Any, options: dict[str, Any]) -> None:
    models = Models(judge=open_scorer(MODEL, **options))

    evaluation = evaluate([trace(1), trace(2)], measures=JUDGED, models=models, deadline_s=0)

    failures = [result.outcomes["coverage"] for result in evaluation.results]
    assert [failure.kind for failure in failures if isinstance(failure, Failure)] == ["deadline", "deadline"]
    assert server.requests == []


def test_a_cache_that_cannot_be_used_costs_no_result(server: Any, options: dict[str, Any], tmp_path: Path) -> None:
    server.reply = judging

    evaluation = evaluate([trace(1)], measures=JUDGED, models=Models(judge=open_scorer(MODEL, **options)), cache=tmp_path)

    assert evaluation.results[0].coverage
    assert any("cannot be opened" in note for note in evaluation.spending.notes)


@pytest.fixture
def traces_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(f"{trace(number).to_json()}\n" for number in range(3)), encoding="utf-8")
    return path


def run(*words: str | Path) -> Any:
    result = CliRunner().invoke(app, ["evaluate", *map(str, words), "--judge", MODEL, "--measure", "coverage"])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_the_command_shows_what_was_spent(
    server: Any, traces_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.reply = judging
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    prices = tmp_path / "prices.json"
    prices.write_text('{"small": {"prompt": 1000000, "completion": 0}}')

    unpriced = run(traces_file)
    priced = json.loads(run(traces_file, "--json", "--no-cache", "--force", "--prices", prices).stdout)
    cached = json.loads(run(traces_file, "--json", "--force", "--prices", prices).stdout)

    assert "openai:small" in unpriced.stdout
    assert "unknown" in unpriced.stdout
    (usage,) = priced["spending"]["usage"]
    assert (usage["model"], usage["purpose"], usage["calls"], usage["prompt_tokens"]) == (MODEL, "judge", 9, 90)
    assert priced["spending"]["cost"] == usage["cost"] == 90
    assert (cached["spending"]["cost"], cached["spending"]["usage"][0]["cache_hits"]) == (0, 9)


def test_the_command_asks_again_for_what_failed_with_resume(
    server: Any, traces_file: Path, fault: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    server.reply = judging
    server.fault_of = lambda body: fault(status=404, message="No such model.") if "Sky 1 " in str(body["messages"]) else None
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)

    failed = run(traces_file)
    server.fault_of, asked = lambda _: None, len(server.requests)
    resumed = run(traces_file, "--resume", "--strict")

    assert "1 measurement failed; the same command with --resume tries again, and keeps the rest." in failed.stdout
    assert (resumed.exit_code, len(server.requests) - asked) == (0, 3)
    assert "--resume" not in resumed.stdout


def test_an_unknown_cost_is_null_with_its_reason(server: Any, traces_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server.reply, server.gives_usage = judging, False
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)

    spending = json.loads(run(traces_file, "--json").stdout)["spending"]

    assert spending["cost"] is None
    assert spending["unknown_because"]
    assert spending["usage"][0]["prompt_tokens"] is None


def test_the_command_stops_asking_at_its_deadline(server: Any, traces_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)

    ended = run(traces_file, "--deadline", "0", "--strict", "--quiet")

    assert ended.exit_code == 4
    assert server.requests == []
