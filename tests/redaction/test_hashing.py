from __future__ import annotations

import hashlib
import hmac
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.errors import InputError, InvalidValueError
from rag_cover.placeholder import Placeholder
from rag_cover.question_keys import question_key
from rag_cover.questions import Question
from rag_cover.redaction import Redaction

KEY = b"a key of thirty-two bytes or so."


def test_without_a_key_the_hash_is_that_of_sha256sum() -> None:
    assert Redaction().digest("Why?") == hashlib.sha256(b"Why?").hexdigest()[:24]


def test_with_a_key_the_hash_is_an_hmac() -> None:
    assert Redaction(KEY).digest("Why?") == hmac.new(KEY, b"Why?", hashlib.sha256).hexdigest()[:24]


@given(st.text(), st.text())
def test_texts_are_equal_where_what_stands_in_their_place_is(one: str, other: str) -> None:
    by = Redaction(KEY)

    assert (by.text(one) == by.text(other)) == (one == other)
    assert (by.identifier(one) == by.identifier(other)) == (one == other)


@given(st.text().filter(str.strip), st.text().filter(str.strip))
def test_redacted_questions_are_told_apart_as_before(one: str, other: str) -> None:
    questions = [Question(one), Question(other), Question(f" {one.upper()} ")]

    redacted = [Question(Redaction(KEY).question(each)) for each in questions]

    keys, after = (list(map(question_key, each)) for each in (questions, redacted))
    assert [key == keys[0] for key in keys] == [key == after[0] for key in after]


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_a_text_without_a_character_stays(blank: str) -> None:
    assert Redaction().text(blank) == Redaction().identifier(blank) == blank


def test_the_words_and_characters_of_a_text_are_told() -> None:
    told = Placeholder.read(Redaction().text("Air scatters blue light."))

    assert told is not None
    assert (told.words, told.characters) == (4, 24)


@pytest.mark.parametrize("step", ["step-1", "step-12", "step-2'"])
def test_a_step_that_is_named_by_its_position_keeps_its_name(step: str) -> None:
    assert Redaction().step(step) == step
    assert Redaction().step("erika@example.org").startswith("redacted-")


def test_the_key_is_in_nothing_that_is_shown_or_stored() -> None:
    by = Redaction(KEY, names=("k",))

    shown = [repr(by), str(by), by.fingerprint, by.content_key("a key"), by.text("Why?")]

    assert not any(KEY.decode() in each or KEY.hex() in each for each in shown)
    assert pickle.loads(pickle.dumps(by)) == by  # noqa: S301  # our own bytes: it travels to workers


def test_each_way_of_redacting_names_results_in_its_own_way() -> None:
    ways = [Redaction(), Redaction(KEY), Redaction(KEY[::-1]), Redaction(KEY, names=("k",))]

    assert len({way.fingerprint for way in ways}) == len({way.content_key("same") for way in ways}) == len(ways)


def test_a_key_that_can_be_guessed_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="a key of 6 bytes can be guessed; give 16 bytes at least"):
        Redaction(b"secret")


def test_a_key_is_read_from_its_file_without_the_line_end(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(KEY + b"\n")

    assert Redaction.from_file(tmp_path / "key") == Redaction(KEY)


def test_a_key_file_that_is_not_there_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the key cannot be read .*openssl rand -hex 32"):
        Redaction.from_file(tmp_path / "key")


@given(st.text(), st.integers(2, 9))
def test_what_is_redacted_already_stays(text: str, number: int) -> None:
    by, other = Redaction(KEY), Redaction()

    once = (by.text(text), by.question(Question(text or "?")), by.identifier(text))

    assert (other.text(once[0]), other.question(Question(once[1])), other.identifier(once[2])) == once
    assert by.trace(f"{number:016x}-{number}") == by.trace(f"{by.trace(f'{number:016x}')}-{number}")
