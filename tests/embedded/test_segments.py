"""A text cut into segments and windows: nothing is lost, and every token knows where it stands."""

from __future__ import annotations

import string

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from rag_cover.texts import encodable
from rag_cover_embedded.answers import likeliest_span
from rag_cover_embedded.segments import LONGEST_SEGMENT, SegmentedText, segment_texts

PLAIN = string.ascii_letters + string.digits + ".,!?'\"()-"
VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "sea", *PLAIN.lower(), *(f"##{char}" for char in PLAIN.lower())]

words = st.text(alphabet=PLAIN + "éß字\N{PILE OF POO}\ud800\x00", min_size=1, max_size=12)
texts = st.lists(words | st.sampled_from([". ", "! ", "\n", "\n\n", " ", "the", "sea"]), max_size=120).map(" ".join)


def _tiny() -> Tokenizer:
    """Make a WordPiece tokenizer of single letters and two words."""
    vocabulary = {token: row for row, token in enumerate(dict.fromkeys(VOCABULARY))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106  # no password
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


TOKENIZER = _tiny()


def _cut(text: str) -> SegmentedText:
    return segment_texts(TOKENIZER, [text])[0]


@given(texts)
def test_no_token_is_lost(text: str) -> None:
    found = _cut(text)

    whole = TOKENIZER.encode(encodable(text), add_special_tokens=False)
    full_stop = TOKENIZER.token_to_id(".")
    added = [row for row in range(len(found.ids)) if found.ids[row] == full_stop]
    without = [[*found.ids[:row], *found.ids[row + 1 :]] for row in added]
    assert found.ids.tolist() == whole.ids or whole.ids in without  # a title gets a full stop
    assert found.bounds[0] == 0
    assert found.bounds[-1] == len(found.ids)


@given(texts)
def test_a_segment_holds_at_least_one_token_and_at_most_80(text: str) -> None:
    found = _cut(text)

    lengths = np.diff(found.bounds)
    assert len(lengths) == len(found.sentences)
    assert ((lengths >= 1) & (lengths <= LONGEST_SEGMENT)).all()


@given(texts)
def test_a_token_stands_where_its_offsets_say(text: str) -> None:
    found = _cut(text)

    for token, (start, end) in zip(found.ids, found.offsets, strict=True):
        written = (TOKENIZER.id_to_token(int(token)) or "").removeprefix("##")
        full_stop_of_a_title = written == "." and text[start:end].strip() == ""
        if written != "[UNK]" and text[start:end].isascii() and not full_stop_of_a_title:
            assert text[start:end].lower() == written


@given(texts, st.integers(1, 200), st.integers(0, 3))
def test_every_token_is_in_some_window(text: str, size: int, overlap: int) -> None:
    found = _cut(text)

    windows = found.windows(size, overlap)
    covered = {place for window in windows for place in range(len(found.ids))[found.tokens(window)]}
    assert covered == set(range(len(found.ids)))


@given(texts, st.integers(1, 200))
def test_a_window_is_no_longer_than_asked_unless_it_is_one_segment(text: str, size: int) -> None:
    found = _cut(text)

    for first, stop in found.windows(size):
        tokens = found.tokens((first, stop))
        assert stop - first == 1 or tokens.stop - tokens.start <= size


@given(texts, st.data())
def test_a_fragment_holds_the_tokens_it_is_made_from(text: str, data: st.DataObject) -> None:
    found = _cut(text)
    windows = found.windows(96)
    if not windows:
        return
    window = data.draw(st.sampled_from(windows))
    tokens = found.tokens(window)
    first = data.draw(st.integers(0, tokens.stop - tokens.start - 1))
    last = data.draw(st.integers(first, tokens.stop - tokens.start - 1))

    span = found.around(window, first, last)

    assert span.start <= found.offsets[tokens.start + first][0]
    assert span.end >= found.offsets[tokens.start + last][1]
    assert 0 <= span.start < span.end <= len(text)


def test_a_blank_text_has_no_segments() -> None:
    found = segment_texts(TOKENIZER, ["", " \n ", "the sea"])

    assert [len(each.ids) for each in found] == [0, 0, 2]
    assert found[0].windows(96) == []


def test_a_sentence_of_200_tokens_is_three_segments_of_one_sentence() -> None:
    found = _cut("sea " * 200)

    assert np.diff(found.bounds).tolist() == [80, 80, 40]
    assert len(set(found.sentences)) == 1


def test_neighbouring_windows_share_a_sentence() -> None:
    found = _cut(" ".join(["the sea the sea."] * 4))

    assert found.windows(10) == [(0, 2), (1, 3), (2, 4)]


def test_a_title_on_the_first_line_is_read_as_a_sentence_of_its_own() -> None:
    full_stop = TOKENIZER.token_to_id(".")

    assert full_stop in _cut("The sea\nthe sea the sea!").ids
    assert full_stop in _cut("# The sea\n\nthe sea the sea!").ids
    assert full_stop not in _cut("The sea!\nthe sea the sea!").ids
    assert full_stop not in _cut(f"{'the ' * 13}\nthe sea!").ids
    assert full_stop not in _cut("The sea").ids


def test_an_answer_goes_on_into_the_next_sentence_only_where_that_is_clearly_likelier() -> None:
    sentences = np.array([0, 0, 0, 1, 1])
    logits = np.zeros((5, 2), dtype=np.float32)
    logits[1, 0], logits[2, 1], logits[4, 1] = 5.0, 4.0, 5.0

    assert likeliest_span(logits) == (1, 4)
    assert likeliest_span(logits, sentences) == (1, 2)
    logits[4, 1] = 7.0
    assert likeliest_span(logits, sentences) == (1, 4)


def test_each_token_of_a_window_has_the_number_of_its_sentence() -> None:
    (text,) = segment_texts(TOKENIZER, ["It is. So be it now. No."])

    numbers = text.segment_numbers((1, 3))

    assert len(numbers) == len(text.ids[text.tokens((1, 3))])
    assert sorted(set(numbers.tolist())) == [0, 1]
