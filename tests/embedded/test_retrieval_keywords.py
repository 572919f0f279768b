"""Words to search by, and BM25 over them."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from rag_cover.questions import Passage
from rag_cover_embedded.retrieval.keywords import Keywords, search_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Who wrote the novels?", ["wrote", "novel"]),
        ("Škoda, Čapek & Żeleński", ["skoda", "capek", "zelenski"]),
        ("ladies of glass on a bus see trees", ["lady", "glass", "bus", "see", "tree"]),
        ("C 4 x_y", ["c", "4", "x", "y"]),
        ("長城在哪裡", ["長", "城", "在", "哪", "裡"]),
        ("\ud800 \udfffzell", ["zell"]),
        ("the of and?", []),
        ("", []),
    ],
)
def test_words_are_compared_without_case_accents_plurals_and_function_words(text: str, words: list[str]) -> None:
    assert search_words(text) == words


def test_a_score_is_bm25_as_lucene_computes_it() -> None:
    keywords = Keywords.of([Passage("river moselle"), Passage("river river"), Passage("zell", title="moselle")])

    found = keywords.scores("river")

    rarity = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))  # two of three passages hold it; their mean length is 7 / 3
    length = 0.9 * (1 - 0.4 + 0.4 * 2 / (7 / 3))
    assert found.tolist() == pytest.approx([rarity / (1 + length), rarity * 2 / (2 + length), 0])


def test_a_title_counts_twice() -> None:
    keywords = Keywords.of([Passage("zell bell", title="moselle"), Passage("zell bell moselle moselle")])

    first, second = keywords.scores("moselle").tolist()

    assert first == pytest.approx(second)
    assert first > 0


def test_a_query_of_unknown_words_scores_nothing() -> None:
    keywords = Keywords.of([Passage("river moselle"), Passage("")])

    assert keywords.scores("quokka").tolist() == keywords.scores("the").tolist() == keywords.scores("").tolist() == [0, 0]


def test_a_corpus_without_words_scores_nothing() -> None:
    assert Keywords.of([Passage(""), Passage("?")]).scores("river").tolist() == [0, 0]


def test_a_saved_index_scores_the_same_and_holds_no_pickle(tmp_path: Path) -> None:
    keywords = Keywords.of([Passage("river moselle"), Passage("the glacier and the river")])

    keywords.save(tmp_path)

    opened = Keywords.open(tmp_path)
    assert opened.scores("Which rivers?").tolist() == keywords.scores("Which rivers?").tolist()
    assert len(opened) == 2
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".npy"}
