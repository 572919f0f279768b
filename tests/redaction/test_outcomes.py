from __future__ import annotations

import json
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_cover import Evaluation, Models, Passage, Question, RetrievalStep, Sample, SampleSet, SubQuestion, Trace, evaluate
from rag_cover.backends import Failure, ScoringItem, TokenRelevance
from rag_cover.demo import trace_paths
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.evaluation.comparison import compare
from rag_cover.llm_calls import LLMCall
from rag_cover.measures import NotApplicable, TraceResult
from rag_cover.nuggets import Fragment, Importance, Nugget, NuggetSource
from rag_cover.placeholder import Placeholder
from rag_cover.redaction import Redaction, redact_result
from rag_cover.stores import read_traces
from rag_cover.studies import study_components
from rag_cover.testing import KeywordEntailer, KeywordLocator, KeywordScorer, ScriptedReceiver

BY = Redaction(b"a key of thirty-two bytes or so.")
WAYS: tuple[bool | Redaction, ...] = (False, BY)
STAND_IN = re.compile(r"\[text redacted [^]]*\]|redacted-[0-9a-f]{24}")


@dataclass(frozen=True)
class Moody(KeywordScorer):
    """Judges by words, until a text says that it breaks."""

    def correctness(self, items: Sequence[ScoringItem]) -> Any:
        for item in items:
            if "earthquake" in item.text:
                message = f"cannot read {item.text!r}"
                raise ModelFailedError(message, raw=item.text)
        return super().correctness(items)


@dataclass(frozen=True)
class ByWord:
    """Finds texts to be about the words of a question that they hold."""

    def token_relevance(self, question: str, texts: Sequence[str]) -> TokenRelevance:
        words = tuple(question.split())
        return TokenRelevance(words, np.array([[float(word in text) for word in words] for text in texts]))


MODELS = Models(
    judge=Moody(),
    locator=KeywordLocator(),
    relevance=ByWord(),
    entailer=KeywordEntailer(),
    receiver=ScriptedReceiver({"blue": ("it is blue", "", "light"), "red": ("Red",)}, prior=("nobody knows", " ")),
)

words = st.sampled_from(
    ["sky", "Sky", "is", "blue", "red", "light", "earthquake", "air", "more", "than", "and", "before", "ﬁne", "."]
)
texts = st.lists(words, max_size=7).map(" ".join)
asked = texts.filter(str.strip)
ids = st.none() | st.sampled_from(["erika@example.org", "report.pdf", "", "7"])
json_values = st.recursive(st.none() | st.booleans() | st.integers(0, 9) | texts, lambda inner: st.lists(inner, max_size=2))
passages = st.builds(Passage, texts, id=ids, title=st.none() | texts, score=st.none() | st.floats(0, 1))
named = st.sampled_from(["erika@example.org", "report.pdf", "7"])
sources = st.builds(
    NuggetSource,
    kind=st.sampled_from(["passage", "answer"]),
    id=named,
    fragments=st.lists(st.builds(Fragment, asked, start=st.none() | st.integers(0, 9)), max_size=2).map(tuple),
)
nuggets = st.builds(
    Nugget,
    asked,
    id=ids,
    importance=st.none() | st.sampled_from(Importance),
    question=st.none() | asked,
    sources=st.lists(sources, max_size=2).map(tuple),
    metadata=st.dictionaries(st.sampled_from(["topic", "Why is it?"]), json_values, max_size=1),
)
calls = st.builds(
    LLMCall,
    id=ids,
    model=st.none() | st.just("gpt"),
    engine=ids,
    parent_id=ids,
    passages=st.none() | st.lists(named | texts.map("text:\n{}".format), max_size=2).map(tuple),
    input=st.none() | texts,
    output=st.none() | texts,
    prompt_tokens=st.none() | st.integers(0, 9),
    error=st.none() | texts,
    metadata=st.dictionaries(st.sampled_from(["session", "Why is it?"]), json_values, max_size=1),
)
metadata = st.dictionaries(st.sampled_from(["query_type", "retriever", "customer", "Why is it?"]), json_values, max_size=3)


@st.composite
def traces(draw: st.DrawFn) -> Trace:
    names = draw(
        st.lists(st.sampled_from(["", "bm25", "step-1", "erika@example.org"]), max_size=3, unique_by=lambda n: n or id(n))
    )
    kinds = st.sampled_from(["retrieve", "tool", "rerank", "fuse"])
    few = st.lists(passages, max_size=3).map(tuple)
    steps = tuple(
        RetrievalStep(id=name, kind=draw(kinds), query=draw(texts), passages=draw(few), error=draw(st.none() | texts))
        for name in names
    )
    return Trace(
        question=Question(draw(asked), id=draw(ids), references=draw(st.lists(texts, max_size=2))),
        steps=steps,
        prompt=draw(st.none() | few),
        answer=draw(st.none() | texts),
        sub_questions=draw(st.none() | st.lists(st.builds(SubQuestion, asked, role=st.sampled_from(["core", "background"])))),
        nuggets=draw(st.none() | st.lists(nuggets, max_size=2).map(tuple)),
        calls=draw(st.none() | st.lists(calls, max_size=2).map(tuple)),
        pipeline=draw(st.none() | st.sampled_from(["narrow", "broad"])),
        tags=draw(st.lists(named, max_size=2).map(tuple)),
        thread_id=draw(st.none() | named),
        user_id=draw(st.none() | named),
        metadata=draw(metadata),
    )


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(traces(), min_size=1, max_size=5))
def test_redacted_results_have_the_same_numbers(asked_about: list[Trace]) -> None:
    plain = evaluate(asked_about, models=MODELS, workers=1)
    redacted = evaluate(asked_about, models=MODELS, workers=1, redact=BY)

    assert_alike([result.to_dict() for result in plain.results], [result.to_dict() for result in redacted.results])
    assert_alike(asdict(plain.summary()), asdict(redacted.summary()))
    assert not [text for result in redacted.results for text in texts_in(result.to_dict()) if "sky" in text or "@" in text]


@pytest.mark.slow
def test_comparisons_and_studies_of_redacted_results_have_the_same_figures() -> None:
    samples = [_sampled(trace) for path in trace_paths() for trace in read_traces(path)]
    sides = [[trace for trace in samples if trace.pipeline == name] for name in ("narrow", "forgetful")]

    plain, redacted = ([evaluate(side, models=MODELS, redact=way) for side in sides] for way in WAYS)

    assert_alike(asdict(compare(*plain)), asdict(compare(*redacted)))
    studies = (study_components([result for each in side for result in each.results]) for side in (plain, redacted))
    assert_alike(*(study.to_dict() for study in studies))


@pytest.mark.slow
def test_the_report_of_redacted_results_has_the_same_numbers_and_no_text(tmp_path: Path) -> None:
    asked_about = [_without_digits(_sampled(trace)) for trace in read_traces(trace_paths()[0])]
    numbers = []
    for number, way in enumerate(WAYS):
        page = tmp_path / f"{number}.html"
        evaluate(asked_about, models=MODELS, redact=way).to_html(page)
        numbers.append(sorted(re.findall(r"\d+(?:\.\d+)?", STAND_IN.sub("", re.sub(r"word \d+", "", _shown(page))))))

    assert numbers[0] == numbers[1]
    page_text = (tmp_path / "1.html").read_text(encoding="utf-8")
    assert not [
        text for trace in asked_about for text in texts_in(trace.to_dict()["steps"]) if len(text) > 12 and text in page_text
    ]
    assert "text redacted" in page_text


def test_a_redacted_result_is_read_back_from_its_store(tmp_path: Path) -> None:
    kept = evaluate([_sampled(next(read_traces(trace_paths()[0])))], models=MODELS, store=tmp_path / "s.sqlite", redact=BY)

    assert [each.to_dict() for each in Evaluation.open(tmp_path / "s.sqlite").results] == [r.to_dict() for r in kept.results]


def test_samples_stay_with_the_passages_that_they_are_of() -> None:
    step = RetrievalStep(id="bm25", passages=(Passage("sky", id="report.pdf"),))
    drawn = [
        SampleSet(receiver="a model", context="none", samples=(Sample("no", token_logprobs=(-0.5,)),)),
        SampleSet(receiver="a model", context="without", step="bm25", passage="id:report.pdf", samples=(Sample("blue"),)),
    ]
    result = TraceResult(Trace(question="Why?", steps=(step,), samples=drawn))

    redacted = redact_result(result, BY).trace

    assert redacted.samples[1].step == redacted.steps[0].id
    assert redacted.samples[1].passage == redacted.steps[0].passages[0].key
    assert redacted.samples[0].samples[0].token_logprobs == (-0.5,)


def test_what_tells_groups_apart_is_found_under_its_name() -> None:
    trace = Trace(
        question="Why?",
        metadata={"query_type": "bridge", "retriever": {"bm25": "Lucene"}, "tenant": {"k": 5, "name": "Erika"}},
        steps=(RetrievalStep(id="bm25"),),
    )

    redacted = redact_result(TraceResult(trace), Redaction(names=("tenant", "k"))).trace

    assert redacted.metadata["query_type"] == Redaction().identifier("bridge")
    assert redacted.metadata["retriever"] == {redacted.steps[0].id: Redaction().identifier("Lucene")}
    assert redacted.metadata["tenant"]["k"] == 5
    assert "Erika" not in redacted.to_json()


def test_a_token_tells_nothing_of_the_question_by_itself() -> None:
    one, other = (
        evaluate(
            [Trace(question=text, steps=(RetrievalStep(passages=(Passage("sky"),)),))], models=MODELS, redact=True
        ).results[0]
        for text in ("why is sky blue", "why not")
    )

    assert one.complexity is not None
    assert other.complexity is not None
    assert len(one.complexity.tokens) == 4
    assert not set(one.complexity.tokens) & {*other.complexity.tokens, Redaction().identifier("why")}


def test_reasons_stay_only_where_they_are_known_to_quote_nothing() -> None:
    result = TraceResult(Trace(question="Why?"), {"ours": NotApplicable("it lacks steps"), "theirs": NotApplicable("Erika?")})

    redacted = redact_result(result, BY, plain_reasons=["ours"])

    assert redacted.outcomes["ours"] == NotApplicable("it lacks steps")
    assert "Erika" not in str(redacted.outcomes["theirs"])


def test_a_failure_keeps_its_kind_and_its_attempts() -> None:
    result = TraceResult(Trace(question="Why?"), {"coverage": Failure("malformed", "not JSON: Erika", 3, raw="Erika")})

    failure = redact_result(result, BY).failures["coverage"]

    assert (failure.kind, failure.attempts) == ("malformed", 3)
    assert Placeholder.read(failure.message)
    assert Placeholder.read(failure.raw or "")


def test_an_outcome_that_is_not_known_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="'theirs' cannot be redacted: dict is no dataclass"):
        redact_result(TraceResult(Trace(question="Why?"), {"theirs": {"quote": "Erika"}}), BY)  # type: ignore[dict-item]


def test_what_is_redacted_is_not_measured_again() -> None:
    redacted = evaluate([Trace(question="why", answer="sky")], models=MODELS, redact=BY).results[0].trace

    outcomes = evaluate([redacted, Trace(question="why", answer="why")], models=MODELS).results

    assert all("are redacted" in each.reason for each in outcomes[0].outcomes.values() if isinstance(each, NotApplicable))
    assert outcomes[0].coverage is None
    assert outcomes[1].coverage is not None


def assert_alike(one: Any, other: Any) -> None:
    """Hold that two values differ in texts alone, and that these are redacted."""
    match one:
        case Mapping():
            assert len(one) == len(other)
            for (name, value), (other_name, other_value) in zip(one.items(), other.items(), strict=True):
                assert_alike(name, other_name)
                assert_alike(value, other_value)
        case list() | tuple():
            assert len(one) == len(other)
            for value, other_value in zip(one, other, strict=True):
                assert_alike(value, other_value)
        case str():
            assert one == other or STAND_IN.search(other)
        case _:
            assert one == other


def texts_in(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for name, item in value.items():
                yield from (name, *texts_in(item))
        case list() | tuple():
            for item in value:
                yield from texts_in(item)


def _sampled(trace: Trace) -> Trace:
    """Give a trace references, so that all can be measured."""
    return trace.model_copy(update={"question": trace.question.model_copy(update={"references": ("it is blue light",)})})


def _without_digits(trace: Trace) -> Trace:
    """Take the digits out of a trace's texts, and cut them short enough to be shown whole."""
    text = json.dumps(trace.to_dict())
    data = json.loads(text, object_hook=_lettered)
    return Trace.model_validate(data)


def _lettered(data: dict[str, Any]) -> dict[str, Any]:
    letters = str.maketrans(string.digits, "abcdefghij")
    return {
        name: value.translate(letters)[:400] if isinstance(value, str) and not name.endswith("_at") else value
        for name, value in data.items()
    }


def _shown(page: Path) -> str:
    """Return what a page shows, without its markup."""
    body = page.read_text(encoding="utf-8").partition("</style>")[2].partition("<script")[0]
    return unescape(re.sub(r"<[^>]*>", " ", body))
