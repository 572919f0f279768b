"""Citations as models write them, and which passages they mean."""

from __future__ import annotations

from typing import Any

import pytest

from rag_cover import Passage, Question, Trace
from rag_cover.citations.markers import Numbering, find_markers, split_bibliography, strip_markers
from rag_cover.citations.statements import read_cited_statements

PAGES = (
    Passage("On the sky.", id="sky-1", metadata={"url": "https://www.example.org/sky/"}),
    Passage("On grass.", title="Grass of the prairie", metadata={"source": "docs/grass.md"}),
    Passage("On water.", id="water-1"),
)


def cited(answer: str, *, prompt: tuple[Passage, ...] = PAGES, **metadata: Any) -> list[list[tuple[int, ...]]]:
    trace = Trace(question=Question("What is known?"), answer=answer, prompt=prompt, metadata=metadata)
    return [[citation.passages for citation in each.citations] for each in read_cited_statements(trace)]


@pytest.mark.parametrize(
    ("marker", "numbers"),
    [
        ("[1]", [(1,)]),
        ("[1][2]", [(1,), (2,)]),
        ("[1] [3]", [(1,), (3,)]),
        ("[1, 2]", [(1, 2)]),
        ("[1; 3]", [(1, 3)]),
        ("[1-3]", [(1, 2, 3)]),
        ("[1–3]", [(1, 2, 3)]),
        ("[^2]", [(2,)]),
        ("【2】", [(2,)]),
        ("【2†sky.md】", [(2,)]),
        ("[Source 2]", [(2,)]),
        ("(Source 2)", [(2,)]),
        ("(see Sources 1 and 2)", [(1, 2)]),
        ("[Source 1, Source 2]", [(1, 2)]),
        ("[2020]", []),
        ("[a]", []),
        ("(2)", []),
        ("[]", []),
    ],
)
def test_numbers_are_read_in_every_form(marker: str, numbers: list[tuple[int, ...]]) -> None:
    text = f"The sky is blue {marker}."

    assert [found.numbers for found in find_markers(text)] == numbers
    if numbers:
        assert strip_markers(text) == "The sky is blue."


def test_numbers_are_those_of_the_prompts_order_from_1() -> None:
    assert cited("The sky is really blue [1]. Grass is mostly green [2, 3].") == [[(0,)], [(1,), (2,)]]


def test_a_number_of_no_passage_is_missing() -> None:
    assert cited("The sky is really blue [4].") == [[()]]


def test_an_answer_that_cites_0_numbers_from_0() -> None:
    assert cited("The sky is really blue [0]. Grass is mostly green [1].") == [[(0,)], [(1,)]]


def test_source_numbers_in_the_passages_go_before_their_order() -> None:
    numbered = (Passage("Source 2:\nOn grass."), Passage("Source 1:\nOn the sky."))

    assert cited("The sky is really blue [1].", prompt=numbered) == [[(1,)]]


def test_a_citation_behind_the_full_stop_belongs_to_the_sentence_before_it() -> None:
    assert cited("The sky is really blue. [1] Grass is mostly green.[2]") == [[(0,)], [(1,)]]
    assert cited("The sky is really blue. (Source 1) Grass is mostly green. (Source 2)") == [[(0,)], [(1,)]]


def test_a_citation_that_is_the_subject_stays_in_its_sentence() -> None:
    assert cited("Grass is mostly green.\n[1] says that the sky is really blue.") == [[], [(0,)]]


@pytest.mark.parametrize(
    "link",
    [
        "[the sky](https://example.org/sky)",
        "([1](http://www.example.org/sky/#colour))",
        "[sky](sky-1)",
        "[4](https://example.org/sky)",
    ],
)
def test_links_mean_the_passage_of_their_address_or_id(link: str) -> None:
    assert cited(f"As is known of {link}, it is blue.") == [[(0,)]]


def test_links_mean_the_passages_of_their_title_or_file() -> None:
    assert cited("See [Grass of the prairie](https://example.org/unknown) on green grass.") == [[(1,)]]
    assert cited("Grass is mostly green ([more](docs/grass.md)).") == [[(1,)]]


def test_a_link_to_a_page_that_was_not_shown_is_a_missing_citation_where_passages_have_addresses() -> None:
    strange = "The sky is [really blue](https://example.org/other)."

    assert cited(strange) == [[()]]
    assert cited(strange, prompt=(Passage("On the sky."),)) == [[]]


def test_a_link_to_one_page_in_several_passages_cites_all_of_them() -> None:
    page = {"url": "https://example.org/sky"}
    chunks = (Passage("Blue.", metadata=page), Passage("Grey.", metadata=page))

    assert cited("The [sky](https://example.org/sky) is really blue.", prompt=chunks) == [[(0, 1)]]


def test_the_words_of_a_link_stay_in_the_statement() -> None:
    trace = Trace(question=Question("?"), answer="The [sky](https://example.org/sky) is blue ([1](x.md)).", prompt=PAGES)

    assert [each.statement.words for each in read_cited_statements(trace)] == ["The sky is blue."]


@pytest.mark.parametrize(
    "listed", [[1, 3], ["1", "3"], ["sky-1", "water-1"], [{"source_id": 1, "quote": "…"}, {"source_id": 3}], [0, 2]]
)
def test_a_list_of_sources_beside_the_answer_is_cited_by_each_statement(listed: list[Any]) -> None:
    assert cited("The sky is really blue. Water is rather wet.", citations=listed) == [[(0,), (2,)]] * 2


def test_a_structured_answer_as_json_text_has_its_list() -> None:
    assert cited('{"answer": "Grass is mostly green.", "citations": [{"source_id": 2}]}') == [[(1,)]]


def test_sources_listed_at_the_end_count_where_no_sentence_cites() -> None:
    assert cited("Grass is mostly green.\n\nSources: [2], [3]") == [[(1,), (2,)]]
    assert cited("Grass is mostly green [2].\n\n## References\n[2] On grass\n[3] On water") == [[(1,)]]


def test_a_heading_over_prose_is_no_list_of_sources() -> None:
    answer = "Sources: the sun.\nIt shines [1]."

    assert split_bibliography(answer) == (answer, "")


def test_numbers_are_unambiguous_where_ids_are_numbers() -> None:
    swapped = (Passage("On grass.", id="2"), Passage("On the sky.", id="1"))

    assert [each.passages for each in Numbering.of(swapped).read_list(["1"])] == [(1,)]
