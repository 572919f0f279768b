"""What the shipped judge says of plain cases, and what its answers look like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover.backends import Embedder, Entailer, Locator, Scorer, ScoringItem, Span
from rag_cover.errors import InvalidValueError
from rag_cover.texts import sentences
from rag_cover_embedded import open_judge
from rag_cover_embedded.inputs import Encoded
from rag_cover_embedded.judge import EmbeddedJudge
from rag_cover_embedded.verdicts import bounds_by_yes_or_no

Judges = Callable[..., EmbeddedJudge]

EIFFEL = "The Eiffel Tower stands in Paris. It was completed in 1889. Gustave Eiffel's company built it."


def test_it_is_a_scorer_a_locator_an_entailer_and_an_embedder(judge: EmbeddedJudge) -> None:
    assert isinstance(judge, Scorer)
    assert isinstance(judge, Locator)
    assert isinstance(judge, Entailer)
    assert isinstance(judge, Embedder)


def test_probabilities_are_probabilities(judge: EmbeddedJudge, asked: list[str], passages: list[str]) -> None:
    items = [ScoringItem(question, text) for question, text in zip(asked[:40], passages[:40], strict=True)]

    found = judge.correctness(items)

    assert found.shape == (40,)
    assert found.dtype == np.float32
    assert ((found >= 0) & (found <= 1)).all()


def test_entailment_is_a_distribution_over_three_classes(judge: EmbeddedJudge) -> None:
    found = judge.entail([(EIFFEL, "The Eiffel Tower is in Paris."), (EIFFEL, "The Eiffel Tower is in Rome.")])

    assert np.allclose(found.sum(axis=1), 1, atol=1e-6)
    assert found[0].argmax() == 0
    assert found[1, 0] < found[0, 0]


@pytest.mark.slow
def test_of_a_very_long_premise_the_windows_that_share_rare_words_are_read(judge: EmbeddedJudge) -> None:
    lists = [f"Ferry {number} leaves at noon and carries boxes of fruit to the tower of the island." for number in range(900)]
    premise = " ".join([*lists[:700], EIFFEL, *lists[700:]])
    pairs = [(premise, "The Eiffel Tower is in Paris."), (premise, "The Louvre is in Lyon.")]

    ran: list[int] = []
    run = judge._entailment_session.run

    def counted(inputs: Sequence[Encoded], outputs: Sequence[str]) -> list[tuple[NDArray[np.float32], ...]]:
        ran.append(len(inputs))
        return run(inputs, outputs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judge._entailment_session, "run", counted)
        found = judge.entail(pairs)

    assert ran == [2 * 64]
    assert found[0].argmax() == 0
    assert found[1, 0] < found[0, 0]


def test_an_embedding_has_unit_length(judge: EmbeddedJudge, passages: list[str]) -> None:
    found = judge.embed([*passages[:20], "a", "?"])

    assert found.shape == (22, 384)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


def test_texts_alike_in_meaning_are_close(judge: EmbeddedJudge) -> None:
    same, other, base = judge.embed(["How much is a heat pump?", "Who wrote Hamlet?", "What does a heat pump cost?"])

    assert base @ same > base @ other + 0.2


def test_a_text_that_answers_is_covered_and_another_is_not(judge: EmbeddedJudge) -> None:
    items = [ScoringItem("When was the Eiffel Tower completed?", text) for text in (EIFFEL, "The Seine flows through Paris.")]

    answers, other = judge.correctness(items)

    assert answers >= judge.threshold > other


def test_the_fragment_holds_the_sentence_that_answers_and_not_the_next_one(judge: EmbeddedJudge) -> None:
    item = ScoringItem("When was the Eiffel Tower completed?", EIFFEL)

    (fragment,) = judge.locate([item])

    assert fragment is not None
    assert "It was completed in 1889." in fragment.of(EIFFEL)
    assert "Gustave" not in fragment.of(EIFFEL)


def test_what_is_not_covered_has_no_fragment(judge: EmbeddedJudge, asked: list[str], passages: list[str]) -> None:
    items = [ScoringItem(question, text) for question, text in zip(asked[:60], passages[:60], strict=True)]

    covered = judge.correctness(items) >= judge.threshold
    located = [fragment is not None for fragment in judge.locate(items)]

    assert located == covered.tolist()


def test_fragments_are_whole_sentences_of_the_text_as_passed(
    judge: EmbeddedJudge, asked: list[str], passages: list[str]
) -> None:
    odd = [" \n\N{GRINNING FACE}\u0301 " + text.replace("heat", "h\u0308eat") + "\ud800 " for text in passages]
    items = [ScoringItem(question, text) for question in asked[:3] for text in odd[:30]]

    found = [(item.text, fragment) for item, fragment in zip(items, judge.locate(items), strict=True) if fragment]

    assert found
    for text, fragment in found:
        spans = sentences(text)
        assert fragment.start in [span.start for span in spans]
        assert fragment.end in [span.end for span in spans]
        assert fragment.of(text).strip()


def test_a_right_answer_agrees_with_the_references_and_a_wrong_one_does_not(judge: EmbeddedJudge) -> None:
    texts = ("It was completed in 1889.", "It was completed in 1920.")

    right, wrong = judge.correctness([ScoringItem("When was the Eiffel Tower completed?", text, ("1889",)) for text in texts])

    assert right >= 0.5 > wrong


def test_one_of_several_references_is_enough(judge: EmbeddedJudge) -> None:
    several = ("Byron", "Jane Austen", "Shelley")

    found = judge.correctness([ScoringItem("Who wrote Emma?", "Jane Austen did.", several)])

    assert found[0] >= 0.5


@pytest.mark.slow
def test_eight_threads_get_what_one_gets(new_judge: Judges, asked: list[str], passages: list[str]) -> None:
    items = [ScoringItem(asked[number], passages[number % 81]) for number in range(0, 148, 20)]
    given = [ScoringItem(item.question, item.text, ("35 °C",)) for item in items]
    pairs = [(item.text, item.question) for item in items]
    shared, alone = new_judge(), new_judge()

    def everything(judge: EmbeddedJudge) -> tuple[list[Span | None], list[float]]:
        numbers = [judge.correctness(items), judge.correctness(given), judge.entail(pairs), judge.embed(asked[:5])]
        return judge.locate(items), [float(value) for array in numbers for value in array.ravel()]

    fragments, values = everything(alone)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(everything, [shared] * 8))

    assert all(mine == fragments for mine, _ in found)
    assert max(np.abs(np.array(mine) - values).max() for _, mine in found) <= 1e-5


def test_opening_it_again_gives_the_same_judge(judge: EmbeddedJudge) -> None:
    assert open_judge() is open_judge()
    assert open_judge(exhaustive=True) is not open_judge()
    assert open_judge().fingerprint == judge.fingerprint


def test_reading_every_window_is_another_judge_by_its_fingerprint(new_judge: Judges, judge: EmbeddedJudge) -> None:
    assert new_judge(exhaustive=True).fingerprint != judge.fingerprint


def test_no_threads_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="threads is 0; give a whole number of at least 1"):
        open_judge(threads=0)


@pytest.mark.slow
def test_proposing_never_finds_what_reading_every_window_does_not(
    new_judge: Judges, asked: list[str], passages: list[str]
) -> None:
    items = [ScoringItem(question, " ".join(passages[start : start + 3])) for start, question in enumerate(asked[:15])]

    proposed = new_judge().correctness(items) >= new_judge().threshold
    exhaustive = new_judge(exhaustive=True).correctness(items) >= new_judge().threshold

    assert not (proposed & ~exhaustive).any()


@pytest.mark.parametrize(
    ("text", "reference", "right"),
    [
        ("No, it is not.", "yes", False),
        ("No.", "Yes", False),
        ("Yes - since 2019.", "yes", True),
        ("no, only within the EU", "No.", True),
        ("Yes, it does.", "No, it never did.", False),
    ],
)
def test_yes_and_no_decide_against_a_reference_that_says_the_one_or_the_other(
    judge: EmbeddedJudge, text: str, reference: str, *, right: bool
) -> None:
    (found,) = judge.correctness([ScoringItem("Does it ship to Norway?", text, (reference,))])

    assert (found >= judge.threshold) == right


def test_a_no_that_counts_something_decides_nothing() -> None:
    assert bounds_by_yes_or_no(ScoringItem("Who knows?", "No one knows.", ("yes",))) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("question", "text", "reference"),
    [
        ("How long does the battery take to charge?", "an hour and a half", "90 minutes"),
        ("When does the night porter come on duty?", "At half past ten in the evening.", "22:30"),
        ("Which organisation runs the World Cup in football?", "FIFA", "Fédération Internationale de Football Association"),
    ],
)
def test_quantities_and_acronyms_agree_with_references_that_write_them_otherwise(
    judge: EmbeddedJudge, question: str, text: str, reference: str
) -> None:
    (found,) = judge.correctness([ScoringItem(question, text, (reference,))])

    assert found >= judge.threshold
