"""What a compressor, reranker or filter of documents owes the pipeline that it stands in.

LangChain's ``BaseDocumentCompressor`` is taken as it is; of others, such as LlamaIndex's node postprocessors, say in `compress`
how to call them.
"""

from __future__ import annotations

import asyncio
import copy
from collections import Counter
from collections.abc import Awaitable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

from rag_cover.testing.conformance.attempts import THREADS, at_once, check_call, check_call_or_refusal, make_skip
from rag_cover.testing.conformance.oddities import BLANK_TEXTS, ODD_TEXTS

__all__ = ["CompressorTests"]

_QUERY = "When was the Harlow library opened?"
_ANSWER = "The Harlow library was opened on 3 May 1904."
_TEXTS = (
    "Bread is baked from flour, water and yeast.",
    "The Harlow library has three floors and a quiet reading room.",
    _ANSWER,
    "The museum is a ten-minute walk from the station.",
    "Air scatters blue light more than red light.",
    "Water boils at 100 degrees Celsius.",
)
_OTHER_QUERY = "Why is the sky blue?"


class CompressorTests:
    """Tests of a compressor: subclass them under a name that begins with ``Test``, and give it as the fixture ``compressor``.

        class TestMyCompressor(CompressorTests):
            most = 3

            @pytest.fixture
            def compressor(self) -> MyCompressor:
                return MyCompressor(top_n=3)

            def make_document(self, text: str, name: str) -> Document:
                return Document(text, id=name)

    Attributes:
        most: how many documents it keeps at most; None: any number.
        keeps_order: whether what it keeps stands in the order in which it came, as with a filter.
        has_async: whether it has an asynchronous form.
    """

    most: int | None = None
    keeps_order: bool = False
    has_async: bool = True

    def make_document(self, text: str, name: str) -> Any:
        """Return a document with a text and a name of its own, as the framework makes them."""
        return SimpleNamespace(page_content=text, id=name, metadata={"name": name, "nested": {"pages": [1, 2]}})

    def compress(self, compressor: Any, documents: Sequence[Any], query: str) -> Sequence[Any]:
        """Return what the compressor keeps of documents for a query."""
        kept: Sequence[Any] = compressor.compress_documents(documents, query)
        return kept

    def acompress(self, compressor: Any, documents: Sequence[Any], query: str) -> Awaitable[Sequence[Any]]:
        """Return what to await for the same."""
        kept: Awaitable[Sequence[Any]] = compressor.acompress_documents(documents, query)
        return kept

    def name_of(self, document: Any) -> str:
        """Return the name that a document was made with."""
        return str(document.id)

    def text_of(self, document: Any) -> str:
        """Return the text that a document was made with."""
        return str(document.page_content)

    def test_it_keeps_some_of_what_it_was_given(self, compressor: Any) -> None:
        """Each at most once, with its text; at most as many as it is to keep; in their order where it filters."""
        documents = self._documents(_TEXTS)

        self._check(documents, self._compress_checked(compressor, documents, _QUERY, "plain documents"), "plain documents")

    def test_it_keeps_the_document_that_answers(self, compressor: Any) -> None:
        """Of six plain documents one answers."""
        kept = self._compress_checked(compressor, self._documents(_TEXTS), _QUERY, "plain documents")

        assert _ANSWER in [self.text_of(each) for each in kept], (
            "the one document that answers the question was dropped; look whether the best are kept, and not the worst"
        )

    def test_nothing_is_kept_of_nothing(self, compressor: Any) -> None:
        """A retriever that finds nothing is no mistake."""
        assert list(self._compress_checked(compressor, [], _QUERY, "no documents")) == [], (
            "documents were made up; return an empty list"
        )

    def test_a_single_document_is_no_special_case(self, compressor: Any) -> None:
        """Neither is one that answers nor one that does not."""
        for text in (_ANSWER, _TEXTS[0]):
            documents = self._documents([text])
            self._check(documents, self._compress_checked(compressor, documents, _QUERY, "one document"), "one document")

    def test_what_it_is_given_stays_as_it_was(self, compressor: Any) -> None:
        """The list and the documents are shared with whoever retrieved them: a score belongs on a copy."""
        documents = self._documents(_TEXTS)
        before, listed = copy.deepcopy(documents), list(documents)

        self._compress_checked(compressor, documents, _QUERY, "plain documents")

        assert len(documents) == len(listed), "documents were taken out of the list that was given; return a new list"
        assert all(one is other for one, other in zip(documents, listed, strict=True)), (
            "the list that was given was put in another order; return a new list"
        )
        assert documents == before, "a document that was given was changed; put scores and notes on copies"

    def test_the_same_documents_are_kept_every_time(self, compressor: Any) -> None:
        """Nothing is left on the compressor by other queries."""
        found = [self._names(compressor, query) for query in (_QUERY, _QUERY, _OTHER_QUERY, _QUERY)]

        assert found[0] == found[1] == found[3], (
            "the same documents were compressed to something else another time; keep no state, seed what samples"
        )

    def test_many_threads_get_what_one_gets(self, compressor: Any) -> None:
        """One compressor serves every request of a server, with different queries."""
        queries = [(_QUERY, _OTHER_QUERY)[turn % 2] for turn in range(THREADS)]
        alone = {query: self._names(compressor, query) for query in queries}

        found = at_once([partial(self._names, compressor, query) for query in queries])

        assert found == [alone[query] for query in queries], (
            f"{THREADS} threads got other documents than one; keep what belongs to a call in variables, not on the compressor"
        )

    def test_its_async_form_keeps_the_same(self, compressor: Any) -> None:
        """Also several at once on one event loop."""
        if not self.has_async:
            reason = "there is no asynchronous form (has_async)"
            raise make_skip(reason)
        queries = [_QUERY, _OTHER_QUERY] * 4

        found = check_call(lambda: asyncio.run(self._gather_names(compressor, queries)), "awaiting it", "look at its cause")

        assert found == [self._names(compressor, query) for query in queries], (
            "the asynchronous form kept other documents; let one call the other"
        )

    def test_a_blank_query_is_refused_or_compressed(self, compressor: Any) -> None:
        """By a ValueError that says so, or like any other."""
        for name, query in BLANK_TEXTS.items():
            documents = self._documents(_TEXTS)
            kept = check_call_or_refusal(
                partial(self.compress, compressor, documents, query),
                f"compressing for {name} as query",
                "keep documents, or raise a ValueError that says what to do",
            )
            self._check(documents, kept or [], f"{name} as query")

    def test_odd_texts_are_compressed_like_others(self, compressor: Any) -> None:
        """Blank, endless and unreadable documents beside one that answers, and unreadable queries."""
        for name, text in ODD_TEXTS.items():
            documents = self._documents([text, _ANSWER, f"{text} {_TEXTS[1]}"])
            for query in (_QUERY, f"{_QUERY} {text}"):
                self._check(documents, self._compress_checked(compressor, documents, query, name), name)

    def test_texts_that_occur_twice_are_no_special_case(self, compressor: Any) -> None:
        """Two documents may say the same: each is kept at most once."""
        documents = self._documents([_ANSWER, _TEXTS[0], _ANSWER, _TEXTS[0]])

        self._check(
            documents, self._compress_checked(compressor, documents, _QUERY, "texts that occur twice"), "texts that occur twice"
        )

    def _documents(self, texts: Sequence[str]) -> list[Any]:
        return [self.make_document(text, f"document-{place}") for place, text in enumerate(texts)]

    def _compress_checked(self, compressor: Any, documents: Sequence[Any], query: str, about: str) -> Sequence[Any]:
        advice = "return documents, all of them where none can be chosen"
        kept = check_call(partial(self.compress, compressor, documents, query), f"compressing {about}", advice)
        assert isinstance(kept, Sequence), f"a {type(kept).__name__} came back, with {about}; return a list of documents"
        check_call(
            lambda: [(self.name_of(each), self.text_of(each)) for each in kept],
            f"reading what came back, with {about},",
            "return documents",
        )
        return kept

    def _names(self, compressor: Any, query: str) -> list[str]:
        return [
            self.name_of(each) for each in self._compress_checked(compressor, self._documents(_TEXTS), query, "plain documents")
        ]

    async def _gather_names(self, compressor: Any, queries: Sequence[str]) -> list[list[str]]:
        found = await asyncio.gather(*(self.acompress(compressor, self._documents(_TEXTS), query) for query in queries))
        return [[self.name_of(each) for each in kept] for kept in found]

    def _check(self, documents: Sequence[Any], kept: Sequence[Any], about: str) -> None:
        texts = {self.name_of(each): self.text_of(each) for each in documents}
        names = [self.name_of(each) for each in kept]
        unknown = [name for name in names if name not in texts]
        assert not unknown, (
            f"{unknown[:1]} was never given, with {about}; return the documents themselves, or copies with their ids"
        )
        twice = [name for name, often in Counter(names).items() if often > 1]
        assert not twice, f"{twice[0]!r} came back twice, with {about}; return each document at most once"
        for each in kept:
            assert self.text_of(each) == texts[self.name_of(each)], f"a text was changed, with {about}; return it as it came"
        assert self.most is None or len(kept) <= self.most, f"{len(kept)} documents came back, with {about}; keep {self.most}"
        places = [list(texts).index(name) for name in names]
        assert not self.keeps_order or places == sorted(places), f"a filter changed the order, with {about}; leave it alone"
