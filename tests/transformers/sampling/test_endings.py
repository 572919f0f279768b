"""What belongs to a sample: stop texts and end tokens do not."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from rag_cover_transformers.sampling.endings import Drawn, cut_at_end, first_stop, tail_length

PIECES = ("Paris", ".\n", "\n", "Quest", "ion:", " ", "<end>", "é")
END = PIECES.index("<end>")


def _ended(*pieces: str, stops: Sequence[str] = ("\n", "Question:")) -> Drawn:
    def decode(ids: Sequence[int]) -> str:
        return "".join(PIECES[token] for token in ids)

    ids = [PIECES.index(piece) for piece in pieces]
    return cut_at_end(ids, [-1.0 - place for place in range(len(ids))], decode=decode, stops=stops, end_ids=frozenset({END}))


def test_a_stop_text_and_its_log_probability_are_left_out() -> None:
    assert _ended("Paris", "\n") == Drawn("Paris", (-1.0,), -2.0, 2)


def test_a_token_partly_before_the_stop_text_belongs_to_the_sample() -> None:
    assert _ended("Paris", ".\n") == Drawn("Paris.", (-1.0, -2.0), -2.0, 2)


def test_a_stop_text_of_several_tokens_is_left_out_whole() -> None:
    assert _ended("Paris", " ", "Quest", "ion:") == Drawn("Paris ", (-1.0, -2.0), -3.0, 4)


def test_a_letter_of_several_tokens_before_the_stop_text_belongs_to_the_sample_whole() -> None:
    pieces = (*(bytes([byte]) for byte in "né😀".encode()), b"\n")

    found = cut_at_end(
        range(len(pieces)),
        [-1.0 - place for place in range(len(pieces))],
        decode=lambda ids: b"".join(pieces[token] for token in ids).decode(errors="replace"),
        stops=("\n",),
        end_ids=frozenset(),
    )

    assert found == Drawn("né😀", tuple(-1.0 - place for place in range(7)), -8.0, 8)


def test_an_end_token_is_left_out() -> None:
    assert _ended("Paris", "<end>") == Drawn("Paris", (-1.0,), -2.0, 2)


def test_a_sample_that_ran_out_of_length_keeps_all() -> None:
    found = _ended("Paris", " ")

    assert found == Drawn("Paris ", (-1.0, -2.0), None, 2)
    assert found.sample("Paris").finish_reason == "length"


@pytest.mark.parametrize(
    ("pieces", "kept"), [(("<end>",), -1.0), (("\n",), -1.0), (("Quest", "ion:"), -1.0), ((" ", "\n"), -2.0)]
)
def test_of_an_empty_sample_the_log_probability_of_what_ended_it_is_kept(pieces: tuple[str, ...], kept: float) -> None:
    found = _ended(*pieces)

    sample = found.sample(found.text.strip())

    assert (sample.text, sample.token_logprobs, sample.finish_reason) == ("", (kept,), "stop")


def test_the_earliest_stop_text_counts() -> None:
    assert first_stop("a Question: b\n", ["\n", "Question:"]) == 2
    assert first_stop("nothing", ["\n"]) is None


def test_the_tail_is_long_enough_for_a_token_a_byte() -> None:
    assert tail_length(("é\n",)) >= 3
