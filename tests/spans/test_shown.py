"""Passages are found in prompts whole, or by the part that was left of them."""

from __future__ import annotations

from typing import Any

from rag_cover.spans.shown import find_shown

LONG = " ".join(f"Sentence {number} tells of light." for number in range(20))
OTHER = " ".join(f"Line {number} tells of rain." for number in range(20))


def passages(*texts: str) -> list[dict[str, Any]]:
    return [{"id": str(number), "text": text} for number, text in enumerate(texts)]


def shown(prompts: list[str], *texts: str) -> list[tuple[str, str]]:
    return [(each["id"], each["text"]) for each in find_shown(prompts, passages(*texts))]


def test_blanks_and_escapes_do_not_matter() -> None:
    assert shown([str([f'{LONG}\n\nIt\'s "so".'])], f'{LONG} It\'s\t"so".', OTHER) == [("0", f'{LONG} It\'s\t"so".')]


def test_passages_are_in_the_order_of_the_prompt() -> None:
    assert [id_ for id_, _ in shown([f"{OTHER}\n{LONG}"], LONG, OTHER)] == ["1", "0"]


def test_of_a_passage_that_was_cut_the_rest_is_in_the_prompt() -> None:
    assert shown([f"{LONG[:150]} Question?"], LONG, OTHER) == [("0", f"{LONG[:150].strip()}")]
    assert shown([f"Context: {LONG[-150:]}"], LONG, OTHER) == [("0", LONG[-150:].strip())]


def test_a_passage_of_which_less_stands_there_is_not_in_the_prompt() -> None:
    assert shown([f"{LONG[:60]}. Question?"], LONG) == []
    assert shown(["Why is the sky red?"], "Why is the sky blue?") == []


def test_a_passage_that_was_split_between_calls_is_whole() -> None:
    assert shown([LONG[:200], LONG[200:]], LONG) == [("0", LONG)]


def test_an_overlap_with_a_passage_that_is_there_is_no_part_of_the_one_that_is_not() -> None:
    following = f"{LONG[-150:]} {OTHER}"

    assert shown([f"{LONG} Question?"], LONG, following) == [("0", LONG)]


def test_a_beginning_that_passages_share_is_that_of_the_one_that_is_there() -> None:
    header = "These are the terms of service of the firm, in the version of the third of March, which are to be read first. "

    assert shown([f"{header}{LONG}"], header + OTHER, header + LONG) == [("1", header + LONG)]


def test_a_text_that_stands_within_another_stands_there() -> None:
    assert [id_ for id_, _ in shown([LONG], "Sentence 3 tells of light.", LONG)] == ["1", "0"]
