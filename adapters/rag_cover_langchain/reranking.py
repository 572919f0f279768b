"""Document compressors: documents in the order in which they add to what is covered, and without those that do harm.

    retriever = ContextualCompressionRetriever(
        base_compressor=CoverageCompressor(top_n=5), base_retriever=store.as_retriever(search_kwargs={"k": 20})
    )

In a chain: ``CoverageCompressor(top_n=5).as_runnable()``. Both run in a worker thread where the chain is asynchronous; one
instance serves any number of threads. What they are given is never changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_args

from langchain_core.callbacks import Callbacks
from langchain_core.documents import Document
from pydantic import SkipValidation

from rag_cover import Models
from rag_cover.backends import Entailer, Generator, Receiver, Scorer
from rag_cover.belief import Attribution
from rag_cover.coverage import Decomposer, RankedPassage
from rag_cover.integration import (
    OnRerankError,
    refuse_below,
    refuse_negative,
    refuse_on_error,
    refuse_other_than,
    refuse_outside,
    rerank_passages,
    select_useful,
    without_none,
)
from rag_cover.measures import ModelKind
from rag_cover_langchain.models import Writer, models_of
from rag_cover_langchain.passages import add_metadata, passage_of, passages_of
from rag_cover_langchain.postprocessing import EXPLANATION, ModelCompressor

__all__ = ["CoverageCompressor", "UtilityFilter"]

Splitter = str | Path | Generator | Decomposer | Writer

SCORE = "relevance_score"
"""The key of a document's metadata under which rerankers of LangChain keep their score."""


class CoverageCompressor(ModelCompressor):
    """Orders documents by what each adds to the core sub-questions that those before it leave open, and keeps the first.

    That is `rag_cover.coverage.rerank`: greedy marginal gain of expected coverage, 1 - Π(1 - P(covers)) summed over the core
    sub-questions (Xie et al., NAACL 2025, §3). Give it more documents than you want: 20 for 5.

    What is returned are copies whose ``metadata["relevance_score"]`` is what the document was taken for: the sub-questions that
    it is expected to add, and ``retrieval_weight`` / its rank. It never rises from one document to the next, lies in
    [0, sub-questions + weight], and is on another scale than the retriever's. Of documents with one id, or of those without any
    with one content, the first counts. A document without a text covers nothing and stands where the retriever's order puts it.

    Where a model fails the first ``top_n`` documents are returned as they came, and the failure is logged as a warning: with
    ``on_error="raise"`` it is raised. A model that cannot be opened is always an error.

    Setup:
        ``pip install 'rag-cover[langchain]'``. No key and no network are needed.

    Instantiate: ::

            compressor = CoverageCompressor(top_n=5)

    Invoke: ::

            documents = compressor.compress_documents(documents, "Why is the sky blue?")

    Args:
        top_n: how many documents to keep at most.
        judge: decides whether a text answers a sub-question: a name, one of rag_cover's, or a chat model.
        decomposer: splits questions: ``rules``, a file, a function, or a chat model.
        receiver: reads the answers that later sub-questions build on, by name, one of rag_cover's, or a chat model; with None
            their places stay empty, which costs less and loses most of the gain on questions of several hops.
        retrieval_weight: what standing first with the retriever is worth, in sub-questions surely covered. None: 0.3 for one
            core sub-question, 0.1 for several.
        samples: how often the receiver is asked for one answer.
        seed: seed of the receiver's sampling.
        on_error: ``keep`` or ``raise``.
        explain: whether ``metadata["rag_cover"]`` says what a document adds and covers, and the retriever's score. A prompt
            that writes out metadata shows it to the model.

    Raises:
        InvalidValueError: an argument out of range.
    """

    top_n: int = 5
    judge: Annotated[str | Scorer | Writer, SkipValidation] = "embedded"
    decomposer: Annotated[Splitter, SkipValidation] = "rules"
    receiver: Annotated[str | Receiver | Writer | None, SkipValidation] = "embedded"
    retrieval_weight: float | None = None
    samples: int = 30
    seed: int = 0

    model_kinds: ClassVar[Sequence[ModelKind]] = ("scorer", "decomposer", "receiver")

    def __init__(  # noqa: PLR0913  # fields, all but the first by name
        self,
        top_n: int = 5,
        *,
        judge: str | Scorer | Writer = "embedded",
        decomposer: Splitter = "rules",
        receiver: str | Receiver | Writer | None = "embedded",
        retrieval_weight: float | None = None,
        samples: int = 30,
        seed: int = 0,
        on_error: OnRerankError = "keep",
        explain: bool = False,
    ) -> None:
        refuse_below(1, top_n=top_n, samples=samples)
        refuse_below(0, seed=seed)
        refuse_negative(**without_none(retrieval_weight=retrieval_weight))
        refuse_on_error(on_error)
        models: dict[str, Any] = {"judge": judge, "decomposer": decomposer, "receiver": receiver}
        super().__init__(
            top_n=top_n,
            retrieval_weight=retrieval_weight,
            samples=samples,
            seed=seed,
            on_error=on_error,
            explain=explain,
            **models,
        )
        self._keep(models_of(**models))

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Return the documents that add most to what is covered of a question, best first.

        Raises:
            RagCoverError: a model cannot be opened, or fails where that is to be raised.
        """
        return self._choose_by_models(self._choose, documents, query, callbacks, most=self.top_n)

    def _choose(self, documents: Sequence[Document], question: str, models: Models) -> list[Document]:
        found = rerank_passages(
            models,
            question,
            passages_of(documents),
            k=self.top_n,
            retrieval_weight=self.retrieval_weight,
            samples=self.samples,
            seed=self.seed,
        )
        return [self._add_ranking(documents[each.place], each) for each in found.kept]

    def _add_ranking(self, document: Document, ranked: RankedPassage) -> Document:
        more: dict[str, Any] = {SCORE: ranked.worth}
        if self.explain:
            before = passage_of(document).score
            more[EXPLANATION] = {"gain": ranked.gain, "covers": list(ranked.covers), "retrieval_score": before}
        return add_metadata(document, more)


class UtilityFilter(ModelCompressor):
    """Drops documents that are estimated to do harm: whose utility, as the receiver sees it, is below ``min_utility``.

    That is `rag_cover.coverage.estimate_utilities`: ΔSePer (Dai et al., ICLR 2025) toward the answers that the receiver
    settles on with all documents before it, on the mean over the question and its core sub-questions. It is an estimate, in
    [-1, 1]: there is no right answer to measure by, and a receiver that all documents together mislead takes the misleading
    ones for useful.

    - ``leave-one-out`` (default): the belief with all documents less that without this one. Strictly negative: the receiver is
      surer of its own answers without it. Of two documents that say the same, each is worth 0, so documents are dropped one
      at a time, the least useful first, and the others are measured again.
    - ``add-one-in``: the belief with this document alone less that without any. With a ``min_utility`` above 0 it drops
      documents that say nothing to the matter, too.

    The order and the documents themselves stay as they are. Documents without a text are left alone, and so are all where the
    receiver settles on no answer. ``keep`` documents are kept in any case, those that are worth most. Where a model fails all
    are kept, and the failure is logged as a warning: with ``on_error="raise"`` it is raised. A model that cannot be opened is
    always an error.

    Setup:
        ``pip install 'rag-cover[langchain]'``. No key and no network are needed.

    Instantiate: ::

            compressor = UtilityFilter(receiver=chat_model)

    Invoke: ::

            documents = compressor.compress_documents(documents, "Why is the sky blue?")

    Args:
        min_utility: in [-1, 1]; a document is dropped whose utility is below.
        receiver: the model whose belief is measured: a name, one of rag_cover's, or a chat model, which is sampled
            ``samples`` · (documents + 2) times for the question and each core sub-question, and again after each document
            dropped.
        entailer: decides whether the receiver's answers mean the same, by name or as one of rag_cover's.
        decomposer: splits questions: ``rules``, a file, a function, or a chat model.
        attribution: ``leave-one-out`` or ``add-one-in``.
        keep: how many documents are kept in any case.
        samples: how many answers are sampled in each context.
        seed: seed of the receiver's sampling.
        on_error: ``keep`` or ``raise``.
        explain: whether ``metadata["rag_cover"]`` of a copy says what a document is worth.

    Raises:
        InvalidValueError: an argument out of range.
    """

    min_utility: float = 0.0
    receiver: Annotated[str | Receiver | Writer, SkipValidation] = "embedded"
    entailer: Annotated[str | Entailer, SkipValidation] = "embedded"
    decomposer: Annotated[Splitter, SkipValidation] = "rules"
    attribution: Attribution = "leave-one-out"
    keep: int = 1
    samples: int = 20
    seed: int = 0

    model_kinds: ClassVar[Sequence[ModelKind]] = ("receiver", "entailer", "decomposer")

    def __init__(  # noqa: PLR0913  # fields, all but the first by name
        self,
        min_utility: float = 0.0,
        *,
        receiver: str | Receiver | Writer = "embedded",
        entailer: str | Entailer = "embedded",
        decomposer: Splitter = "rules",
        attribution: Attribution = "leave-one-out",
        keep: int = 1,
        samples: int = 20,
        seed: int = 0,
        on_error: OnRerankError = "keep",
        explain: bool = False,
    ) -> None:
        refuse_below(1, keep=keep, samples=samples)
        refuse_below(0, seed=seed)
        refuse_outside(-1, 1, min_utility=min_utility)
        refuse_on_error(on_error)
        refuse_other_than(get_args(Attribution), attribution=attribution)
        models: dict[str, Any] = {"receiver": receiver, "entailer": entailer, "decomposer": decomposer}
        super().__init__(
            min_utility=min_utility,
            attribution=attribution,
            keep=keep,
            samples=samples,
            seed=seed,
            on_error=on_error,
            explain=explain,
            **models,
        )
        self._keep(models_of(**models))

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """Return the documents that do no harm, in their order.

        Raises:
            RagCoverError: a model cannot be opened, or fails where that is to be raised.
        """
        return self._choose_by_models(self._choose, documents, query, callbacks)

    def _choose(self, documents: Sequence[Document], question: str, models: Models) -> list[Document]:
        passages = passages_of(documents)
        kept, found = select_useful(
            models,
            question,
            passages,
            attribution=self.attribution,
            samples=self.samples,
            seed=self.seed,
            min_utility=self.min_utility,
            keep=self.keep,
        )
        if not self.explain:
            return [documents[place] for place in kept]
        return [add_metadata(documents[place], {EXPLANATION: {"utility": found.value_of(passages[place])}}) for place in kept]
