"""Node postprocessors: nodes in the order in which they add to what is covered, and without those that do harm.

    engine = RetrieverQueryEngine.from_args(
        index.as_retriever(similarity_top_k=20), node_postprocessors=[CoverageRerank(top_n=5)]
    )

Both run in a worker thread where the engine is asynchronous; one instance serves any number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, get_args

from llama_index.core.callbacks import CallbackManager
from llama_index.core.llms import LLM
from llama_index.core.schema import NodeWithScore, QueryBundle

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
from rag_cover_llama_index.host_terms import take_host_term
from rag_cover_llama_index.models import models_of
from rag_cover_llama_index.passages import passages_of
from rag_cover_llama_index.postprocessing import ModelPostprocessor, explain_node, saved_name

__all__ = ["CoverageRerank", "UtilityFilter"]

Splitter = str | Path | Generator | Decomposer | LLM


class CoverageRerank(ModelPostprocessor):
    """Orders nodes by what each adds to the core sub-questions that those before it leave open, and keeps the first.

    That is `rag_cover.coverage.rerank`: greedy marginal gain of expected coverage, 1 - Π(1 - P(covers)) summed over the core
    sub-questions (Xie et al., NAACL 2025, §3). Give it more nodes than you want: 20 for 5.

    What is returned are new ``NodeWithScore`` around the same nodes: what the retriever returned stays as it was. The score is
    what the node was taken for: the sub-questions that it is expected to add, and ``retrieval_weight`` / its rank. It never
    rises from one node to the next, lies in [0, sub-questions + weight], and is on another scale than the retriever's. Of nodes
    with one id the first counts. A node without a text covers nothing and stands where the retriever's order puts it.

    Where a model fails the first ``top_n`` nodes are returned as they came, and the failure is logged as a warning: with
    ``on_error="raise"`` it is raised. A model that cannot be opened is always an error.

    Args:
        top_n: how many nodes to keep at most.
        judge: decides whether a text answers a sub-question: a name, one of rag_cover's, or a LlamaIndex ``LLM``.
        decomposer: splits questions: ``rules``, a file, a function, or an ``LLM``.
        receiver: reads the answers that later sub-questions build on, by name, one of rag_cover's, or an ``LLM``; with None
            their places stay empty, which costs less and loses most of the gain on questions of several hops.
        retrieval_weight: what standing first with the retriever is worth, in sub-questions surely covered. None: 0.3 for one
            core sub-question, 0.1 for several.
        samples: how often the receiver is asked for one answer.
        seed: seed of the receiver's sampling.
        on_error: ``keep`` or ``raise``.
        explain: whether a copy of each node says in ``metadata["rag_cover"]`` what it adds and covers, and the retriever's
            score; no model is shown it.
        llm: LlamaIndex's word for the ``judge``.
        callback_manager: LlamaIndex's.

    Raises:
        InvalidValueError: an argument out of range; nodes without a question.
    """

    top_n: int
    judge: str
    decomposer: str
    receiver: str | None
    retrieval_weight: float | None
    samples: int
    seed: int

    model_kinds: ClassVar[Sequence[ModelKind]] = ("scorer", "decomposer", "receiver")

    def __init__(  # noqa: PLR0913  # fields, all but the first by name
        self,
        top_n: int = 5,
        *,
        judge: str | Scorer | LLM = "embedded",
        decomposer: Splitter = "rules",
        receiver: str | Receiver | LLM | None = "embedded",
        retrieval_weight: float | None = None,
        samples: int = 30,
        seed: int = 0,
        on_error: OnRerankError = "keep",
        explain: bool = False,
        llm: LLM | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        refuse_below(1, top_n=top_n, samples=samples)
        refuse_below(0, seed=seed)
        refuse_negative(**without_none(retrieval_weight=retrieval_weight))
        refuse_on_error(on_error)
        judge = take_host_term(judge, "judge", "embedded", llm=llm)
        given = {"judge": judge, "decomposer": decomposer, "receiver": receiver}
        super().__init__(
            **{name: saved_name(name, model) for name, model in given.items()},
            top_n=top_n,
            retrieval_weight=retrieval_weight,
            samples=samples,
            seed=seed,
            on_error=on_error,
            explain=explain,
            **({} if callback_manager is None else {"callback_manager": callback_manager}),
        )
        self._keep(models_of(judge=judge, decomposer=decomposer, receiver=receiver), given)

    @classmethod
    def class_name(cls) -> str:
        """Return the name it is saved under."""
        return "CoverageRerank"

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None) -> list[NodeWithScore]:
        return self._choose_by_models(self._choose, nodes, query_bundle, most=self.top_n)

    def _choose(self, nodes: Sequence[NodeWithScore], question: str, models: Models) -> list[NodeWithScore]:
        found = rerank_passages(
            models,
            question,
            passages_of(nodes),
            k=self.top_n,
            retrieval_weight=self.retrieval_weight,
            samples=self.samples,
            seed=self.seed,
        )
        return [self._add_ranking(nodes[each.place], each) for each in found.kept]

    def _add_ranking(self, node: NodeWithScore, ranked: RankedPassage) -> NodeWithScore:
        new = NodeWithScore(node=node.node, score=ranked.worth)
        if not self.explain:
            return new
        return explain_node(new, {"gain": ranked.gain, "covers": list(ranked.covers), "retrieval_score": node.score})


class UtilityFilter(ModelPostprocessor):
    """Drops nodes that are estimated to do harm: whose utility, as the receiver itself sees it, is below ``min_utility``.

    That is `rag_cover.coverage.estimate_utilities`: ΔSePer (Dai et al., ICLR 2025) toward the answers that the receiver
    settles on with all nodes before it, on the mean over the question and its core sub-questions. It is an estimate, in
    [-1, 1]: there is no right answer to measure by, and a receiver that all nodes together mislead takes the misleading ones
    for useful.

    - ``leave-one-out`` (default): the belief with all nodes less that without this one. Strictly negative: the receiver is
      surer of its own answers without it. Of two nodes that say the same, each is worth 0, so nodes are dropped one at a time,
      the least useful first, and the others are measured again.
    - ``add-one-in``: the belief with this node alone less that without any. With a ``min_utility`` above 0 it drops nodes that
      say nothing to the matter, too.

    The order, the scores and the ``NodeWithScore`` themselves stay as they are. Nodes without a text are left alone, and so are
    all nodes where the receiver settles on no answer. ``keep`` nodes are kept in any case, those that are worth most. Where a
    model fails all nodes are kept, and the failure is logged as a warning: with ``on_error="raise"`` it is raised. A model that
    cannot be opened is always an error.

    Args:
        min_utility: in [-1, 1]; a node is dropped whose utility is below.
        receiver: the model whose belief is measured: a name, one of rag_cover's, or a LlamaIndex ``LLM``, which is sampled
            ``samples`` · (nodes + 2) times for the question and each core sub-question, and again after each node dropped.
        entailer: decides whether the receiver's answers mean the same, by name or as one of rag_cover's.
        decomposer: splits questions: ``rules``, a file, a function, or an ``LLM``.
        attribution: ``leave-one-out`` or ``add-one-in``.
        keep: how many nodes are kept in any case.
        samples: how many answers are sampled in each context.
        seed: seed of the receiver's sampling.
        on_error: ``keep`` or ``raise``.
        explain: whether a copy of each node says in ``metadata["rag_cover"]`` what it is worth; no model is shown it.
        llm: LlamaIndex's word for the ``receiver``.
        callback_manager: LlamaIndex's.

    Raises:
        InvalidValueError: an argument out of range; nodes without a question.
    """

    min_utility: float
    receiver: str
    entailer: str
    decomposer: str
    attribution: Attribution
    keep: int
    samples: int
    seed: int

    model_kinds: ClassVar[Sequence[ModelKind]] = ("receiver", "entailer", "decomposer")

    def __init__(  # noqa: PLR0913  # fields, all but the first by name
        self,
        min_utility: float = 0.0,
        *,
        receiver: str | Receiver | LLM = "embedded",
        entailer: str | Entailer = "embedded",
        decomposer: Splitter = "rules",
        attribution: Attribution = "leave-one-out",
        keep: int = 1,
        samples: int = 20,
        seed: int = 0,
        on_error: OnRerankError = "keep",
        explain: bool = False,
        llm: LLM | None = None,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        refuse_below(1, keep=keep, samples=samples)
        refuse_below(0, seed=seed)
        refuse_outside(-1, 1, min_utility=min_utility)
        refuse_on_error(on_error)
        refuse_other_than(get_args(Attribution), attribution=attribution)
        receiver = take_host_term(receiver, "receiver", "embedded", llm=llm)
        given = {"receiver": receiver, "entailer": entailer, "decomposer": decomposer}
        super().__init__(
            **{name: saved_name(name, model) for name, model in given.items()},
            min_utility=min_utility,
            attribution=attribution,
            keep=keep,
            samples=samples,
            seed=seed,
            on_error=on_error,
            explain=explain,
            **({} if callback_manager is None else {"callback_manager": callback_manager}),
        )
        self._keep(models_of(receiver=receiver, entailer=entailer, decomposer=decomposer), given)

    @classmethod
    def class_name(cls) -> str:
        """Return the name it is saved under."""
        return "UtilityFilter"

    def _postprocess_nodes(self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None) -> list[NodeWithScore]:
        return self._choose_by_models(self._choose, nodes, query_bundle)

    def _choose(self, nodes: Sequence[NodeWithScore], question: str, models: Models) -> list[NodeWithScore]:
        passages = passages_of(nodes)
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
            return [nodes[place] for place in kept]
        return [explain_node(nodes[place], {"utility": found.value_of(passages[place])}) for place in kept]
