"""Every check of the suite for compressors catches something."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from rag_cover.backends import ScoringItem
from rag_cover.testing import KeywordScorer
from rag_cover.testing.conformance import CompressorTests

Documents = list[Any]
Compress = Callable[[Documents, str], Documents]


class Suite(CompressorTests):
    """Keeps three at most."""

    most = 3


class FilterSuite(CompressorTests):
    """Keeps the order."""

    keeps_order = True


class Compressor:
    """Compresses by a function, and by another where it is awaited."""

    def __init__(self, compress: Compress, acompress: Compress | None = None) -> None:
        self.compress_documents, self._acompress = compress, acompress or compress

    async def acompress_documents(self, documents: Documents, query: str) -> Documents:
        return self._acompress(documents, query)


def worth(document: Any, query: str) -> float:
    return float(KeywordScorer().correctness([ScoringItem(query, document.page_content)])[0])


def best(documents: Sequence[Any], query: str) -> Documents:
    return sorted(documents, key=lambda each: -worth(each, query))[:3]


def scored_in_place(documents: Documents, query: str) -> Documents:
    for document in documents:
        document.metadata["relevance_score"] = worth(document, query)
    return best(documents, query)


def sorted_in_place(documents: Documents, query: str) -> Documents:
    documents.sort(key=lambda each: -worth(each, query))
    return documents[:3]


def taken_out(documents: Documents, query: str) -> Documents:
    kept = best(documents, query)
    del documents[3:]
    return kept


def shouted(documents: Documents, query: str) -> Documents:
    kept = copy.deepcopy(best(documents, query))
    for document in kept:
        document.page_content = document.page_content.upper()
    return kept


def by_text(documents: Documents, query: str) -> Documents:
    """Give back the last document with a text, as a lookup by text does."""
    by_content = {each.page_content: each for each in documents}
    return [by_content[each.page_content] for each in best(documents, query)]


def scaled(documents: Documents, query: str) -> Documents:
    values = [worth(each, query) for each in documents]
    spread = [(value - min(values)) / (max(values) - min(values)) for value in values]
    return [each for each, value in zip(documents, spread, strict=True) if value > 0][:3]


def alternating() -> Compressor:
    calls = iter(range(10_000))
    return Compressor(lambda documents, query: best(documents, query)[: 2 + next(calls) % 2])


def without_blanks(documents: Documents, query: str) -> Documents:
    if any(not each.page_content for each in documents):
        message = "an empty text"
        raise KeyError(message)
    return best(documents, query)


def nothing(*_: object) -> Any:
    return None


def of_words(documents: Documents, query: str) -> Documents:
    return best(documents, query) if query.split(maxsplit=1)[0] else []


class Remembering:
    """Keeps the query on itself."""

    query = ""

    def compress_documents(self, documents: Documents, query: str) -> Documents:
        self.query = query
        time.sleep(0.001)
        return best(documents, self.query)


MADE_UP = SimpleNamespace(page_content="Made up.", id="made-up", metadata={})

FAULTS: dict[str, tuple[Any, str, str]] = {
    "made up": (Compressor(lambda *_: [MADE_UP]), "test_it_keeps_some_of_what_it_was_given", "was never given"),
    "twice": (
        Compressor(lambda documents, _: documents[:1] * 2),
        "test_it_keeps_some_of_what_it_was_given",
        "came back twice",
    ),
    "texts": (
        Compressor(lambda documents, _: [each.page_content for each in documents]),
        "test_it_keeps_some_of_what_it_was_given",
        "'str' object has no attribute 'id'; return documents",
    ),
    "nothing": (Compressor(nothing), "test_nothing_is_kept_of_nothing", "a NoneType came back, with no documents; return a"),
    "too many": (Compressor(lambda documents, _: documents), "test_it_keeps_some_of_what_it_was_given", "keep 3"),
    "another text": (Compressor(shouted), "test_it_keeps_some_of_what_it_was_given", "a text was changed"),
    "the worst": (
        Compressor(lambda documents, _: documents[-1:]),
        "test_it_keeps_the_document_that_answers",
        "not the worst",
    ),
    "always one": (
        Compressor(lambda documents, _: documents[:3] or [MADE_UP]),
        "test_nothing_is_kept_of_nothing",
        "made up",
    ),
    "scaled": (Compressor(scaled), "test_a_single_document_is_no_special_case", "raised ZeroDivisionError"),
    "scored in place": (Compressor(scored_in_place), "test_what_it_is_given_stays_as_it_was", "on copies"),
    "sorted in place": (Compressor(sorted_in_place), "test_what_it_is_given_stays_as_it_was", "in another order"),
    "taken out": (Compressor(taken_out), "test_what_it_is_given_stays_as_it_was", "taken out of the list"),
    "a count": (alternating(), "test_the_same_documents_are_kept_every_time", "keep no state"),
    "state": (Remembering(), "test_many_threads_get_what_one_gets", "not on the compressor"),
    "two forms": (
        Compressor(best, lambda documents, _: documents[:3]),
        "test_its_async_form_keeps_the_same",
        "other documents",
    ),
    "no async form": (Remembering(), "test_its_async_form_keeps_the_same", "raised AttributeError"),
    "the first word": (Compressor(of_words), "test_a_blank_query_is_refused_or_compressed", "raised IndexError"),
    "no blank texts": (Compressor(without_blanks), "test_odd_texts_are_compressed_like_others", "raised KeyError"),
    "by text": (Compressor(by_text), "test_texts_that_occur_twice_are_no_special_case", "came back twice"),
}


@pytest.mark.parametrize(("broken", "check", "sentence"), FAULTS.values(), ids=FAULTS)
def test_what_is_broken_is_told_in_a_sentence(broken: Any, check: str, sentence: str) -> None:
    with pytest.raises(AssertionError, match=sentence):
        getattr(Suite(), check)(broken)


def test_a_filter_that_changes_the_order_is_told() -> None:
    with pytest.raises(AssertionError, match="changed the order"):
        FilterSuite().test_it_keeps_some_of_what_it_was_given(Compressor(best))


def test_every_check_is_seen_to_fail() -> None:
    assert {name for name in dir(Suite) if name.startswith("test_")} == {check for _, check, _ in FAULTS.values()}


class TestACompressorThatIsRight(Suite):
    @pytest.fixture
    def compressor(self) -> Compressor:
        return Compressor(best)
