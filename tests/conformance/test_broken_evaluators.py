"""Every check of the suite for evaluators catches something."""

from __future__ import annotations

import math
import time
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pytest

from rag_cover.testing.conformance import Evaluator, EvaluatorTests

Result = dict[str, Any]


def right(*, inputs: Any, outputs: Any, reference_outputs: Any = None, **_: Any) -> Result:
    """Score an answer by the share of the references' words that it holds."""
    said, wanted = (set(str(_field(each, "answer") or "").split()) for each in (outputs, reference_outputs))
    if not _field(inputs, "question") or not said or not wanted:
        return {"key": "words", "score": None, "comment": "no question, answer or reference", "metadata": {}}
    return {"key": "words", "score": len(said & wanted) / len(wanted), "comment": None, "metadata": {"said": sorted(said)}}


def _field(given: Any, name: str) -> Any:
    return given.get(name) if isinstance(given, dict) else given if isinstance(given, str) else None


def but(**changes: Any) -> Callable[..., Result]:
    """Evaluate rightly, with these changes to the result."""

    def evaluator(*, inputs: Any, outputs: Any, reference_outputs: Any = None, **kw: Any) -> Result:
        return right(inputs=inputs, outputs=outputs, reference_outputs=reference_outputs, **kw) | changes

    return evaluator


def by_position(inputs: Any, outputs: Any, reference_outputs: Any = None, **kw: Any) -> Result:
    return right(inputs=inputs, outputs=outputs, reference_outputs=reference_outputs, **kw)


def with_question(*, inputs: Any, outputs: Any, question: str, reference_outputs: Any = None, **_: Any) -> Result:
    return right(inputs=question or inputs, outputs=outputs, reference_outputs=reference_outputs)


def needs_references(*, inputs: Any, outputs: Any, reference_outputs: Any, **_: Any) -> Result:
    return right(inputs=inputs, outputs=outputs, reference_outputs=reference_outputs)


def no_more(*, inputs: Any, outputs: Any, reference_outputs: Any = None) -> Result:
    return right(inputs=inputs, outputs=outputs, reference_outputs=reference_outputs)


def by_context(*, inputs: Any, outputs: Any, reference_outputs: Any = None, **kw: Any) -> Result:
    found = right(inputs=inputs, outputs=outputs, reference_outputs=reference_outputs)
    return found | {"comment": f"with {len(kw)} more"}


def keyed_by_question(*, inputs: Any, outputs: Any, reference_outputs: Any = None, **_: Any) -> Result:
    found = right(inputs=inputs, outputs=outputs, reference_outputs=reference_outputs)
    return found | {"key": f"words of {inputs}"}


def zero_for_nothing(*, inputs: Any, outputs: Any, reference_outputs: Any = None, **_: Any) -> Result:
    found = right(inputs=inputs, outputs=outputs, reference_outputs=reference_outputs)
    return found | {"score": found["score"] or 0.0}


def trusting(*, inputs: Any, outputs: Any, reference_outputs: Any = None, **_: Any) -> Result:
    found = right(inputs=inputs, outputs=outputs, reference_outputs=reference_outputs)
    return found | {"metadata": {"asked": inputs.get("question", "").lower() if inputs is not None else ""}}


def encoding(*, inputs: Any, outputs: Any, reference_outputs: Any = None, **_: Any) -> Result:
    str(_field(outputs, "answer")).encode()
    return right(inputs=inputs, outputs=outputs, reference_outputs=reference_outputs)


def tidying(*, inputs: Any, outputs: Any, reference_outputs: Any = None, **_: Any) -> Result:
    found = right(inputs=inputs, outputs=outputs, reference_outputs=reference_outputs)
    if isinstance(outputs, dict):
        outputs.pop("context", None)
    return found


class Counting:
    """Says how often it was called."""

    calls = 0

    def __call__(self, *, inputs: Any, outputs: Any, reference_outputs: Any = None, **_: Any) -> Result:
        self.calls += 1
        found = right(inputs=inputs, outputs=outputs, reference_outputs=reference_outputs)
        return found | {"metadata": {"call": self.calls}}


class Caching:
    """Hands the same result out again."""

    def __init__(self) -> None:
        self.known: dict[str, Result] = {}

    def __call__(self, *, inputs: Any, outputs: Any, reference_outputs: Any = None, **_: Any) -> Result:
        asked = str((inputs, outputs))
        return self.known.setdefault(asked, right(inputs=inputs, outputs=outputs, reference_outputs=reference_outputs))


class Leaving:
    """Leaves its result on itself, as metrics with state do."""

    score: Any = None

    def __call__(self, *, inputs: Any, outputs: Any, reference_outputs: Any = None, **_: Any) -> Result:
        found = right(inputs=inputs, outputs=outputs, reference_outputs=reference_outputs)
        self.score = found["score"]
        time.sleep(0.001)
        return found | {"score": self.score, "comment": "see score"}


class Twins(EvaluatorTests):
    """Has an asynchronous form that says something else."""

    def async_twin(self, evaluator: Evaluator) -> Callable[..., Awaitable[Any]]:
        async def twin(**given: Any) -> Result:
            return {**evaluator(**given), "comment": "asynchronously"}

        return twin


FAULTS: dict[str, tuple[Any, str, str]] = {
    "by position": (by_position, "test_its_parameters_have_the_names_that_runners_pass", "no keyword-only parameter"),
    "a further argument": (with_question, "test_its_parameters_have_the_names_that_runners_pass", "no runner passes"),
    "references are needed": (needs_references, "test_its_parameters_have_the_names_that_runners_pass", "has no default"),
    "no keywords": (no_more, "test_its_parameters_have_the_names_that_runners_pass", "unknown keywords are refused"),
    "never a score": (but(score=None, comment="no"), "test_it_scores_the_examples", "a plain example has no score"),
    "no dict": (lambda **_: 0.5, "test_it_scores_the_examples", "a result is a float"),
    "no result": (lambda **_: [], "test_it_scores_the_examples", "there is no result"),
    "no comment": (lambda **_: {"key": "k", "score": 1, "metadata": {}}, "test_it_scores_the_examples", "has no 'comment'"),
    "a further key": (but(reason="so"), "test_it_scores_the_examples", "LangSmith refuses"),
    "a blank key": (but(key=" "), "test_it_scores_the_examples", "the key is blank"),
    "a key that is none": (but(key=7), "test_it_scores_the_examples", "the key is 7"),
    "a score in words": (but(score="high"), "test_it_scores_the_examples", "the score is 'high'"),
    "percents": (but(score=70.0), "test_it_scores_the_examples", "outside"),
    "NaN": (but(score=math.nan), "test_it_scores_the_examples", "outside"),
    "no reason": (but(score=None, comment=None), "test_it_scores_the_examples", "no score and no comment"),
    "many keys": (keyed_by_question, "test_a_key_is_always_the_same", "different keys"),
    "an array": (but(metadata={"scores": np.zeros(2)}), "test_results_are_json", "not JSON serializable"),
    "0 for nothing": (zero_for_nothing, "test_nothing_to_evaluate_has_no_score", "the score is None"),
    "trust": (trusting, "test_malformed_data_raises_nothing", "inputs='' raised AttributeError"),
    "no references": (needs_references, "test_missing_references_raise_nothing", "raised TypeError"),
    "encoding": (encoding, "test_odd_texts_raise_nothing", "a lone surrogate in outputs raised UnicodeEncodeError"),
    "unknown keywords": (by_context, "test_unknown_keywords_change_nothing", "leave it unread"),
    "a count": (Counting(), "test_results_do_not_depend_on_what_came_before", "keep no state"),
    "a cache": (Caching(), "test_every_call_has_a_result_of_its_own", "return a new mapping"),
    "inputs changed": (tidying, "test_what_it_is_given_stays_as_it_was", "work on copies"),
    "state": (Leaving(), "test_many_threads_get_what_one_gets", "not on the evaluator"),
}


@pytest.mark.parametrize(("broken", "check", "sentence"), FAULTS.values(), ids=FAULTS)
def test_what_is_broken_is_told_in_a_sentence(broken: Any, check: str, sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        getattr(EvaluatorTests(), check)(broken)


def test_an_async_form_that_says_something_else_is_told() -> None:
    with pytest.raises(AssertionError, match="gave another result"):
        Twins().test_its_async_form_gives_the_same(right)


def test_every_check_is_seen_to_fail() -> None:
    checks = {name for name in dir(EvaluatorTests) if name.startswith("test_")}

    assert checks - {check for _, check, _ in FAULTS.values()} == {"test_its_async_form_gives_the_same"}


class TestAnEvaluatorThatIsRight(EvaluatorTests):
    @pytest.fixture
    def evaluator(self) -> Evaluator:
        return right
