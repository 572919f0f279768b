from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover import Evaluation, Models, Passage, Progress, Question, RetrievalStep, Store, SubQuestion, Trace, evaluate
from rag_cover.backends import ScoringItem
from rag_cover.errors import EvaluationError, InputError, InvalidValueError, StoreError
from rag_cover.evaluation.local_engine import LocalEngine
from rag_cover.measures import NotApplicable, TraceResult
from rag_cover.testing import KeywordEntailer, KeywordLocator, KeywordScorer

MODELS = Models(judge=KeywordScorer(), locator=KeywordLocator(), entailer=KeywordEntailer())


def _traces(number: int) -> list[Trace]:
    return [
        Trace(
            question=Question(f"Why is item {index} blue?", id=f"q{index}"),
            steps=(RetrievalStep(passages=(Passage(f"Item {index} is blue because of light."), Passage("Grass is green."))),),
            answer=f"Item {index} is blue." if index % 2 else "Nobody knows.",
            sub_questions=(
                SubQuestion(f"Is item {index} blue?", role="core"),
                SubQuestion("Is grass green?", role="background"),
            ),
        )
        for index in range(number)
    ]


class _Breaking(KeywordScorer):
    """Fails on every text that says so."""

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        if any("FAIL" in item.text for item in items):
            message = "the judge broke"
            raise RuntimeError(message)
        return super().correctness(items)


def _dicts(results: Sequence[TraceResult]) -> list[dict[str, object]]:
    return [result.to_dict() for result in results]


def test_results_come_in_trace_order_whatever_the_workers() -> None:
    one = evaluate(_traces(70), models=MODELS, workers=1)
    many = evaluate(_traces(70), models=MODELS, workers=5)

    assert [result.trace.question.id for result in many.results] == [f"q{index}" for index in range(70)]
    assert _dicts(one.results) == _dicts(many.results)


def test_a_store_holds_what_memory_holds(tmp_path: Path) -> None:
    stored = evaluate(_traces(40), models=MODELS, store=tmp_path / "run.sqlite")

    assert _dicts(stored.results) == _dicts(evaluate(_traces(40), models=MODELS).results)
    assert _dicts(Evaluation.open(tmp_path / "run.sqlite").results) == _dicts(stored.results)
    assert Evaluation.open(tmp_path / "run.sqlite").summary() == stored.summary()


def test_one_broken_trace_costs_no_other_its_result() -> None:
    broken = Trace(question="Why?", answer="FAIL", sub_questions=("Why?",))
    traces = [*_traces(3), broken, *[trace.model_copy(update={"id": f"more-{n}"}) for n, trace in enumerate(_traces(3))]]

    evaluation = evaluate(traces, models=Models(judge=_Breaking()))

    failed = [result for result in evaluation.results if result.failures]
    assert [result.trace.answer for result in failed] == ["FAIL"]
    assert failed[0].failures["coverage"].message == "the judge broke"
    assert sum(result.coverage is not None for result in evaluation.results) == 6
    assert evaluation.summary().outcomes["coverage"].failed == 1


def test_the_first_failure_stops_the_run_when_asked() -> None:
    with pytest.raises(EvaluationError, match="coverage failed: the judge broke"):
        evaluate([Trace(question="Why?", answer="FAIL")], models=Models(judge=_Breaking()), on_error="raise")


def test_a_judge_without_entailment_makes_groundedness_not_applicable() -> None:
    evaluation = evaluate(_traces(1), models=Models(judge=KeywordScorer()))

    outcome = evaluation.results[0].outcomes["groundedness"]
    assert isinstance(outcome, NotApplicable)
    assert "offers no entailer" in outcome.reason


def test_a_missing_input_is_known_before_a_model_is_asked() -> None:
    scorer = KeywordScorer()

    evaluation = evaluate([Trace(question="Why?")], models=Models(judge=scorer))

    assert isinstance(evaluation.results[0].outcomes["coverage"], NotApplicable)
    assert scorer.asked.calls == 0


def test_an_unknown_measure_names_the_nearest() -> None:
    with pytest.raises(InvalidValueError, match="No measure is called 'coverge'. Did you mean 'coverage'"):
        evaluate([], measures=["coverge"], models=MODELS)


@pytest.mark.parametrize("nothing", [[], (), iter([])], ids=["list", "tuple", "iterator"])
def test_no_traces_are_refused_and_leave_no_store(nothing: Iterable[Trace], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there are no traces to measure; give at least one"):
        evaluate(nothing, models=MODELS, store=tmp_path / "run.sqlite")

    assert not (tmp_path / "run.sqlite").exists()


def test_a_store_that_is_no_path_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="store is 3; give the path of a file"):
        evaluate([Trace(question="Why?", answer="Because.")], models=MODELS, store=3)  # type: ignore[arg-type]


def test_an_empty_data_frame_is_refused() -> None:
    pd = pytest.importorskip("pandas")

    with pytest.raises(InputError, match="there are no traces to measure"):
        evaluate(pd.DataFrame({"question": [], "answer": []}), models=MODELS)


def test_a_resumed_run_asks_only_for_what_is_missing(tmp_path: Path) -> None:
    first, second = KeywordScorer(), KeywordScorer()
    store = Store(tmp_path / "run.sqlite")
    evaluate(_traces(40), measures=["coverage"], models=Models(judge=first), store=store)
    seen: list[Progress] = []

    evaluate(_traces(64), measures=["coverage"], models=Models(judge=second), store=store, resume=True, progress=seen.append)

    assert len(store) == 64
    assert seen[-1].resumed == 40
    assert second.asked.items < first.asked.items


def test_another_threshold_is_another_judge_and_measures_again(tmp_path: Path) -> None:
    strict = KeywordScorer(threshold=0.9)
    evaluate(_traces(5), measures=["coverage"], models=Models(judge=KeywordScorer()), store=tmp_path / "run.sqlite")

    again = evaluate(_traces(5), measures=["coverage"], models=Models(judge=strict), store=tmp_path / "run.sqlite", resume=True)

    assert strict.asked.calls
    assert all(result.coverage and result.coverage.threshold == 0.9 for result in again.results)


def test_an_unfinished_store_is_not_thrown_away(tmp_path: Path) -> None:
    store = Store(tmp_path / "run.sqlite")
    evaluate(_traces(3), models=MODELS, store=store)
    store.finished = False

    with pytest.raises(StoreError, match=r"unfinished evaluation \(3 traces done\).*resume"):
        evaluate(_traces(3), models=MODELS, store=store)


def test_a_store_forgets_traces_that_are_no_longer_there(tmp_path: Path) -> None:
    evaluate(_traces(6), models=MODELS, store=tmp_path / "run.sqlite")

    again = evaluate(_traces(2), models=MODELS, store=tmp_path / "run.sqlite", resume=True)

    assert len(again.results) == 2


def test_a_store_without_an_evaluation_says_how_to_make_one(tmp_path: Path) -> None:
    Store(tmp_path / "empty.sqlite").close()

    with pytest.raises(StoreError, match="holds no evaluation yet"):
        Evaluation.open(tmp_path / "empty.sqlite")


def test_a_dataframe_has_a_row_for_each_sub_question() -> None:
    pytest.importorskip("pandas", reason="needs the extra 'all'")

    frame = evaluate(_traces(2), models=MODELS).to_dataframe()

    assert list(frame["answered"]) == [False, False, True, False]
    assert set(frame["loss"].dropna()) == {"in the prompt, not used"}


def test_an_interrupt_is_told_before_threads_are_waited_for() -> None:
    told = threading.Event()

    def measure(_block: Sequence[Trace]) -> Sequence[TraceResult]:
        assert told.wait(30)
        return []

    def blocks() -> Iterator[Sequence[Trace]]:
        yield []
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(LocalEngine(1, told.set).run(measure, blocks()))
