"""What evaluating a pipeline over a dataset owes its user: every question is asked once, and none is lost, whatever happens."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from rag_cover.backends import Failure
from rag_cover.errors import RagCoverError
from rag_cover.evaluation import Evaluation, Progress
from rag_cover.measures import NotApplicable
from rag_cover.questions import Question, Role, SubQuestion
from rag_cover.testing.judges import KeywordScorer
from rag_cover.traces import Trace

__all__ = ["PipelineEvaluationTests"]

_QUESTIONS = [f"What is thing {number}?" for number in range(12)]
_CANARY = "canary"
_PATIENCE_S = 20.0

Answer = Callable[[str], str]


class PipelineEvaluationTests:
    """Tests of ``evaluate_pipeline`` and ``aevaluate_pipeline``: subclass them under a name that begins with ``Test``.

    `make_pipeline`, `evaluate` and `aevaluate` are yours to give; the folder ``tmp_path`` is pytest's.
    """

    def make_pipeline(self, answer: Answer) -> Any:
        """Return a pipeline of your framework that answers a question by a call of ``answer``, on whatever thread it runs."""
        raise NotImplementedError

    def evaluate(self, pipeline: Any, questions: Any, **options: Any) -> Evaluation:
        """Call ``evaluate_pipeline``."""
        raise NotImplementedError

    def aevaluate(self, pipeline: Any, questions: Any, **options: Any) -> Awaitable[Evaluation]:
        """Call ``aevaluate_pipeline``."""
        raise NotImplementedError

    def test_results_come_in_the_order_of_the_questions(self) -> None:
        """However long each took."""
        evaluation = self._evaluate(_slower_for_early, _QUESTIONS, concurrency=4)

        assert _asked(evaluation) == _QUESTIONS
        assert [result.trace.answer for result in evaluation.results] == [f"It is {text}" for text in _QUESTIONS]

    def test_asynchronous_results_do_too(self) -> None:
        """By the pipeline's own asynchronous interface."""
        evaluation = asyncio.run(self._aevaluate(_slower_for_early, _QUESTIONS, concurrency=4))

        assert _asked(evaluation) == _QUESTIONS

    def test_no_more_are_under_way_than_is_allowed(self) -> None:
        """And as many as that."""
        for concurrency in (1, 3):
            watch = _Concurrency()

            self._evaluate(watch, _QUESTIONS, concurrency=concurrency)

            assert watch.most <= concurrency

    def test_what_is_known_of_a_question_is_in_its_trace(self) -> None:
        """Its id, gold answers, sub-questions, and metadata."""
        asked = [
            Question("Why is the sky blue?", id="sky", references=["Air scatters blue light."]),
            Trace(
                question=Question("What is a heat pump?", id="pump"),
                sub_questions=(SubQuestion("What does it cost?", role="core"),),
                metadata={"query_type": "definition"},
                answer="What another pipeline said.",
            ),
            {"question": "Why is grass green?", "sub_questions": ["What is chlorophyll?"]},
        ]

        evaluation = self._evaluate(_answer, asked)

        sky, pump, grass = (result.trace for result in evaluation.results)
        assert (sky.question.id, sky.question.references) == ("sky", ("Air scatters blue light.",))
        assert (pump.question.id, pump.answer) == ("pump", "It is What is a heat pump?")
        assert pump.sub_questions == (SubQuestion("What does it cost?", role=Role.CORE),)
        assert pump.metadata["query_type"] == "definition"
        assert [each.text for each in grass.sub_questions or ()] == ["What is chlorophyll?"]

    def test_a_file_of_questions_is_read(self, tmp_path: Path) -> None:
        """A trace file, whose answers are not the pipeline's."""
        file = tmp_path / "questions.jsonl"
        file.write_text('{"question": "Why?", "answer": "No."}\n{"question": {"text": "How?", "id": "h"}}\n', encoding="utf-8")

        for path in (file, str(file)):
            evaluation = self._evaluate(_answer, path)
            assert [(each.trace.question.id, each.trace.answer) for each in evaluation.results] == [
                (None, "It is Why?"),
                ("h", "It is How?"),
            ]

    def test_a_question_that_fails_costs_no_other_its_result(self) -> None:
        """It is counted on the way, and in the summary; its error is in its trace."""
        seen: list[Progress] = []

        evaluation = self._evaluate(_fail_on("thing 3", "thing 7"), _QUESTIONS, progress=seen.append)

        assert _asked(evaluation) == _QUESTIONS
        answered = [result.trace.answer for result in evaluation.results]
        assert [place for place, answer in enumerate(answered) if answer is None] == [3, 7]
        assert "ValueError" in str(evaluation.results[3].trace.metadata["error"])
        assert (seen[-1].done, seen[-1].total, seen[-1].failed) == (12, 12, 2)
        assert any("2 of 12" in note for note in evaluation.summary().notes)

    def test_nothing_that_failed_is_a_score(self) -> None:
        """Of a pipeline that always fails nothing is measured."""
        evaluation = self._evaluate(_fail_on("thing"), _QUESTIONS)

        outcomes = [result.outcomes["coverage"] for result in evaluation.results]
        assert all(isinstance(outcome, NotApplicable | Failure) for outcome in outcomes)

    def test_resuming_asks_only_what_was_not_answered(self, tmp_path: Path) -> None:
        """New questions, and those that failed; the others keep their results."""
        store = tmp_path / "results.sqlite"
        self._evaluate(_fail_on("thing 3"), _QUESTIONS[:6], store=store)
        again = _Counting()

        evaluation = self._evaluate(again, _QUESTIONS, store=store, resume=True)

        assert sorted(again.asked) == sorted([_QUESTIONS[3], *_QUESTIONS[6:]])
        assert set(again.asked.values()) == {1}
        assert _asked(evaluation) == _asked(Evaluation.open(store)) == _QUESTIONS
        assert all(result.trace.answer for result in evaluation.results)

    def test_a_store_with_results_is_not_added_to_unasked(self, tmp_path: Path) -> None:
        """Nor begun anew: its answers may have been paid for."""
        store = tmp_path / "results.sqlite"
        self._evaluate(_answer, _QUESTIONS[:2], store=store)

        _refused(lambda: self._evaluate(_answer, _QUESTIONS[2:], store=store), "resume=True")

        assert _asked(Evaluation.open(store)) == _QUESTIONS[:2]

    def test_an_interruption_keeps_what_was_answered(self, tmp_path: Path) -> None:
        """In the store, and in the error."""
        store = tmp_path / "results.sqlite"

        try:
            self._evaluate(_interrupt_at("thing 5"), _QUESTIONS, store=store, concurrency=1)
        except KeyboardInterrupt as stopped:
            kept: Any = stopped
        else:
            message = "the interruption was swallowed"
            raise AssertionError(message)

        assert _asked(kept.evaluation)[:5] == _QUESTIONS[:5]
        again = _Counting()
        evaluation = self._evaluate(again, _QUESTIONS, store=store, resume=True)
        assert sorted(again.asked) == sorted(_QUESTIONS[5:])
        assert _asked(evaluation) == _QUESTIONS

    def test_a_cancelled_task_keeps_what_was_answered(self, tmp_path: Path) -> None:
        """In the store; and the cancellation goes on."""
        store = tmp_path / "results.sqlite"

        async def cancel() -> None:
            third, loop = asyncio.Event(), asyncio.get_running_loop()

            def watch(progress: Progress) -> None:
                if progress.done == 3:  # noqa: PLR2004  # of twelve
                    loop.call_soon_threadsafe(third.set)

            running = asyncio.ensure_future(self._aevaluate(_answer, _QUESTIONS, store=store, concurrency=1, progress=watch))
            await third.wait()
            running.cancel()
            try:
                await running
            except asyncio.CancelledError:
                return
            message = "the cancellation was swallowed"
            raise AssertionError(message)

        asyncio.run(cancel())

        kept = _asked(Evaluation.open(store))
        assert kept[:3] == _QUESTIONS[:3]
        again = _Counting()
        self._evaluate(again, _QUESTIONS, store=store, resume=True)
        answered = [text for text in _QUESTIONS if text not in kept]
        assert set(answered) <= set(again.asked)
        assert not set(_QUESTIONS[:3]) & set(again.asked)

    def test_it_runs_where_an_event_loop_runs(self) -> None:
        """As in a notebook."""

        async def cell() -> Evaluation:
            return self._evaluate(_answer, _QUESTIONS[:3])

        assert _asked(asyncio.run(cell())) == _QUESTIONS[:3]

    def test_redacted_results_hold_no_text_and_can_be_resumed(self, tmp_path: Path) -> None:
        """Questions are found again by their hashes."""
        store = tmp_path / "results.sqlite"
        asked = [Question(f"Where is the {_CANARY} {number}?", id=f"{_CANARY}-{number}") for number in range(3)]
        self._evaluate(_answer, asked[:2], store=store, redact=True)
        again = _Counting()

        evaluation = self._evaluate(again, asked, store=store, redact=True, resume=True)

        assert list(again.asked) == [asked[2].text]
        assert len(evaluation.results) == len(asked)
        assert not any(_CANARY in str(result.to_dict()) for result in evaluation.results)
        assert _CANARY.encode() not in store.read_bytes()

    def test_what_cannot_be_meant_is_refused_before_anything_is_asked(self) -> None:
        """No questions, two that are the same, a concurrency of 0, nothing to resume, an option that a dataset decides."""
        asked = _Counting()
        wrong: Sequence[tuple[Any, dict[str, Any], str]] = [
            ([], {}, "question"),
            (["Why?", "Why?"], {}, "same"),
            (["  "], {}, "blank"),
            ([5], {}, "int"),
            (["Why?"], {"concurrency": 0}, "concurrency"),
            (["Why?"], {"resume": True}, "store"),
            (["Why?"], {"sampling": 0.5}, "sampling"),
            (["Why?"], {"measures": []}, "measures"),
            (["Why?"], {"progress": "yes"}, "progress"),
        ]
        for questions, options, named in wrong:
            _refused(lambda q=questions, o=options: self._evaluate(asked, q, **o), named)  # type: ignore[misc]

        assert not asked.asked

    def test_models_that_cannot_be_opened_are_told_before_anything_is_asked(self, tmp_path: Path) -> None:
        """An answer that nobody can measure may have been paid for."""
        asked, absent = _Counting(), tmp_path / "absent.jsonl"

        _refused(lambda: self._evaluate(asked, ["Why?"], decomposer=absent), "absent.jsonl")

        assert not asked.asked

    def test_no_thread_is_left(self) -> None:
        """Of those that asked."""
        self._evaluate(_answer, _QUESTIONS, concurrency=4)

        until = time.monotonic() + _PATIENCE_S
        while (left := _threads_left()) and time.monotonic() < until:
            time.sleep(0.01)
        assert not left

    def _evaluate(self, answer: Answer, questions: Any, **options: Any) -> Evaluation:
        return self.evaluate(self.make_pipeline(answer), questions, **{**_models(), **options})

    async def _aevaluate(self, answer: Answer, questions: Any, **options: Any) -> Evaluation:
        return await self.aevaluate(self.make_pipeline(answer), questions, **{**_models(), **options})


def _models() -> dict[str, Any]:
    return {"judge": KeywordScorer(), "receiver": None, "measures": ["coverage"], "progress": False}


def _asked(evaluation: Evaluation) -> list[str]:
    return [result.trace.question.text for result in evaluation.results]


def _answer(question: str) -> str:
    return f"It is {question}"


def _slower_for_early(question: str) -> str:
    time.sleep(0.002 * (12 - int(question.rstrip("?").rsplit(" ", 1)[-1])))
    return _answer(question)


def _fail_on(*words: str) -> Answer:
    def answer(question: str) -> str:
        if any(word in question for word in words):
            message = "the database is down"
            raise ValueError(message)
        return _answer(question)

    return answer


def _interrupt_at(word: str) -> Answer:
    def answer(question: str) -> str:
        if word in question:
            raise KeyboardInterrupt
        return _answer(question)

    return answer


class _Counting:
    """Answers, and counts how often it is asked each question."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def __call__(self, question: str) -> str:
        self.asked[question] += 1
        return _answer(question)


class _Concurrency:
    """Answers, and counts how many it is asked at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._now = self.most = 0

    def __call__(self, question: str) -> str:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        time.sleep(0.002)
        with self._lock:
            self._now -= 1
        return _answer(question)


def _refused(evaluate: Callable[[], object], named: str) -> None:
    refusal = ""
    try:
        evaluate()
    except RagCoverError as refused:
        refusal = str(refused)
    assert named in refusal, f"what concerns {named!r} was not refused by its name: {refusal or 'nothing was raised'}"


def _threads_left() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("rag-cover-asking")]
