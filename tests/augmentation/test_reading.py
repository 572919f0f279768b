"""Answers are read by a receiver or written by a generator; no answer is None, and a failure says why."""

from collections.abc import Sequence

import pytest

from rag_cover.augmentation.prompts import from_passages
from rag_cover.augmentation.reading import ABSTENTIONS, generate_texts, likeliest, reading_receiver, writing_generator
from rag_cover.backends import Failure, Generation, Prompt, Sampling
from rag_cover.errors import ModelFailedError, TransientError
from rag_cover.questions import Passage
from rag_cover.testing import ScriptedGenerator, ScriptedReceiver
from rag_cover.traces import Sample

WHO, WHEN = "Who directed Jaws?", "When was Jaws made?"
DIRECTOR, YEAR = Passage("Jaws was directed by Steven Spielberg."), Passage("Jaws came out in 1975.")
ASKED = {1: (WHO, [DIRECTOR]), 3: (WHEN, [YEAR])}


class Failing:
    """A receiver and a generator that fail as a whole."""

    def sample(self, items: object, *, n: int = 10, seed: int = 0) -> list[tuple[Sample, ...]]:
        message = f"out of memory at {n}, {seed}, {items is None}"
        raise ModelFailedError(message, kind="memory", attempts=2)

    def generate(
        self,
        prompts: Sequence[Prompt],
        sampling: Sampling = Sampling(),  # noqa: B008  # frozen
        *,
        schema: object = None,
        purpose: str = "other",
    ) -> list[Generation]:
        message = f"no more calls: {len(prompts)}, {sampling.n}, {schema}, {purpose}"
        raise TransientError(message, kind="rate limit")


class Forgetful:
    """A receiver and a generator that answer the first question alone."""

    def sample(self, items: Sequence[object], *, n: int = 10, seed: int = 0) -> list[tuple[Sample, ...]]:
        return [(Sample(f"{n} and {seed}"),) for _ in items[:1]]

    def generate(
        self,
        prompts: Sequence[Prompt],
        sampling: Sampling = Sampling(),  # noqa: B008  # frozen
        *,
        schema: object = None,
        purpose: str = "other",
    ) -> list[Generation]:
        return [Generation((Sample(f"{sampling.n}, {schema}, {purpose}"),)) for _ in prompts[:1]]


def test_a_receiver_is_asked_everything_at_once() -> None:
    receiver = ScriptedReceiver({"Spielberg": ("Steven Spielberg",), "1975": ("in 1975.", "1976", "In 1975")})

    answers = reading_receiver(receiver)(ASKED)

    assert answers == {1: "Steven Spielberg", 3: "in 1975"}
    assert receiver.asked.calls == 1


def test_a_generator_is_asked_everything_at_once_and_briefly() -> None:
    generator = ScriptedGenerator({"Spielberg": " Steven Spielberg\n", "1975": "1975"})

    answers = writing_generator(generator)(ASKED)

    assert answers == {1: "Steven Spielberg", 3: "1975"}
    assert generator.asked.calls == 1


def test_nobody_is_asked_nothing() -> None:
    receiver, generator = ScriptedReceiver(), ScriptedGenerator()

    assert reading_receiver(receiver)({}) == writing_generator(generator)({}) == {}
    assert receiver.asked.calls == generator.asked.calls == 0


@pytest.mark.parametrize("words", ["Unanswerable.", "I don't know", "i do not know!", "N/A", "None", "UNKNOWN"])
def test_an_abstention_is_no_answer(words: str) -> None:
    assert likeliest([Sample(words)]) is None
    assert writing_generator(ScriptedGenerator(default=words))({1: (WHO, [DIRECTOR])}) == {1: None}


def test_abstentions_are_written_as_they_are_compared() -> None:
    assert all(words == words.casefold().strip() and words.replace(" ", "").isalpha() for words in ABSTENTIONS - {""})


def test_no_sample_is_no_answer() -> None:
    assert likeliest([]) is None
    assert likeliest([Sample(" "), Sample("x" * 121)]) is None


def test_of_answers_given_as_often_the_first_is_taken_as_it_was_written() -> None:
    assert likeliest([Sample("Rome"), Sample("Zürich."), Sample("zürich"), Sample("ROME")]) == "Rome"


def test_parts_of_a_name_speak_for_the_whole_name() -> None:
    said = ["Edward", "Edward Sloman", "Sloman", "Edward Sloman and written by Emerson", "John Emerson", "Edward"]

    assert likeliest([Sample(text) for text in said]) == "Edward Sloman"


def test_one_prompt_that_fails_fails_alone() -> None:
    generator = ScriptedGenerator({"Spielberg": Failure("timeout", "60 s"), "1975": "1975"})

    assert writing_generator(generator)(ASKED) == {1: Failure("timeout", "60 s"), 3: "1975"}


def test_a_model_that_fails_as_a_whole_fails_for_every_question() -> None:
    read, written = reading_receiver(Failing(), samples=10)(ASKED), writing_generator(Failing())(ASKED)

    assert read[1] == read[3] == Failure("memory", "out of memory at 10, 0, False", attempts=2)
    assert written[1] == written[3] == Failure("rate limit", "no more calls: 2, 1, None, sub-answer")


def test_a_model_that_does_not_reply_to_each_has_failed() -> None:
    read, written = reading_receiver(Forgetful())(ASKED), writing_generator(Forgetful())(ASKED)

    for answers, who in ((read, "receiver"), (written, "generator")):
        failure = answers[1]
        assert isinstance(failure, Failure)
        assert failure.message == f"the {who} returned 1 replies to 2 questions; it must return one each"
        assert answers[3] == failure


def test_a_blank_reply_is_a_failure() -> None:
    assert generate_texts(ScriptedGenerator(default=" \n"), [from_passages("Why?", [])], purpose="answer") == [
        Failure("empty", "the generator wrote nothing")
    ]
