"""Texts as the world writes them: blank, odd, very long."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from rag_cover.backends import ScoringItem
from rag_cover.texts import encodable
from rag_cover_embedded.inputs import Task, open_tokenizer
from rag_cover_embedded.judge import EmbeddedJudge
from rag_cover_embedded.weights import FOLDER

Judges = Callable[..., EmbeddedJudge]

QUESTION = "Where was Frederic Chopin born?"
ANSWER = "Frederic Chopin was born in a village west of Warsaw."
ODD = {
    "emoji": "\U0001f4a9\U0001f44d\U0001f3fe \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "control characters": "\x00\x07\x1b[31m\x7f\u0085\u2028\ufeff",
    "right to left": "\u202e\u0645\u0631\u062d\u0628\u0627\u202c \u05e9\u05dc\u05d5\u05dd",
    "lone surrogates": "\ud800\udfff \udc00",
    "no spaces": "字" * 3_000,
    "one endless word": "x" * 20_000,
    "combining marks": "z" + "\u0301" * 2_000,
    "noncharacters": "\ufffe\uffff\U0010ffff",
}
odd = pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in ODD.items()])


@pytest.mark.parametrize("text", ["", " ", "\n\t\u00a0", "\u2003"])
def test_a_blank_text_covers_nothing(judge: EmbeddedJudge, text: str) -> None:
    items = [ScoringItem(QUESTION, text), ScoringItem(QUESTION, text, ("a village west of Warsaw",))]

    found = judge.correctness(items)

    assert found.tolist() == [0, 0]
    assert judge.locate(items[:1]) == [None]


def test_a_blank_premise_or_hypothesis_is_neutral(judge: EmbeddedJudge) -> None:
    found = judge.entail([("", ANSWER), (ANSWER, " ")])

    assert found.tolist() == [[0, 1, 0], [0, 1, 0]]


def test_a_blank_text_does_not_disturb_its_batch(judge: EmbeddedJudge) -> None:
    items = [ScoringItem(QUESTION, text, ("a village west of Warsaw",)) for text in ("", ANSWER, " ")]

    found = judge.correctness(items)

    assert found[1] == pytest.approx(judge.correctness(items[1:2])[0], abs=1e-5)
    assert found[0] == found[2] == 0


@pytest.mark.slow
@odd
def test_odd_texts_get_verdicts_like_others(judge: EmbeddedJudge, text: str) -> None:
    found = judge.correctness([ScoringItem(QUESTION, text), ScoringItem(text, ANSWER), ScoringItem(QUESTION, text, (text,))])

    assert np.isfinite(found).all()
    assert np.isfinite(judge.entail([(text, ANSWER), (ANSWER, text)])).all()
    assert np.allclose(np.linalg.norm(judge.embed([text]), axis=1), 1, atol=1e-5)


@odd
def test_an_answer_is_found_behind_odd_text(judge: EmbeddedJudge, text: str) -> None:
    whole = f"{text}\n\n{ANSWER}\n\n{text}"

    (fragment,) = judge.locate([ScoringItem(QUESTION, whole)])

    assert fragment is not None
    assert ANSWER in fragment.of(whole)


def test_special_tokens_in_a_text_stay_text() -> None:
    tokenizer = open_tokenizer(FOLDER / "tokenizer.json")

    ids = tokenizer.encode("[SEP] [CLS] [PAD] [MASK] [unused1]", add_special_tokens=False).ids

    assert not {101, 102, 103, 0, *Task} & set(ids)


def test_special_tokens_in_a_text_do_not_turn_its_verdict(judge: EmbeddedJudge) -> None:
    plain, marked = judge.correctness([ScoringItem(QUESTION, text) for text in (ANSWER, f"[SEP] [CLS] {ANSWER} [SEP]")])

    assert plain >= judge.threshold
    assert marked >= judge.threshold


def test_lone_surrogates_are_replaced_one_by_one() -> None:
    assert encodable("a\ud800b\udfff") == "a\ufffdb\ufffd"
    assert encodable("plain \N{SNOWMAN}") == "plain \N{SNOWMAN}"


@pytest.mark.nightly
def test_a_text_of_50_000_words_is_judged_whole(judge: EmbeddedJudge, passages: list[str]) -> None:
    filler = " ".join(passages * 8)
    words = len(filler.split())
    text = f"{filler}\n\n{ANSWER}"
    began = time.process_time()

    (fragment,) = judge.locate([ScoringItem(QUESTION, text)])

    assert words > 50_000
    assert fragment is not None
    assert fragment.of(text) == ANSWER
    assert time.process_time() - began < 120  # processor time, of all cores


@pytest.mark.nightly
def test_a_reply_of_100_000_words_is_judged_whole(judge: EmbeddedJudge, passages: list[str]) -> None:
    filler = " ".join(passages * 8)
    text = f"{filler}\n\n{ANSWER}\n\n{filler}"
    item = ScoringItem(QUESTION, text, user_question=QUESTION)

    (probability,) = judge.correctness([item])
    (abstains,) = judge.abstains([item])

    assert len(text.split()) > 100_000
    assert probability >= judge.reply_threshold
    assert abstains == "no"


def test_blank_references_are_none(judge: EmbeddedJudge) -> None:
    blank, none = judge.correctness([ScoringItem(QUESTION, ANSWER, ("", " ")), ScoringItem(QUESTION, ANSWER)])

    assert blank == none


@pytest.mark.slow
def test_a_premise_of_10_000_words_is_read_to_its_end(judge: EmbeddedJudge, passages: list[str]) -> None:
    premise = " ".join(passages * 2) + " " + ANSWER

    (found,) = judge.entail([(premise, "Chopin was born in a village.")])

    assert len(premise.split()) > 10_000
    assert found.argmax() == 0


@pytest.mark.nightly
def test_of_10_000_references_the_last_one_counts(judge: EmbeddedJudge) -> None:
    references = [*(f"r{number}" for number in range(10_000)), "a village west of Warsaw"]

    found = judge.correctness([ScoringItem(QUESTION, ANSWER, tuple(references))])

    assert found[0] >= 0.5


def test_no_reference_is_cut_away(judge: EmbeddedJudge) -> None:
    others = [f"{number:,}.{number % 97}" for number in range(1_234_567, 1_360_000, 7_919)]  # few letters, many tokens

    found = judge.correctness([ScoringItem("When was it completed?", "It was completed in 1889.", ("1889", *others))])

    assert found[0] >= 0.5


def test_an_endless_question_is_cut_and_not_refused(judge: EmbeddedJudge) -> None:
    question = "Which river " * 5_000 + "runs through Zell?"

    found = judge.correctness([ScoringItem(question, ANSWER), ScoringItem(question, ANSWER, ("a village west of Warsaw",))])

    assert np.isfinite(found).all()


def test_it_does_not_remember_without_end(new_judge: Judges, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_cover_embedded.judge.REMEMBERED", 3)
    judge = new_judge()

    judge.correctness([ScoringItem(QUESTION, f"Brook number {number}.") for number in range(8)])

    assert len(judge._remembered) == 3
