"""The embedded retriever: BM25 and late interaction over the shipped encoder, their rankings fused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock

import numpy as np

from rag_cover.argument_checks import refuse_below
from rag_cover.errors import DuplicatePassageError, InvalidValueError, PassageNotFoundError
from rag_cover.questions import Passage
from rag_cover.stores.passages import convert_passages
from rag_cover_embedded.retrieval.encoding import Encoder
from rag_cover_embedded.retrieval.fusion import fuse_rankings
from rag_cover_embedded.retrieval.index import Index, corpus_digest
from rag_cover_embedded.retrieval.workers import shared_workers
from rag_cover_embedded.weights import Weights

__all__ = ["EmbeddedRetriever"]

CANDIDATES = 100
KAPPA = 10


@dataclass(frozen=True, slots=True)
class _Indexed:
    """A corpus with its index, replaced as a whole."""

    passages: tuple[Passage, ...]
    index: Index
    digest: str


class EmbeddedRetriever:
    """Finds passages by their words and by what their tokens mean. Thread-safe, deterministic, offline; made for English.

    Args:
        corpus: the passages, kept in memory; of equal ones without an id each is found.
        index: the folder where their index is found, or built; None builds it in memory. The index of a corpus that shares
            passages with this one is updated: only what is new is encoded. A passage is known by its title and text, whatever
            its id.

    Raises:
        InvalidValueError: the corpus is empty.
        DuplicatePassageError: two of its passages have one id.
        StoreError: ``index`` holds something else, or the index of another encoder, or of a corpus that shares
            no passage with this one; or it cannot be written.
        CorruptFileError: the index is damaged; of one above 64 MB, `verify` finds what opening it may not.
    """

    agreed_score = 0.95
    """From this score on, a passage is first by its words and by what they mean, or nearly."""

    def __init__(self, corpus: Iterable[Passage], index: Path | None = None) -> None:
        passages = tuple(corpus)
        if not passages:
            message = "A retriever needs at least one passage to find; this corpus is empty."
            raise InvalidValueError(message)
        _refuse_taken_ids(passages, ())
        self._encoder = Encoder(Weights.open())
        self._folder = index
        self._changes = Lock()
        with ThreadPoolExecutor(1) as pool:
            opened = pool.submit(self._encoder.open)  # beside the corpus's digest and the files of the index
            digest = corpus_digest(passages)
            kept = (
                Index.of(passages, self._encoder)
                if index is None
                else Index.open_or_build(passages, self._encoder, index, digest)
            )
            opened.result()
        self._indexed = _Indexed(passages, kept, digest)

    @property
    def fingerprint(self) -> str:
        """Tell this retriever and its corpus from others."""
        return f"{self._encoder.fingerprint}:hybrid-1:{self._indexed.digest[:16]}"

    def add(self, passages: Iterable[Passage | str | Mapping[str, object]]) -> None:
        """Add passages after those that are there, to the index in the folder too: then it finds what one built anew finds.

        Only what is added is encoded. Queries that run meanwhile see all of it or nothing. A passage may be given as its text,
        or as a dict with the fields of a line of a corpus.

        Raises:
            InvalidValueError: what is given is no list or other iterable of passages, such as a single text.
            InputError: something in it is no passage; nothing is added.
            DuplicatePassageError: an id is there already, or twice among those to add; nothing is added.
            IndexChangedError: another retriever, of this process or another, changed the index since this one opened it;
                nothing is added.
            CorruptFileError: the index is damaged; nothing is added.
            StoreError: the folder of the index cannot be written; nothing is added.
        """
        if not (added := tuple(convert_passages(passages))):
            return
        with self._changes:
            present = self._indexed.passages
            _refuse_taken_ids(added, present)
            self._change((*present, *added))

    def remove(self, ids: Iterable[str] | str) -> None:
        """Remove the passages with the given ids, from the index in the folder too: then it finds what one built anew finds.

        A plain string is one id. Passages without an id, such as those given as plain texts, cannot be removed.

        Raises:
            InvalidValueError: something else than ids is given, such as a passage; nothing is removed.
            PassageNotFoundError: no passage has one of the ids; nothing is removed.
            InvalidValueError: no passage would be left; nothing is removed.
            IndexChangedError: another retriever, of this process or another, changed the index since this one opened it;
                nothing is removed.
            CorruptFileError: the index is damaged; nothing is removed.
            StoreError: the folder of the index cannot be written; nothing is removed.
        """
        unwanted = dict.fromkeys(_list_ids(ids))
        with self._changes:
            present = self._indexed.passages
            known = {each.id for each in present}
            if unknown := [name for name in unwanted if name not in known]:
                raise PassageNotFoundError(unknown)
            left = tuple(each for each in present if each.id not in unwanted)
            if not left:
                message = "A retriever needs at least one passage to find; all of them were to be removed."
                raise InvalidValueError(message)
            self._change(left)

    def verify(self) -> None:
        """Compare every byte of the index in the folder with its checksums; an index in memory has none.

        Opening an index compares it in full only up to 64 MB, beyond that the smaller files and samples of the larger ones.

        Raises:
            CorruptFileError: the index is damaged.
            IndexChangedError: another retriever changed the index since this one opened it.
            StoreError: the index was kept by an earlier version, without checksums.
        """
        if self._folder is not None:
            self._indexed.index.verify(self._folder, self._encoder)

    def _change(self, passages: tuple[Passage, ...]) -> None:
        digest = corpus_digest(passages)
        self._indexed = _Indexed(passages, self._indexed.index.update(passages, self._encoder, self._folder, digest), digest)

    def retrieve(self, query: str, *, k: int) -> tuple[Passage, ...]:
        """Return at most k passages, best first, as they came but for ``score``.

        The score is in (0, 1] and tells the order, not whether a passage answers: 1 stands first by words and by meaning, 0.5
        first by one of them and far behind by the other. Ranked are the 100 (or k) best by words and the 100 (or k) best by
        the query's vector, up to its 254th token. A query of function words alone is ranked by meaning; one without a letter
        or digit finds nothing, and no passage without any is found. Of passages with the same score the earlier in the corpus
        goes first.

        Raises:
            InvalidValueError: the query is no text, or ``k`` is no whole number from 1 on.
        """
        refuse_below(1, k=k)
        if not isinstance(query, str):
            message = f"a query is a text, not {type(query).__name__}"
            raise InvalidValueError(message)
        indexed = self._indexed
        most = max(CANDIDATES, k)
        keywords, vectors = indexed.index.keywords, indexed.index.vectors
        ranking = shared_workers().begin(partial(keywords.rank, query, most))
        asked, by_words = self._encoder.query(query), ranking.result()
        if asked is None:
            return ()
        candidates = np.union1d(by_words, vectors.nearest(asked.embedding, most))
        places, fusion = fuse_rankings([by_words, vectors.interacting(asked, candidates)], kappa=KAPPA)
        best = zip(places[:k].tolist(), fusion[:k].tolist(), strict=True)
        return tuple(indexed.passages[place].model_copy(update={"score": score}) for place, score in best)


def _refuse_taken_ids(added: Iterable[Passage], present: Iterable[Passage]) -> None:
    """Refuse passages with an id that one of them, or one that is present, has."""
    ids, known = [each.id for each in added if each.id], {each.id for each in present}
    if len(known.union(ids)) == len(known) + len(ids):
        return
    raise DuplicatePassageError([name for name, count in Counter(ids).items() if count > 1 or name in known])


def _list_ids(ids: object) -> list[str]:
    """Return the ids that are given; a plain string is one."""
    given = [ids] if isinstance(ids, str | Passage | Mapping) or not isinstance(ids, Iterable) else list(ids)
    listed = [each for each in given if isinstance(each, str)]
    if len(listed) < len(given):
        message = "passages are removed by the ids that they have, which are texts: give one, or a list such as [passage.id]"
        raise InvalidValueError(message)
    return listed
