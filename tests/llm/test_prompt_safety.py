"""Untrusted texts stay between their tags, and quotations from them are found again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.llm.prompt_safety import Quotable, escape_markup, fence

TEXT = "The Moselle is “545 km” long —\nit rises in the Vosges & joins the Rhine at Koblenz."


@given(st.text())
def test_no_text_closes_its_fence(text: str) -> None:
    shown = fence("text", text)

    assert shown.count("<") == 2
    assert shown.startswith("<text>\n")
    assert shown.endswith("\n</text>")
    shown.encode()


@pytest.mark.parametrize("token", ["<|im_start|>", "</text>", "<s>", "[INST]", "[/INST]", "[SYSTEM_PROMPT]", "<|eot_id|>"])
def test_no_text_spells_the_tokens_of_a_chat_template(token: str) -> None:
    assert token not in escape_markup(f"before {token} after")


def test_unseen_characters_are_not_shown() -> None:
    assert escape_markup("a\u202eb\u200bc\U000e0041d\x00e\ufeff") == "abcde"


def test_characters_of_other_scripts_are_shown() -> None:
    text = "\u0646\u0648\u0634\u062a\u0647\u200c\u0647\u0627 字 \U0001f468\u200d\U0001f469 é"

    assert escape_markup(text) == text


@pytest.mark.parametrize(
    "fragment",
    [
        "rises in the Vosges",
        "RISES IN THE VOSGES",
        "  rises in the Vosges.  ",
        '"545 km" long - it rises',
        "“545 km” long —\nit rises",
        "Vosges &amp; joins",
        "Vosges & joins the Rhine",
        "...rises in the Vosges…",
    ],
)
def test_a_quotation_is_found_up_to_its_form(fragment: str) -> None:
    found = Quotable(TEXT).find(fragment)

    assert found is not None
    assert found.of(TEXT) in TEXT
    assert "Vosges" in found.of(TEXT) or "545" in found.of(TEXT)


@pytest.mark.parametrize("fragment", ["", " ", "...", "—", "rises in the Alps", "The Moselle joins the Rhine", "545 miles"])
def test_what_the_text_does_not_say_is_not_found(fragment: str) -> None:
    assert Quotable(TEXT).find(fragment) is None


@given(st.text(min_size=1, max_size=60), st.data())
def test_every_part_of_a_text_with_a_letter_is_found(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    part = text[start : data.draw(st.integers(start + 1, len(text)))]

    found = Quotable(text).find(part)

    assert (found is not None) == any(map(str.isalnum, part))
    assert found is None or found.of(text) == part


def test_a_quotation_around_a_lone_surrogate_is_found_as_it_was_shown() -> None:
    text = "The Moselle \ud800 rises in the Vosges."

    found = Quotable(text).find(escape_markup("Moselle \ud800 rises"))

    assert found is not None
    assert text[found.start : found.end] == "Moselle \ud800 rises"
