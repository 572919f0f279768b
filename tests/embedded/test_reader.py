"""The extractive reader: what it may say, how likely it says it, and that nothing but its seed is random."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from rag_cover import Passage
from rag_cover.backends import Receiver
from rag_cover.belief.readings import UNANSWERABLE
from rag_cover.errors import InvalidValueError
from rag_cover_embedded import open_receiver
from rag_cover_embedded.reader import EmbeddedReader, likely_spans
from rag_cover_embedded.weights import FOLDER

EIFFEL = Passage("It stands in Paris and was completed in 1889.", title="Eiffel Tower")
SEINE = Passage("The Seine flows through Paris, Rouen and Le Havre.")
COMPLETED = "When was the Eiffel Tower completed?"


@pytest.fixture(scope="module")
def new_reader() -> Callable[[], EmbeddedReader]:
    """Open the reader anew, so that it remembers nothing."""
    if not (FOLDER / "judge.onnx").exists():
        pytest.skip("needs the trained weights (weights/judge.onnx)")
    return EmbeddedReader


@pytest.fixture(scope="module")
def reader(new_reader: Callable[[], EmbeddedReader]) -> EmbeddedReader:
    """Return the reader of the shipped judge."""
    return new_reader()


def test_it_is_a_receiver_and_opened_once(reader: EmbeddedReader) -> None:
    assert isinstance(reader, Receiver)
    assert open_receiver() is open_receiver()
    assert open_receiver().fingerprint == reader.fingerprint


def test_without_passages_it_knows_nothing(reader: EmbeddedReader) -> None:
    (samples,) = reader.sample([(COMPLETED, ())], n=4)

    assert [sample.text for sample in samples] == [UNANSWERABLE] * 4


@pytest.mark.parametrize("text", ["", " \n "])
def test_a_blank_passage_says_nothing(reader: EmbeddedReader, text: str) -> None:
    assert reader.answers([(COMPLETED, (Passage(text),)), ("", (EIFFEL,))])[0] == {UNANSWERABLE: 1.0}


def test_a_blank_question_has_no_answer(reader: EmbeddedReader) -> None:
    assert reader.answers([("", (EIFFEL,))]) == [{UNANSWERABLE: 1.0}]


def test_it_says_what_a_passage_says(reader: EmbeddedReader) -> None:
    (answers,) = reader.answers([(COMPLETED, (SEINE, EIFFEL))])

    likeliest = max(answers, key=answers.__getitem__)
    assert "1889" in likeliest
    assert answers[UNANSWERABLE] < 0.5


def test_it_does_not_answer_from_a_passage_about_something_else(reader: EmbeddedReader) -> None:
    (answers,) = reader.answers([("Who wrote the novel Emma?", (SEINE,))])

    assert answers[UNANSWERABLE] > 0.9


def test_answers_are_a_distribution_over_words_of_the_passages(reader: EmbeddedReader) -> None:
    (answers,) = reader.answers([("Which towns lie on the Seine?", (SEINE, EIFFEL))])

    assert sum(answers.values()) == pytest.approx(1)
    shown = f"{SEINE.text} {EIFFEL.title}. {EIFFEL.text}"
    assert all(text in shown for text in answers if text != UNANSWERABLE)


def test_samples_are_drawn_from_the_answers(reader: EmbeddedReader) -> None:
    item = ("Which towns lie on the Seine?", (SEINE, EIFFEL))
    (answers,) = reader.answers([item])

    (samples,) = reader.sample([item], n=4000)

    drawn = Counter(sample.text for sample in samples)
    gaps = [abs(drawn[text] / 4000 - probability) for text, probability in answers.items()]
    assert max(gaps) < 0.04  # five standard deviations of a share at one half
    assert all(sample.token_logprobs is None for sample in samples)


def test_samples_depend_on_the_seed_and_on_nothing_else(new_reader: Callable[[], EmbeddedReader]) -> None:
    items = [(COMPLETED, (EIFFEL,)), ("Which towns lie on the Seine?", (SEINE,)), (COMPLETED, (SEINE, EIFFEL))]
    shared = new_reader()

    together = shared.sample(items, n=20, seed=1)

    assert [new_reader().sample([item], n=20, seed=1)[0] for item in items] == together
    assert shared.sample(items[::-1], n=20, seed=1) == together[::-1]
    assert shared.sample(items, n=20, seed=2) != together


def test_a_passage_that_changes_nothing_changes_no_sample(reader: EmbeddedReader) -> None:
    before, after = reader.sample([(COMPLETED, (EIFFEL,)), (COMPLETED, (EIFFEL, Passage("")))], n=20)

    assert before == after


@pytest.mark.slow
def test_eight_threads_get_what_one_gets(new_reader: Callable[[], EmbeddedReader], passages: list[str]) -> None:
    items = [("What is a heat pump?", (Passage(text),)) for text in passages[:24]]
    shared, alone = new_reader(), new_reader().sample(items)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: shared.sample(items), range(8)))

    assert all(each == alone for each in found)


def test_long_passages_and_odd_characters_are_read(reader: EmbeddedReader) -> None:
    long = Passage("\ud800\N{GRINNING FACE} " + "Nothing happened that day. " * 300 + EIFFEL.text + " Eiffel Tower. ")

    (answers,) = reader.answers([("When was the tower completed?", (long,))])

    assert "1889" in max((text for text in answers if text != UNANSWERABLE), key=answers.__getitem__)


def test_no_samples_are_refused(reader: EmbeddedReader) -> None:
    with pytest.raises(InvalidValueError, match="n is 0"):
        reader.sample([(COMPLETED, (EIFFEL,))], n=0)


def test_no_threads_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="threads is 0; give a whole number of at least 1"):
        open_receiver(threads=0)


JAWS = Passage("Jaws is a 1975 American thriller film directed by Steven Spielberg.", title="Jaws (film)")
SPIELBERG = Passage("Steven Allan Spielberg (born December 18, 1946) is an American filmmaker.", title="Steven Spielberg")
ALIEN = Passage("Alien is a 1979 film directed by Ridley Scott.", title="Alien (film)")
SCOTT = Passage("Sir Ridley Scott (born 30 November 1937) is an English filmmaker.", title="Ridley Scott")


def test_a_question_over_two_passages_is_answered_by_both_alone(reader: EmbeddedReader) -> None:
    asked = "When was the director of Jaws born?"

    first, both = reader.answers([(asked, (JAWS,)), (asked, (JAWS, SPIELBERG))])

    assert first[UNANSWERABLE] > 0.9
    assert max(both, key=both.__getitem__) == "December 18, 1946"


def test_a_comparison_is_decided_by_what_is_said_of_both(reader: EmbeddedReader) -> None:
    asked = "Which film has the director who was born first, Jaws or Alien?"

    half, whole = reader.answers([(asked, (JAWS, SPIELBERG)), (asked, (JAWS, SPIELBERG, ALIEN, SCOTT))])

    assert half[UNANSWERABLE] > 0.8
    assert max(whole, key=whole.__getitem__) == "Alien"


def test_a_span_stays_within_its_sentence() -> None:
    logits = np.array([[9.0, 0.0], [0.0, 1.0], [0.0, 9.0]], dtype=np.float32)

    spans = likely_spans(logits, np.array([0, 0, 1]))

    assert spans[0][:2] == (0, 1)
    assert (0, 2) not in [span[:2] for span in spans]
    assert sum(share for *_, share in spans) == pytest.approx(1)


def test_a_span_has_at_most_forty_tokens() -> None:
    spans = likely_spans(np.zeros((60, 2), dtype=np.float32), np.zeros(60, dtype=np.intp))

    assert max(last - first for first, last, _ in spans) <= 39
