"""Texts crossed by construction: every cell is there, labels follow from the composition, shared words tell nothing."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from rag_cover.english.words import content_words
from rag_cover_embedded.inputs import Task
from rag_cover_embedded.training import crossed
from rag_cover_embedded.training.crossed import TEXTS, is_held_out, make_crossed_examples, single_examples
from rag_cover_embedded.training.example import NO_SPAN, Example
from rag_cover_embedded.training.splits import FITTING, LEARNING

ROWS: list[dict[str, Any]] = (
    [json.loads(line) for line in (TEXTS / "crossed.jsonl").read_text(encoding="utf-8").splitlines()]
    if (TEXTS / "crossed.jsonl").exists()
    else []
)
pytestmark = pytest.mark.skipif(not ROWS, reason="the texts are in the source distribution only")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a data folder with an empty file of seed rows."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "judge").mkdir()
    (folder / "judge" / "crossed_seed.jsonl").write_text("")
    return folder


@pytest.fixture(scope="module")
def examples(data: Path) -> list[Example]:
    return [*make_crossed_examples(data, random.Random(1), LEARNING)]


def test_a_share_of_the_topics_is_read_whole_and_the_rest_not_at_all(data: Path) -> None:
    def asked(share: float) -> set[str]:
        return {each.first for each in make_crossed_examples(data, random.Random(1), LEARNING, share=share)}

    few, more = asked(0.1), asked(0.3)

    assert 0 < len(few) < len(more)
    assert few <= more


def test_every_sub_question_has_every_cell() -> None:
    for row in ROWS:
        for sub in row["subs"]:
            assert {"short", "same", "other", "lean", "list", "table", "two"} == set(sub["yes"])
            assert {"mention", "attribute", "entity", "time", "hypothetical", "other"} == set(sub["no"])
            assert all(text.strip() for text in (*sub["yes"].values(), *sub["no"].values(), *sub["unknown"]))


@pytest.mark.slow
def test_shared_words_tell_nothing_about_the_label(examples: list[Example]) -> None:
    judged = [each for each in examples if each.label is not None]
    shares = [
        (len(content_words(e.first) & content_words(e.second)) / max(1, len(content_words(e.first))), e.label) for e in judged
    ]
    yes, no = ([share for share, label in shares if label == wanted] for wanted in (1.0, 0.0))
    rng = random.Random(0)
    pairs = [(rng.choice(yes), rng.choice(no)) for _ in range(20_000)]

    area = sum((a > b) + 0.5 * (a == b) for a, b in pairs) / len(pairs)

    assert 0.45 < area < 0.55


def test_a_span_of_a_composed_text_is_a_text_that_answers(examples: list[Example]) -> None:
    answering = {text for row in ROWS for sub in row["subs"] for text in sub["yes"].values()}
    bare = {text.lstrip("-*•0123456789.) ") for text in answering}

    for each in examples:
        if each.label == 1.0 and each.span is not None:
            assert each.second[slice(*each.span)].lstrip("-*•0123456789.) ") in bare


def test_a_text_that_does_not_answer_holds_none_of_the_question_s_own_answers(examples: list[Example]) -> None:
    answers = {sub["s"]: sub["yes"] for row in ROWS for sub in row["subs"]}

    for each in examples:
        if each.label == 0.0:
            assert each.span == NO_SPAN
            assert not any(answers[each.first][cell] in each.second for cell in ("same", "other", "two"))


def test_held_out_domains_are_in_the_fitting_part_alone(data: Path, examples: list[Example]) -> None:
    held_out = {sub["s"] for row in ROWS if is_held_out(row["domain"]) for sub in row["subs"]}
    fitted = {each.first for each in make_crossed_examples(data, random.Random(1), FITTING) if each.label is not None}

    assert fitted == held_out
    assert held_out.isdisjoint(each.first for each in examples)


def test_refusals_abstain_and_answers_do_not(examples: list[Example]) -> None:
    known = [each for each in examples if each.task is Task.REPLIES and each.abstains is not None]

    assert {each.abstains for each in known} == {0, 1, 2}
    assert all(each.abstains == 0 for each in known if each.label == 1.0)


@pytest.mark.slow
def test_the_same_seed_composes_the_same_texts(data: Path, examples: list[Example]) -> None:
    assert examples == [*make_crossed_examples(data, random.Random(1), LEARNING)]
    assert examples != [*make_crossed_examples(data, random.Random(2), LEARNING)]


def test_templates_name_the_question_s_words() -> None:
    topic = ROWS[0]
    sub = topic["subs"][0]
    texts = [e.second for seed in range(40) for e in single_examples(topic, sub, {sub["type"]: [sub]}, random.Random(seed))]

    assert any(sub["clause"] in text for text in texts)
    assert not any("{" in text and "}" in text and "clause" in text for text in texts)
    assert len(crossed.REFUSALS) == len(set(crossed.REFUSALS))
