"""A language model splits and types; whatever it writes, a run goes on and nothing but a question becomes a sub-question."""

import json
import pickle
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.backends import Failure, Generation
from rag_cover.coverage import DecompositionPrompts, GeneratedDecomposer, decompose
from rag_cover.decomposition.deduplication import plain_wording
from rag_cover.english.lexicon import MARKS
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.llm.session import LLMSession
from rag_cover.questions import Question, Role
from rag_cover.testing import ScriptedGenerator

WHY = Question("Why is the sky blue?")
SUBS = ["What is light?", "How does air scatter light?", "What colour is the sky on Mars?"]
SPLIT = json.dumps({"sub_questions": SUBS})
TYPED = json.dumps(
    {"types": [{"number": 1, "type": "background"}, {"number": 2, "type": "core"}, {"number": 3, "type": "follow-up"}]}
)
GOOD = {"purpose: decompose": SPLIT, "purpose: type": TYPED}
AGAIN = "could not be used"


@dataclass
class Shelf:
    """A cache of answers in memory."""

    answers: dict[str, bytes] = field(default_factory=dict)

    def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        return {key: self.answers[key] for key in keys if key in self.answers}

    def put(self, answers: Mapping[str, bytes]) -> None:
        self.answers |= {key: answer for key, answer in answers.items() if key not in self.answers}


def scripted(**changes: str | Failure) -> ScriptedGenerator:
    """Script a model that does well but for what is changed; an asking-again comes before the first asking."""
    names = {"again": AGAIN, "split": "purpose: decompose", "types": "purpose: type"}
    changed = {names[name]: reply for name, reply in changes.items()}
    first = {key: changed.pop(key) for key in (AGAIN,) if key in changed}
    return ScriptedGenerator({**first, **GOOD, **changed})


def failure_of(decomposer: GeneratedDecomposer) -> Failure:
    (found,) = decomposer.split([WHY])
    assert isinstance(found, Failure)
    return found


def test_a_question_is_split_and_typed_in_two_calls() -> None:
    generator = scripted()

    found = GeneratedDecomposer(generator)(WHY)

    assert [(sub.text, sub.role) for sub in found] == list(zip(SUBS, (Role.BACKGROUND, Role.CORE, Role.FOLLOW_UP), strict=True))
    assert {sub.role_source for sub in found} == {f"model:{generator.name}"}
    assert generator.asked.calls == 2


def test_many_questions_take_two_calls_and_each_is_asked_once() -> None:
    generator = scripted()

    found = GeneratedDecomposer(generator).split([WHY, Question("Why do cats purr?"), WHY])

    assert found[0] == found[2]
    assert (generator.asked.calls, generator.asked.items) == (2, 4)


def test_a_model_s_order_is_kept_and_repetitions_are_left_out() -> None:
    generator = scripted(split='["What is light?", "Why?", "what is the light", "How far?"]', types="1. core\n2. core\n3. core")

    found = GeneratedDecomposer(generator)(WHY)

    assert [sub.text for sub in found] == ["What is light?", "Why?", "How far?"]


def test_no_more_are_kept_than_asked_for() -> None:
    generator = scripted(types='{"types": ["core", "core"]}')

    found = decompose(WHY, generator=generator, max_sub_questions=2)

    assert [sub.text for sub in found] == SUBS[:2]
    with pytest.raises(InvalidValueError, match="max_sub_questions is 0"):
        GeneratedDecomposer(generator, max_sub_questions=0)


def test_a_blank_question_asks_nothing() -> None:
    generator = scripted()

    assert decompose(" ", generator=generator) == ()
    assert generator.asked.calls == 0


@pytest.mark.parametrize("split", ["", "I cannot.", '{"sub_questions": []}', "[1, 2]", '{"sub_questions": ["A statement."]}'])
def test_what_cannot_be_read_is_asked_for_once_more_with_the_reason(split: str) -> None:
    generator = ScriptedGenerator({AGAIN: SPLIT, "purpose: decompose": split, "purpose: type": TYPED})

    found = GeneratedDecomposer(generator)(WHY)

    assert [sub.text for sub in found] == SUBS
    assert generator.asked.calls == 3


@pytest.mark.parametrize("split", ["", "I cannot.", '{"sub_questions": []}'])
def test_what_cannot_be_read_twice_is_a_failure_that_keeps_what_was_written(split: str) -> None:
    generator = scripted(split=split)

    failure = failure_of(GeneratedDecomposer(generator))

    assert (failure.kind, failure.attempts, failure.raw) == ("malformed", 2, split)
    assert failure.message.startswith("the question could not be split: ")
    assert generator.asked.calls == 2


def test_types_that_cannot_be_read_twice_are_a_failure() -> None:
    failure = failure_of(GeneratedDecomposer(scripted(types="All of them matter.")))

    assert (failure.kind, failure.attempts) == ("malformed", 2)
    assert failure.message.startswith("its sub-questions could not be typed: ")


def test_types_that_stay_incomplete_are_left_for_the_local_typer() -> None:
    generator = scripted(types="1. background\n3. follow-up")

    found = GeneratedDecomposer(generator)(WHY)

    assert [(sub.role, sub.role_source) for sub in found] == [
        (Role.BACKGROUND, "model:scripted"),
        (None, None),
        (Role.FOLLOW_UP, "model:scripted"),
    ]
    assert generator.asked.calls == 3


@pytest.mark.parametrize("purpose", ["split", "types"])
@pytest.mark.parametrize("kind", ["timeout", "filtered", "rate limit"])
def test_a_call_that_failed_for_good_is_not_repeated(purpose: str, kind: str) -> None:
    generator = scripted(**{purpose: Failure(kind, "no answer", attempts=8)})

    failure = failure_of(GeneratedDecomposer(generator))

    assert (failure.kind, failure.attempts) == (kind, 8)
    assert failure.message.endswith("no answer")
    assert generator.asked.calls == (1 if purpose == "split" else 2)


def test_a_generator_that_repaired_in_vain_is_not_asked_again_but_what_it_has_is_read() -> None:
    hopeless = scripted(split=Failure("malformed", "no JSON, asked twice", 2, "Sorry."))
    listed = scripted(types=Failure("malformed", "no JSON, asked twice", 2, "1. background\n2. core\n3. follow-up"))

    failure, found = failure_of(GeneratedDecomposer(hopeless)), GeneratedDecomposer(listed)(WHY)

    assert (failure.attempts, hopeless.asked.calls) == (2, 1)
    assert [sub.role for sub in found] == [Role.BACKGROUND, Role.CORE, Role.FOLLOW_UP]


def test_one_question_s_failure_costs_no_other_its_sub_questions() -> None:
    generator = ScriptedGenerator({"storms": Failure("timeout", "60 s"), **GOOD})

    first, second, third = GeneratedDecomposer(generator).split([WHY, Question("Why do storms form?"), Question("Why?")])

    assert isinstance(second, Failure)
    assert not isinstance(first, Failure)
    assert first == third
    assert [sub.text for sub in first] == SUBS


def test_asking_for_one_question_raises_what_failed() -> None:
    with pytest.raises(ModelFailedError, match="could not be split: no answer") as caught:
        GeneratedDecomposer(scripted(split=Failure("timeout", "no answer", attempts=3)))(WHY)

    assert (caught.value.kind, caught.value.attempts) == ("timeout", 3)


def test_a_generator_that_loses_prompts_is_an_error() -> None:
    class Forgetful(ScriptedGenerator):
        def generate(self, *_: object, **__: object) -> list[Generation]:
            return []

    with pytest.raises(ModelFailedError, match="returned 0 replies to 1 prompts"):
        GeneratedDecomposer(Forgetful())(WHY)


def test_what_was_split_is_remembered_and_a_failure_only_within_a_run() -> None:
    generator = ScriptedGenerator({"storms": Failure("timeout", "60 s"), **GOOD})
    alone = GeneratedDecomposer(generator)
    storms = Question("Why do storms form?")

    for decomposer, calls in ((alone, 1), (alone.for_run(LLMSession()), 0)):
        decomposer.split([WHY, storms])
        before = generator.asked.calls
        decomposer.split([WHY, storms])
        assert generator.asked.calls - before == calls


def test_a_dataset_is_decomposed_once_for_all_runs_that_share_a_cache() -> None:
    generator, shelf = scripted(), Shelf()
    first = GeneratedDecomposer(generator).for_run(LLMSession(shelf))
    found = first.split([WHY])

    again = GeneratedDecomposer(generator).for_run(LLMSession(shelf))

    assert again.split([WHY]) == found
    assert generator.asked.calls == 2


def test_other_prompts_models_or_numbers_never_meet_what_was_kept() -> None:
    generator = scripted()
    prompts = DecompositionPrompts(decompose="Split.", type="Type.")
    decomposers = [
        GeneratedDecomposer(generator),
        GeneratedDecomposer(scripted(again="x")),
        GeneratedDecomposer(generator, prompts=prompts),
        GeneratedDecomposer(generator, max_sub_questions=5),
    ]

    assert len({decomposer.fingerprint for decomposer in decomposers}) == 4
    assert GeneratedDecomposer(generator).fingerprint == decomposers[0].fingerprint


def test_what_was_kept_and_is_damaged_is_asked_for_again() -> None:
    generator, shelf = scripted(), Shelf()
    found = GeneratedDecomposer(generator).for_run(LLMSession(shelf)).split([WHY])
    shelf.answers = dict.fromkeys(shelf.answers, b'[{"text": "Why?", "roll": "core"}]')

    assert GeneratedDecomposer(generator).for_run(LLMSession(shelf)).split([WHY]) == found
    assert generator.asked.calls == 4


def test_failures_are_not_kept() -> None:
    shelf = Shelf()

    GeneratedDecomposer(scripted(split="")).for_run(LLMSession(shelf)).split([WHY])

    assert shelf.answers == {}


def test_one_question_in_many_threads_is_asked_once() -> None:
    generator = scripted()
    decomposer = GeneratedDecomposer(generator)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: decomposer.split([WHY])[0], range(32)))

    assert len({str(each) for each in found}) == 1
    assert generator.asked.items == 2


def test_it_travels_between_processes_without_its_memories() -> None:
    decomposer = GeneratedDecomposer(scripted(), max_sub_questions=2)

    copy = pickle.loads(pickle.dumps(decomposer))  # noqa: S301  # our own bytes

    assert copy.fingerprint == decomposer.fingerprint


@dataclass
class Broken:
    """A model whose replies are drawn by a test, whatever it is asked."""

    replies: Iterator[str]

    def generate(self, prompts: Sequence[object], *_: object, **__: object) -> list[Generation]:
        from rag_cover.traces import Sample

        return [Generation((Sample(next(self.replies, "")),)) for _ in prompts]


REPLIES = st.lists(
    st.one_of(
        st.text(max_size=60),
        st.lists(st.sampled_from([*SUBS, "what is light", "Why", "No question.", ""]), max_size=8).map(json.dumps),
        st.just(TYPED),
        st.just("1. core\n2. follow-up"),
    ),
    max_size=4,
)


@given(REPLIES, st.integers(1, 4))
def test_whatever_is_written_what_comes_out_are_few_distinct_questions_or_a_failure(replies: list[str], most: int) -> None:
    decomposer = GeneratedDecomposer(Broken(iter(replies)), max_sub_questions=most)

    (found,) = decomposer.split([WHY])

    if isinstance(found, Failure):
        assert found.kind == "malformed"
        return
    texts = [sub.text for sub in found]
    assert 1 <= len(texts) <= most
    assert all(text.endswith(tuple(MARKS)) for text in texts)
    assert len({plain_wording(text) for text in texts}) == len(texts)
    assert any(sub.role for sub in found)
