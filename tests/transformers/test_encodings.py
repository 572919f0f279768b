"""Tokens, windows and frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rag_cover_transformers.encodings import TextEncoder

TEXT = "The river froze. The shop is closed on Sundays! Who wrote it? " * 6


@pytest.fixture(params=["bert_tokenizer", "t5_tokenizer", "llama_tokenizer"])
def tokenizer(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(request.param)


def test_pairs_and_texts_are_framed_as_the_tokenizer_frames_them(tokenizer: Any) -> None:
    encoder = TextEncoder(tokenizer, 64)
    first, second = encoder.tokenise(["She bought a car.", "Who paid?"])

    pair, alone = tokenizer("She bought a car.", "Who paid?"), tokenizer("She bought a car.")

    joined = encoder.join_pair(first.ids, second.ids)
    assert joined.ids.tolist() == pair["input_ids"]
    assert encoder.alone(first.ids).ids.tolist() == alone["input_ids"]
    if "token_type_ids" in pair:
        assert joined.segments is not None
        assert joined.segments.tolist() == pair["token_type_ids"]
    assert encoder.pair_room == 64 - (len(pair["input_ids"]) - len(first.ids) - len(second.ids))


@pytest.mark.parametrize("size", [3, 8, 20, 500])
def test_windows_hold_every_token_in_order_and_none_is_too_long(tokenizer: Any, size: int) -> None:
    (text,) = TextEncoder(tokenizer, 64).tokenise([TEXT])

    windows = text.windows(size)

    assert all(len(window) <= size for window in windows)
    place = 0
    for window in windows:  # each begins at or before the first token not yet held
        starts = [at for at in range(place + 1) if text.ids[at : at + len(window)].tolist() == window.tolist()]
        place = max(starts[-1] + len(window), place)
    assert place == len(text.ids)


def test_windows_end_where_sentences_do(bert_tokenizer: Any) -> None:
    encoder = TextEncoder(bert_tokenizer, 64)
    (text,) = encoder.tokenise([TEXT])

    ends = [bert_tokenizer.decode(window[-1:]) for window in text.windows(24)]

    assert set(ends) <= {".", "!", "?"}


@pytest.mark.parametrize("blank", ["", " ", " \n\t"])
def test_a_blank_text_has_no_window(tokenizer: Any, blank: str) -> None:
    (text,) = TextEncoder(tokenizer, 64).tokenise([blank])

    assert text.windows(10) == []
    assert text.ids.dtype == np.int64
