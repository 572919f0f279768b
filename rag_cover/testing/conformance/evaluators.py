"""What an evaluator owes those who run it: a callable in the form of openevals and LangSmith.

That is ``(*, inputs, outputs, reference_outputs=None, **kw) -> {"key", "score", "comment", "metadata"}``, or a list of them.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from rag_cover.testing.conformance.attempts import THREADS, at_once, check_call, make_skip
from rag_cover.testing.conformance.oddities import ODD_TEXTS, ODD_VALUES, UNENCODABLE

__all__ = ["Evaluator", "EvaluatorExample", "EvaluatorTests"]

Evaluator = Callable[..., Any]

_KEYS = ("key", "score", "comment", "metadata")
_ALLOWED = (
    *_KEYS,
    *("value", "correction", "evaluator_info", "feedback_config", "source_run_id", "target_run_id", "extra"),
)
"""What LangSmith's EvaluationResult takes: it refuses a result with any other key."""

_FORM = "(*, inputs, outputs, reference_outputs=None, **kwargs)"


@dataclass(frozen=True, slots=True)
class EvaluatorExample:
    """What an evaluator is called with."""

    inputs: Any
    outputs: Any
    reference_outputs: Any = None

    def given(self) -> dict[str, Any]:
        """Return fresh arguments: an evaluator that changes them spoils no other call."""
        return {name: copy.deepcopy(getattr(self, name)) for name in ("inputs", "outputs", "reference_outputs")}


_SKY = "Air scatters blue light more than red light, so that the sky is blue by day."
_LIBRARY = "The Harlow library was opened on 3 May 1904. It has three floors and a quiet reading room."
_EXAMPLES = (
    EvaluatorExample(
        {"question": "Why is the sky blue?"},
        {"answer": "The sky is blue because air scatters blue light.", "context": [_SKY]},
        {"answer": "Because air scatters blue light more than red light."},
    ),
    EvaluatorExample(
        {"question": "When was the Harlow library opened?"},
        {"answer": "It has a quiet reading room.", "context": [_LIBRARY]},
        {"answer": "On 3 May 1904."},
    ),
)


class EvaluatorTests:
    """Tests of an evaluator: subclass them under a name that begins with ``Test``, and give it as the fixture ``evaluator``.

        class TestMyEvaluator(EvaluatorTests):
            @pytest.fixture
            def evaluator(self) -> Evaluator:
                return my_evaluator

    Attributes:
        lowest: the least score there is.
        highest: the greatest score there is.
    """

    lowest: float = 0.0
    highest: float = 1.0

    def examples(self) -> Sequence[EvaluatorExample]:
        """Return two or more examples that the evaluator gives different results on, none of them without a score."""
        return _EXAMPLES

    def async_twin(self, evaluator: Evaluator) -> Callable[..., Awaitable[Any]] | None:  # noqa: ARG002  # of those who have one
        """Return the evaluator's asynchronous form; None where there is none."""
        return None

    def test_its_parameters_have_the_names_that_runners_pass(self, evaluator: Evaluator) -> None:
        """LangSmith goes by names: it takes two others for (run, example), and refuses any further one without a default."""
        known = inspect.signature(evaluator).parameters
        named = {name for name, each in known.items() if each.kind is inspect.Parameter.KEYWORD_ONLY}
        needed = {name for name, each in known.items() if each.default is each.empty and each.kind not in _ANY_NUMBER}

        for name in ("inputs", "outputs", "reference_outputs"):
            assert name in named, f"{name!r} is no keyword-only parameter; the form is {_FORM}"
        assert "reference_outputs" not in needed, "reference_outputs has no default; give None: many examples have none"
        assert needed <= {"inputs", "outputs"}, (
            f"no runner passes {sorted(needed - {'inputs', 'outputs'})}; give it a default, or bind it beforehand"
        )
        assert any(each.kind is inspect.Parameter.VAR_KEYWORD for each in known.values()), (
            "unknown keywords are refused; end the parameters with **kwargs: openevals passes context=… and more"
        )

    def test_it_scores_the_examples(self, evaluator: Evaluator) -> None:
        """An evaluator that never has a score evaluates nothing."""
        for example in self.examples():
            for result in self._results(evaluator, example.given(), "a plain example"):
                assert result["score"] is not None, f"a plain example has no score: {result['comment']}; see `examples`"

    def test_a_key_is_always_the_same(self, evaluator: Evaluator) -> None:
        """Results are gathered under their key, also those without a score."""
        keys = {self._keys(evaluator, example.given()) for example in (*self.examples(), EvaluatorExample({}, {}))}

        assert len(keys) == 1, f"results have different keys: {sorted(keys)}; use one name for one measure"

    def test_results_are_json(self, evaluator: Evaluator) -> None:
        """They travel to servers and into files."""
        for example in (*self.examples(), EvaluatorExample({}, {})):
            found = self._evaluate(evaluator, example.given(), "an example")
            check_call(
                partial(json.dumps, found, allow_nan=False),
                "writing a result as JSON",
                "put plain numbers, texts, lists and mappings into metadata",
            )

    def test_nothing_to_evaluate_has_no_score(self, evaluator: Evaluator) -> None:
        """What was not measured is no 0: a mean must not move by it."""
        for result in self._results(evaluator, EvaluatorExample({}, {}).given(), "empty inputs and outputs"):
            assert result["score"] is None, f"nothing was scored {result['score']}; the score is None, and the comment says why"

    def test_malformed_data_raises_nothing(self, evaluator: Evaluator) -> None:
        """One bad row must not end a run: it has a result without a score, or one that it earned."""
        right = self.examples()[0]
        for place in ("inputs", "outputs", "reference_outputs"):
            for value in ODD_VALUES:
                given = right.given() | {place: value}
                self._results(evaluator, given, f"{place}={value!r}")

    def test_missing_references_raise_nothing(self, evaluator: Evaluator) -> None:
        """Production has none."""
        for example in self.examples():
            given = {name: value for name, value in example.given().items() if name != "reference_outputs"}
            self._results(evaluator, given, "an example without reference_outputs")

    def test_odd_texts_raise_nothing(self, evaluator: Evaluator) -> None:
        """As question, as answer and as reference."""
        right = self.examples()[0]
        for name, text in {**ODD_TEXTS, **UNENCODABLE}.items():
            for place in ("inputs", "outputs", "reference_outputs"):
                given = right.given() | {place: _fill_texts(getattr(right, place), text)}
                self._results(evaluator, given, f"{name} in {place}")

    def test_unknown_keywords_change_nothing(self, evaluator: Evaluator) -> None:
        """Runners pass more than an evaluator reads."""
        example = self.examples()[0]

        plain = self._evaluate(evaluator, example.given(), "a plain example")
        more = self._evaluate(evaluator, example.given() | {"attachments_of_tomorrow": object()}, "an unknown keyword")

        assert _to_json(plain) == _to_json(more), "an unknown keyword changed the result; leave it unread"

    def test_results_do_not_depend_on_what_came_before(self, evaluator: Evaluator) -> None:
        """Nothing is left on the evaluator: the same example gives the same result, whatever was evaluated in between."""
        first, *others = self.examples()
        before = _to_json(self._evaluate(evaluator, first.given(), "a plain example"))
        again = _to_json(self._evaluate(evaluator, first.given(), "a plain example"))

        for example in (*others, EvaluatorExample({}, {}), EvaluatorExample(None, None)):
            self._evaluate(evaluator, example.given(), "another example")

        assert _to_json(self._evaluate(evaluator, first.given(), "a plain example")) == again == before, (
            "the same example got another result another time; keep no state on the evaluator, seed what samples"
        )

    def test_every_call_has_a_result_of_its_own(self, evaluator: Evaluator) -> None:
        """Who gets a result may add to it."""
        example = self.examples()[0]
        before = _to_json(self._evaluate(evaluator, example.given(), "a plain example"))

        for result in self._results(evaluator, example.given(), "a plain example"):
            result.clear()

        assert _to_json(self._evaluate(evaluator, example.given(), "a plain example")) == before, (
            "a result that its caller changed came back changed; return a new mapping from every call"
        )

    def test_what_it_is_given_stays_as_it_was(self, evaluator: Evaluator) -> None:
        """Other evaluators get the same inputs and outputs next."""
        for example in self.examples():
            given = example.given()
            self._evaluate(evaluator, given, "a plain example")
            assert given == example.given(), "inputs, outputs or reference_outputs were changed; work on copies"

    def test_many_threads_get_what_one_gets(self, evaluator: Evaluator) -> None:
        """Runners evaluate several examples at once, with one evaluator."""
        turns = [self.examples()[turn % len(self.examples())] for turn in range(THREADS)]
        alone = [_to_json(self._evaluate(evaluator, turn.given(), "a plain example")) for turn in turns]

        found = at_once([partial(self._evaluate, evaluator, turn.given(), "many threads") for turn in turns])

        assert [_to_json(each) for each in found] == alone, (
            f"{THREADS} threads got other results than one; keep what belongs to a call in variables, not on the evaluator"
        )

    def test_its_async_form_gives_the_same(self, evaluator: Evaluator) -> None:
        """Two forms, one measure."""
        twin = self.async_twin(evaluator)
        if twin is None:
            reason = "there is no asynchronous form; name it in async_twin"
            raise make_skip(reason)
        for example in (*self.examples(), EvaluatorExample({}, {})):
            found = check_call(partial(_run_awaitable, twin, example.given()), "awaiting it", "return a result")
            assert _to_json(found) == _to_json(self._evaluate(evaluator, example.given(), "an example")), (
                "the asynchronous form gave another result; let one call the other"
            )

    def _evaluate(self, evaluator: Evaluator, given: Mapping[str, Any], about: str) -> Any:
        advice = "return a result with score=None and a comment that says why"
        return check_call(lambda: evaluator(**given), f"evaluating {about}", advice)

    def _results(self, evaluator: Evaluator, given: Mapping[str, Any], about: str) -> list[dict[str, Any]]:
        found = self._evaluate(evaluator, given, about)
        results = list(_each_of(found))
        assert results, f"there is no result for {about}; return one without a score"
        for result in results:
            self._check(result, about)
        return results

    def _check(self, result: Any, about: str) -> None:
        assert isinstance(result, dict), f"a result is a {type(result).__name__} for {about}; return a dict"
        for key in _KEYS:
            assert key in result, f"a result has no {key!r} for {about}; return {', '.join(_KEYS)}"
        unknown = [key for key in result if key not in _ALLOWED]
        assert not unknown, f"LangSmith refuses results with {unknown}; put it into metadata"
        assert isinstance(result["key"], str), f"the key is {result['key']!r} for {about}; return the measure's name"
        assert result["key"].strip(), f"the key is blank for {about}; return the measure's name"
        score, comment = result["score"], result["comment"]
        assert score is not None or (isinstance(comment, str) and comment.strip()), (
            f"there is no score and no comment for {about}; say in the comment why there is none"
        )
        assert score is None or isinstance(score, bool | int | float), (
            f"the score is {score!r} for {about}; return a number or None"
        )
        assert score is None or self.lowest <= score <= self.highest, (
            f"the score {score} is outside [{self.lowest:g}, {self.highest:g}] for {about}; NaN is None with a comment"
        )

    def _keys(self, evaluator: Evaluator, given: Mapping[str, Any]) -> tuple[str, ...]:
        return tuple(result["key"] for result in self._results(evaluator, given, "an example"))


_ANY_NUMBER = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)


def _each_of(found: Any) -> Iterator[Any]:
    if isinstance(found, Mapping) and "results" in found:
        found = found["results"]
    yield from found if isinstance(found, list | tuple) else (found,)


def _fill_texts(value: Any, text: str) -> Any:
    """Put a text in the place of every text."""
    if isinstance(value, Mapping):
        return {key: _fill_texts(each, text) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_fill_texts(each, text) for each in value]
    return text if isinstance(value, str) else value


def _to_json(found: Any) -> str:
    return json.dumps(found, sort_keys=True, default=repr)


def _run_awaitable(twin: Callable[..., Awaitable[Any]], given: Mapping[str, Any]) -> Any:
    async def awaited() -> Any:
        return await twin(**given)

    return asyncio.run(awaited())
