from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover import Evaluation, Models, Passage, Question, Redaction, RetrievalStep, SubQuestion, Trace, evaluate, measure_of
from rag_cover.backends import ScoringItem
from rag_cover.cascade import CascadeJudge, CascadeSettings
from rag_cover.errors import EngineError, EvaluationError, InvalidValueError, UnknownOptionError
from rag_cover.evaluation.local_engine import open_engine
from rag_cover.llm.usage import Usage, UsageMeter
from rag_cover.testing import KeywordEntailer, KeywordLocator, KeywordScorer, ScriptedScorer
from rag_cover_ray import RayEngine

pytestmark = [
    pytest.mark.usefixtures("cluster"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ray.*"),  # of its own settings
]

KEYWORDS = Models(judge=KeywordScorer(), locator=KeywordLocator(), entailer=KeywordEntailer())


def _traces(number: int) -> list[Trace]:
    return [
        Trace(
            question=Question(f"Why is the sky of planet {index} blue?"),
            steps=(
                RetrievalStep(
                    passages=(Passage(f"On planet {index} air scatters blue light."), Passage("Grass is green in summer.")),
                ),
            ),
            answer=f"On planet {index} the air scatters blue light more than red light." if index % 3 else "Nobody knows.",
            sub_questions=(SubQuestion("What does air scatter?", role="core"), SubQuestion("Is grass green?")),
        )
        for index in range(number)
    ]


def _written(evaluation: Evaluation) -> list[dict[str, object]]:
    return [result.to_dict() for result in evaluation.results]


@pytest.mark.slow
def test_results_are_the_local_ones_value_for_value_and_in_order() -> None:
    traces = _traces(70)

    local = evaluate(traces, workers=1)
    ray = evaluate(traces, engine="ray", workers=2)

    assert _written(ray) == _written(local)
    assert ray.judge == local.judge


@pytest.mark.slow
def test_a_budget_of_a_cascade_holds_over_all_workers_and_gives_the_local_results() -> None:
    traces = _traces(70)
    first = ScriptedScorer(default=0.4, certain={"passage": (0.1, 0.9), "reply": (0.1, 0.9)})
    models = Models(judge=CascadeJudge(first, KeywordScorer(), CascadeSettings(max_calls=100, audit=0.1)))

    local = evaluate(traces, measures=["coverage"], models=models, workers=1)
    ray = evaluate(traces, measures=["coverage"], models=models, engine="ray", workers=2)

    use = ray.summary().cascade
    assert use is not None
    assert 0 < use.counts.asked + use.counts.audited <= 100  # a call is a verdict of a judge that does not tell
    assert _written(ray) == _written(local)


@pytest.mark.slow
def test_an_interrupted_store_is_gone_on_with_on_another_engine(tmp_path: Path) -> None:
    store = tmp_path / "run.sqlite"

    def cut_short() -> Iterator[Trace]:
        yield from _traces(40)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(cut_short(), models=KEYWORDS, store=store)
    resumed = evaluate(_traces(100), models=KEYWORDS, store=store, resume=True, engine=RayEngine(workers=2))

    assert _written(resumed) == _written(evaluate(_traces(100), models=KEYWORDS))


@pytest.mark.slow
def test_a_stream_longer_than_the_window_stays_in_order_and_is_read_as_it_is_needed() -> None:
    read: list[int] = []

    def numbers() -> Iterator[int]:
        for number in range(12):
            read.append(number)
            yield number

    doubled = RayEngine(workers=2, window=8).run(_doubled, numbers())

    assert next(doubled) == 0
    assert len(read) == 8
    assert list(doubled) == [2 * number for number in range(1, 12)]


@pytest.mark.slow
def test_nothing_to_do_starts_nothing() -> None:
    assert list(RayEngine(address="nowhere:1").run(_doubled, [])) == []


def _doubled(number: int) -> int:
    return 2 * number


class _Spending:
    """Counts a call of a remote model for each item."""

    def __init__(self) -> None:
        self.ledger = UsageMeter()

    def __call__(self, number: int) -> int:
        self.ledger.add(Usage("openai:small", "judge", calls=1, prompt_tokens=number))
        return number

    def __reduce__(self) -> tuple[type[_Spending], tuple[()]]:
        return _Spending, ()


@pytest.mark.slow
def test_what_workers_spent_is_added_up_where_the_run_was_started() -> None:
    asking = _Spending()

    made = list(RayEngine(workers=2).run(asking, range(6)))

    assert made == list(range(6))
    assert asking.ledger.spending.usage == (Usage("openai:small", "judge", calls=6, prompt_tokens=15),)


class _Breaking(KeywordScorer):
    def correctness(self, _items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        message = "the judge broke"
        raise RuntimeError(message)


@pytest.mark.slow
def test_the_first_failure_ends_the_run_with_the_error_of_the_local_engine() -> None:
    broken = Models(judge=_Breaking())

    with pytest.raises(EvaluationError) as local:
        evaluate(_traces(2), measures=["coverage"], models=broken, on_error="raise")
    with pytest.raises(EvaluationError) as ray:
        evaluate(_traces(2), measures=["coverage"], models=broken, on_error="raise", engine="ray")

    assert str(ray.value) == str(local.value) == "coverage failed: the judge broke"


class _Killing:
    """Kills its process at the third item, so often."""

    def __init__(self, tally: Path, times: int) -> None:
        self.tally, self.times = tally, times

    def __call__(self, number: int) -> int:
        died = self.tally.stat().st_size if self.tally.exists() else 0
        if number == 3 and died < self.times:
            with self.tally.open("ab") as file:
                file.write(b"x")
            os.kill(os.getpid(), signal.SIGKILL)
        return number


@pytest.mark.slow
def test_what_a_killed_worker_had_in_hand_is_done_again_once(tmp_path: Path) -> None:
    made = list(RayEngine(workers=2).run(_Killing(tmp_path / "died", times=1), range(8)))

    assert made == list(range(8))
    assert (tmp_path / "died").read_bytes() == b"x"


@pytest.mark.slow
def test_an_item_that_kills_every_worker_ends_the_run(tmp_path: Path) -> None:
    run = RayEngine(workers=1).run(_Killing(tmp_path / "died", times=99), range(8))

    with pytest.raises(EngineError, match=r"Workers died 4 times on item 4 of those"):
        list(run)


class _Locked(KeywordScorer):
    def __init__(self) -> None:
        self.lock = threading.Lock()


@pytest.mark.slow
def test_a_model_that_cannot_travel_is_refused_with_what_to_do() -> None:
    with pytest.raises(InvalidValueError, match=r"cannot pickle '_thread.lock' object\); give models by name") as refused:
        evaluate(_traces(1), measures=["coverage"], models=Models(judge=_Locked()), engine="ray")

    assert len(str(refused.value)) < 300


@pytest.mark.slow
def test_more_than_the_cluster_has_is_refused() -> None:
    with pytest.raises(EngineError, match=r"too few for one worker of 1 processors and 4,?000 GPUs"):
        list(RayEngine(gpus=4000).run(_doubled, [1]))


def _gpus_seen(_: int) -> tuple[int, str | None]:
    time.sleep(0.2)
    return os.getpid(), os.environ.get("CUDA_VISIBLE_DEVICES")


@pytest.mark.slow
def test_workers_with_half_a_gpu_each_share_one() -> None:
    """Ray counts the GPUs it is told of, and shows a worker its own: this takes none."""
    seen = list(RayEngine(gpus=0.5).run(_gpus_seen, range(8)))

    assert {gpu for _, gpu in seen} == {"0"}
    assert len({worker for worker, _ in seen}) == 2


@pytest.mark.slow
def test_redacted_results_are_the_local_ones() -> None:
    redaction = Redaction(b"a key of this test")

    ray = evaluate(_traces(20), models=KEYWORDS, engine="ray", redact=redaction)

    assert _written(ray) == _written(evaluate(_traces(20), models=KEYWORDS, redact=redaction))
    assert "planet" not in str(_written(ray))


@pytest.mark.parametrize("options", [{"workers": 0}, {"window": 0}, {"gpus": -1}, {"cpus": float("nan")}])
@pytest.mark.slow
def test_numbers_that_cannot_be_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(InvalidValueError, match=next(iter(options))):
        open_engine("ray", **options)


@pytest.mark.slow
def test_an_unknown_option_names_the_nearest() -> None:
    with pytest.raises(UnknownOptionError, match="address"):
        open_engine("ray", adress="auto")


@pytest.mark.slow
def test_a_measure_of_the_users_own_travels_to_the_workers() -> None:
    def answer_length(trace: Trace) -> float:
        return len((trace.answer or "").split())

    traces = _traces(5)
    measure = measure_of(answer_length, name="answer_length")

    found = evaluate(traces, measures=[measure], models=KEYWORDS, engine="ray", workers=1)

    assert [result["answer_length"].value for result in found.results] == [answer_length(trace) for trace in traces]
