import copy
import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from rag_cover.errors import InputError
from rag_cover.questions import Passage, Question, SubQuestion
from rag_cover.traces import RetrievalStep, Sample, Trace, assign_ids, content_of

A, B, C, D = (Passage(name) for name in "abcd")


def _texts(passages: tuple[Passage, ...]) -> str:
    return "".join(passage.text for passage in passages)


def _trace(*steps: RetrievalStep, **fields: object) -> Trace:
    return Trace.model_validate({"question": "Why?", "steps": steps, **fields})


def test_the_smallest_line_is_a_question_and_an_answer() -> None:
    trace = Trace.model_validate_json('{"question": "Why?", "answer": "Because."}')

    assert trace.question == Question("Why?")
    assert trace.steps == ()
    assert trace.effective_prompt == (None, False)


def test_an_unknown_field_is_refused_with_the_nearest_known_name() -> None:
    with pytest.raises(ValidationError, match="unknown field 'anser' of Trace. Did you mean 'answer'"):
        Trace.model_validate({"question": "Why?", "anser": "Because."})


def test_an_unknown_field_of_a_nested_value_is_refused_too() -> None:
    with pytest.raises(ValidationError, match="unknown field 'txt' of Passage"):
        _trace(prompt=[{"txt": "a"}])


def test_a_newer_schema_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"has schema 3, and this version of rag-cover reads schemas 1 to 2; upgrade it"):
        Trace.model_validate({"schema": 3, "question": "Why?"})


@pytest.mark.parametrize("schema", [0, -1, True, "1", 1.5, None, [1]])
def test_what_is_no_schema_is_refused(schema: object) -> None:
    with pytest.raises(ValidationError, match="is no schema of traces; write 2, or leave the field out"):
        Trace.model_validate({"schema": schema, "question": "Why?"})


def test_steps_without_ids_are_numbered_around_those_that_have_them() -> None:
    trace = _trace(RetrievalStep(passages=(A,)), RetrievalStep(id="step-1", passages=(B,)), RetrievalStep(passages=(C,)))

    assert [step.id for step in trace.steps] == ["step-1'", "step-1", "step-3"]


def test_a_retrieval_adds_to_the_context_and_a_rerank_replaces_its_inputs() -> None:
    trace = _trace(
        RetrievalStep(id="one", passages=(A, B)),
        RetrievalStep(id="two", passages=(C,)),
        RetrievalStep(id="rerank", kind="rerank", input_ids=("one",), passages=(B,)),
    )

    assert [_texts(context) for context in trace.contexts()] == ["ab", "abc", "cb"]
    assert _texts(trace.chunks) == "abc"


def test_a_rerank_without_input_ids_replaces_everything_before_it() -> None:
    trace = _trace(RetrievalStep(passages=(A, B)), RetrievalStep(passages=(C,)), RetrievalStep(kind="filter", passages=(C, A)))

    assert _texts(trace.contexts()[-1]) == "ca"


def test_a_second_rerank_of_a_retrieval_also_replaces_what_the_first_made_of_it() -> None:
    trace = _trace(
        RetrievalStep(id="one", passages=(A, B)),
        RetrievalStep(id="first", kind="rerank", input_ids=("one",), passages=(B, A)),
        RetrievalStep(id="second", kind="rerank", input_ids=("one",), passages=(A,)),
    )

    assert _texts(trace.contexts()[-1]) == "a"


def test_the_unknown_prompt_is_assumed_to_be_the_last_context() -> None:
    assumed = _trace(RetrievalStep(passages=(A, B)))
    known = _trace(RetrievalStep(passages=(A, B)), prompt=(B,))

    assert assumed.effective_prompt == ((A, B), True)
    assert known.effective_prompt == ((B,), False)


def test_an_input_id_must_name_an_earlier_step() -> None:
    with pytest.raises(ValidationError, match="no earlier step is called 'later'"):
        _trace(RetrievalStep(kind="rerank", input_ids=("later",)), RetrievalStep(id="later"))


def test_a_log_probability_above_zero_or_nan_is_refused_and_minus_infinity_is_kept() -> None:
    assert Sample("x", token_logprobs=(-math.inf,)).token_logprobs == (-math.inf,)
    for wrong in (0.1, math.nan):
        with pytest.raises(ValidationError, match=r"token_logprobs\[0\]"):
            Sample("x", token_logprobs=(wrong,))


def test_equal_traces_hash_alike_and_metadata_is_read_only() -> None:
    one, same = (_trace(RetrievalStep(passages=(A,)), metadata={"user": {"id": 1}}) for _ in range(2))

    assert one == same
    assert hash(one) == hash(same)
    with pytest.raises(TypeError):
        one.metadata["user"] = 2  # type: ignore[index]


def test_traces_without_ids_are_named_by_content_with_an_ordinal_for_repeats() -> None:
    first, again, other = assign_ids([_trace(), _trace(), _trace(answer="x")])

    assert again.id == f"{first.id}-2"
    assert other.id not in (first.id, again.id)


def test_a_repeated_explicit_id_is_an_error() -> None:
    with pytest.raises(InputError, match="duplicate trace id 'x'"):
        list(assign_ids([_trace(id="x"), _trace(id="x")]))


def test_a_blank_question_or_sub_question_is_refused() -> None:
    for value in (Question, SubQuestion):
        with pytest.raises(ValidationError, match="blank"):
            value("  ")


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip), st.text(), st.floats(-1e6, 1e6))
def test_a_trace_survives_its_own_json(question: str, passage: str, score: float) -> None:
    passage = passage.encode("utf-8", "replace").decode()
    trace = _trace(RetrievalStep(passages=(Passage(passage, score=score),)), question=question, sub_questions=[question])

    assert Trace.model_validate_json(trace.to_json()) == trace


def test_a_trace_travels_between_processes() -> None:
    trace = _trace(RetrievalStep(passages=(Passage("a", metadata={"page": 3}),)), metadata={"user": 1})

    assert pickle.loads(pickle.dumps(trace)) == trace  # noqa: S301  # our own bytes
    assert copy.deepcopy(trace) == trace


def test_metadata_is_finite_json() -> None:
    for wrong in (math.nan, object()):
        with pytest.raises(ValidationError):
            Passage("a", metadata={"x": wrong})


@pytest.mark.parametrize("source", ["given", "rules", "embedded", "model", "model:openai:gpt-4.1-mini"])
def test_who_gave_a_role_is_kept(source: str) -> None:
    read = SubQuestion.model_validate({"text": "Why?", "role": "core", "role_source": source})

    assert read.role_source == source


@pytest.mark.parametrize("source", ["", "me", "model:", "rules:mine"])
def test_a_source_that_is_none_is_refused(source: str) -> None:
    with pytest.raises(ValidationError, match="is no source of a role or an importance; there are given, rules"):
        SubQuestion("Why?", role="core", role_source=source)


@pytest.mark.parametrize("write", [content_of, Trace.to_dict])
def test_an_interrupt_while_a_trace_is_written_stays_an_interrupt(monkeypatch: pytest.MonkeyPatch, write: object) -> None:
    def interrupted(*_: object, **__: object) -> str:
        message = "Error serializing to JSON: KeyboardInterrupt: "  # as pydantic passes it on
        raise PydanticSerializationError(message)

    monkeypatch.setattr(Trace, "model_dump_json", interrupted)

    with pytest.raises(KeyboardInterrupt):
        write(Trace(question=Question("Is it?")))  # type: ignore[operator]
