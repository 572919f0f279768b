"""What a RAG pipeline did with one question: its retrieval steps, its prompt, its answer.

Traces are produced by adapters and importers and read by measures. One trace is one line of a JSONL file; the smallest is
``{"question": "…", "answer": "…"}``.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from pydantic import AwareDatetime, ConfigDict, Field, NaiveDatetime, field_validator, model_validator
from pydantic_core import PydanticSerializationError

from rag_cover.errors import InputError
from rag_cover.llm_calls import LLMCall
from rag_cover.notebook_views import show_in_notebook
from rag_cover.nuggets import Fragment, Nugget
from rag_cover.questions import Metadata, NotBlank, Passage, Question, ReadOnly, SubQuestion, Tags, Textual, Value
from rag_cover.short_forms import quote
from rag_cover.spill import SpillingDict

__all__ = [
    "SCHEMA",
    "Identities",
    "RetrievalStep",
    "Sample",
    "SampleSet",
    "StepKind",
    "Trace",
    "assign_ids",
    "content_hash",
    "content_of",
    "describe_pipeline_failure",
    "distinct",
    "name_of",
    "trace_schema",
]

SCHEMA = 2
"""The version written on every line of a trace file; those of versions before it are read as well."""

StepKind = Literal["retrieve", "tool", "rerank", "filter", "fuse"]

_UNMEASURED: dict[str, Any] = {
    **dict.fromkeys(("tags", "thread_id", "user_id"), True),
    "calls": {"__all__": {"started_at", "latency_s"}},
}
"""The fields that no result depends on (`content_of`)."""

_PLACES = dict.fromkeys(
    ("reference", "references", "expected_answer", "ground_truth", "ground_truths", "gold_answer", "gold_answers"),
    ' Gold answers belong to the question: {"question": {"text": "…", "references": ["…"]}}.',
) | dict.fromkeys(
    ("context", "contexts", "passages", "retrieved_contexts"),
    ' Retrieved passages belong to a step: {"steps": [{"passages": ["…"]}]}.',
)
"""Where what others call so stands in a trace."""

_TOLERANCE = 1e-6  # servers round log-probabilities of certain tokens to a hair above 0


class RetrievalStep(Value):
    """One step that changed what the generator may see.

    ``input_ids`` names the steps whose output a rerank, filter or fuse step consumed; ``parent_id`` is nesting only.
    """

    query: str = ""
    passages: tuple[Passage, ...] = ()
    kind: StepKind = "retrieve"
    id: str = ""
    input_ids: tuple[str, ...] = ()
    parent_id: str | None = None
    started_at: AwareDatetime | NaiveDatetime | None = None
    duration_s: Annotated[float, Field(ge=0)] | None = None
    error: str | None = None

    @property
    def replaces(self) -> bool:
        """Return whether the step's passages stand in place of its inputs' (rerank, filter, fuse)."""
        return self.kind in ("rerank", "filter", "fuse")


class Sample(Textual):
    """One sampled answer, with the log-probability of each of its tokens where the server gives them."""

    model_config = ConfigDict(allow_inf_nan=True)

    token_logprobs: tuple[float, ...] | None = None
    finish_reason: Literal["stop", "length", "filter"] | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            text: str,
            *,
            token_logprobs: Sequence[float] | None = None,
            finish_reason: Literal["stop", "length", "filter"] | None = None,
        ) -> None: ...

    @field_validator("token_logprobs")
    @classmethod
    def _logprobs(cls, values: tuple[float, ...] | None) -> tuple[float, ...] | None:
        for position, value in enumerate(values or ()):
            if math.isnan(value) or value > _TOLERANCE:
                msg = f"token_logprobs[{position}] is {value}; a log-probability is at most 0 (-inf is allowed, NaN is not)"
                raise ValueError(msg)
        return values


class SampleSet(Value):
    """Answers sampled from one receiver in one context of a trace, so that belief can be measured without the receiver."""

    receiver: str
    context: Literal["none", "after", "alone", "without"]
    step: str | None = None
    passage: str | None = None
    samples: tuple[Sample, ...]


class Trace(Value):
    """One question's way through a pipeline. ``prompt`` is what the answer was written from, where that is known.

    ``calls`` are those of language models, None where they were not recorded. No result depends on ``tags``, ``thread_id`` (the
    conversation) and ``user_id`` (who asked; recorded and imported only where that is asked for). docs/trace_schema.md has
    every field.
    """

    misplaced: ClassVar[Mapping[str, str]] = _PLACES

    question: Question
    id: str | None = None
    steps: tuple[RetrievalStep, ...] = ()
    prompt: tuple[Passage, ...] | None = None
    answer: str | None = None
    sub_questions: tuple[SubQuestion, ...] | None = None
    nuggets: tuple[Nugget, ...] | None = None
    samples: tuple[SampleSet, ...] = ()
    calls: tuple[LLMCall, ...] | None = None
    pipeline: str | None = None
    tags: Tags = ()
    thread_id: NotBlank | None = None
    user_id: NotBlank | None = None
    metadata: Metadata = Field(default_factory=ReadOnly)

    def __repr__(self) -> str:
        """Return a short form: the question, the answer, how many steps and passages; `model_dump` has all."""
        passages = sum(len(step.passages) for step in self.steps)
        about = f"{quote(self.question.text)}, answer={quote(self.answer)}, steps={len(self.steps)}, passages={passages}"
        named = "".join(f", {name}={quote(value)}" for name in ("id", "pipeline") if (value := getattr(self, name)))
        return f"Trace({about}{named})"

    __str__ = __repr__

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return show_in_notebook(self)

    @model_validator(mode="before")
    @classmethod
    def _schema(cls, data: object) -> object:
        if isinstance(data, dict) and "schema" in data:
            data = dict(data)
            _refuse_unread(data.pop("schema"))
        return data

    @model_validator(mode="after")
    def _steps_have_ids(self) -> Self:
        taken = [step.id for step in self.steps if step.id]
        if duplicates := [step_id for step_id, count in Counter(taken).items() if count > 1]:
            msg = f"steps: duplicate step id {min(duplicates)!r}; every step of a trace needs its own"
            raise ValueError(msg)
        if len(taken) < len(self.steps):
            names = frozenset(taken)
            named = tuple(_name(step, number, names) for number, step in enumerate(self.steps, 1))
            object.__setattr__(self, "steps", named)
        known: set[str] = set()
        for position, step in enumerate(self.steps):
            if missing := [step_id for step_id in step.input_ids if step_id not in known]:
                msg = f"steps[{position}].input_ids: no earlier step is called {missing[0]!r}"
                raise ValueError(msg)
            known.add(step.id)
        return self

    def contexts(self) -> tuple[tuple[Passage, ...], ...]:
        """List what the generator could see after each step.

        A retrieve or tool step adds its passages; a rerank, filter or fuse step replaces those of its inputs (of every step
        before it, where ``input_ids`` is empty) by its own.
        """
        return tuple(distinct(chain.from_iterable(live.values())) for live in self._live())

    def _live(self) -> Iterator[Mapping[str, tuple[Passage, ...]]]:
        """Yield, after each step, the steps whose passages the generator could see, with these; the next step changes it."""
        live: dict[str, tuple[Passage, ...]] = {}
        for step in self.steps:
            if step.replaces and not step.input_ids:
                live.clear()
            elif step.replaces:
                for consumed in {*step.input_ids, *_descendants(self.steps, set(step.input_ids))}:
                    live.pop(consumed, None)
            live[step.id] = step.passages
            yield live

    @property
    def chunks(self) -> tuple[Passage, ...]:
        """List the distinct passages of all retrieve and tool steps: the chunks of the coverage metrics."""
        return distinct(passage for step in self.steps if not step.replaces for passage in step.passages)

    @property
    def effective_prompt(self) -> tuple[tuple[Passage, ...] | None, bool]:
        """Return the prompt's passages and whether they are assumed: the last context, where the prompt is unknown.

        Nothing is assumed of an answer that no recorded call of a model wrote (``calls`` is empty): it may be from anything.
        """
        if self.prompt is not None:
            return self.prompt, False
        if self.calls == () and self.answer is not None:
            return None, False
        last = deque(self._live(), maxlen=1)  # not by way of `contexts`: to write all of them takes a square of the steps
        return (distinct(chain.from_iterable(last[0].values())), True) if last else (None, False)

    def to_json(self) -> str:
        """Write the trace as one line of a trace file."""
        return f'{{"schema":{SCHEMA},{self.model_dump_json(exclude_defaults=True)[1:]}'  # there is always a question

    def to_dict(self) -> dict[str, Any]:
        """Write the trace as JSON data, without the fields that hold their defaults."""
        return _to_json_data(self)


def content_of(trace: Trace) -> dict[str, Any]:
    """Write as JSON data what results depend on: all of a trace but its tags, its thread, its user, and the times of its calls.

    What has no id is named by it, and a resumed run measures again where it has changed. The fields of schema 1 all count, so
    that traces keep the names that they had.
    """
    return _to_json_data(trace, exclude=_UNMEASURED)


def _to_json_data(trace: Trace, exclude: Any = None) -> dict[str, Any]:
    """Write a trace as JSON data, without the fields that hold their defaults."""
    try:
        return dict(json.loads(trace.model_dump_json(exclude_defaults=True, exclude=exclude)))
    except PydanticSerializationError as error:
        if "KeyboardInterrupt" in str(error):  # pydantic takes an interrupt for an error of what it writes
            raise KeyboardInterrupt from error
        raise


def content_hash(value: object) -> str:
    """Hash JSON data: sha256 of its canonical form (sorted keys, no spaces), in hex."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def distinct(passages: Iterable[Passage]) -> tuple[Passage, ...]:
    """Keep the first of each passage; passages are the same by id, else by title and text."""
    found: dict[str, Passage] = {}
    for passage in passages:
        found.setdefault(passage.key, passage)
    return tuple(found.values())


def describe_pipeline_failure(trace: Trace) -> str | None:
    """Say that a pipeline failed on a question, by the kind of its error; None where it gave an answer or no error is known.

    The error's own words stay in ``metadata["error"]``: they may hold texts that are to be redacted.

    >>> describe_pipeline_failure(Trace(question="Why?", metadata={"error": "ValueError: no key"}))
    'the pipeline failed (ValueError) and gave no answer'
    """
    error = trace.metadata.get("error")
    if trace.answer is not None or error is None:
        return None
    kind = re.match(r"[\w.]+(?=:|$)", error) if isinstance(error, str) else None
    return f"the pipeline failed{f' ({kind[0]})' if kind else ''} and gave no answer"


class Identities:
    """Tells the traces of one run apart: no id is given out twice."""

    def __init__(self) -> None:
        self._times: SpillingDict[int] = SpillingDict()

    def claim(self, own: str) -> str:
        """Return a trace's own id.

        Raises:
            InputError: another trace has it.
        """
        if self._times.get(own) is not None:
            problem = f"duplicate trace id {own!r}; ids must be unique, or left out"
            raise InputError(problem, field="$.id")
        self._times[own] = 1
        return own

    def give(self, name: str) -> str:
        """Return the id of a trace that has none of its own: its content's name, numbered from the second of that name on."""
        self._times[name] = times = (self._times.get(name) or 0) + 1
        return name if times == 1 else f"{name}-{times}"


def name_of(trace: Trace) -> str:
    """Name a trace by its content (`content_of`)."""
    return content_hash(content_of(trace))[:16]


def assign_ids(traces: Iterable[Trace]) -> Iterator[Trace]:
    """Give every trace an id: its own, else its content hash, with an ordinal where identical traces repeat.

    Raises:
        InputError: two traces carry the same explicit id.
    """
    identities = Identities()
    for trace in traces:
        if trace.id is not None:
            identities.claim(trace.id)
            yield trace
        else:
            yield trace.model_copy(update={"id": identities.give(name_of(trace))})


def trace_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a trace, a line of a trace file; ``version`` is that of `SCHEMA`."""
    written = Trace.model_json_schema(by_alias=True)
    for kind in (Question, Passage, SubQuestion, Nugget, Fragment, Sample):  # a text alone stands for each of them
        written["$defs"][kind.__name__] = {"anyOf": [{"type": "string"}, written["$defs"][kind.__name__]]}
    written["properties"]["schema"] = {"enum": [*range(1, SCHEMA + 1)]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "version": SCHEMA, **written, "title": "rag_cover trace"}


def _refuse_unread(schema: object) -> None:
    if isinstance(schema, int) and schema > SCHEMA:
        msg = (
            f"this trace has schema {schema}, and this version of rag-cover reads schemas 1 to {SCHEMA}; "
            "upgrade it: pip install --upgrade rag-cover"
        )
        raise ValueError(msg)
    if schema not in range(1, SCHEMA + 1) or isinstance(schema, bool | float):
        msg = f"{schema!r} is no schema of traces; write {SCHEMA}, or leave the field out"
        raise ValueError(msg)


def _name(step: RetrievalStep, number: int, taken: AbstractSet[str]) -> RetrievalStep:
    name = f"step-{number}"
    while name in taken and not step.id:
        name += "'"
    return step if step.id else step.model_copy(update={"id": name})


def _descendants(steps: tuple[RetrievalStep, ...], consumed: set[str]) -> set[str]:
    """Steps that already replaced a consumed one: consuming a retrieval consumes what a reranker made of it."""
    found: set[str] = set()
    for step in steps:
        if step.replaces and set(step.input_ids) & (consumed | found):
            found.add(step.id)
    return found
