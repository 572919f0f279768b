"""A LlamaIndex query engine whose answers are helped by core sub-questions: M1 to M4 of the coverage paper, and `auto`.

Xie et al., "Do RAG systems cover what matters?" (NAACL 2025), §5. The sub-questions drive the retrieval and the prompt; the
answer itself is written by the user's own language model with its own settings, or by the user's response synthesizer.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.response.schema import RESPONSE_TYPE
from llama_index.core.callbacks import CallbackManager
from llama_index.core.callbacks.schema import CBEventType, EventPayload
from llama_index.core.indices.base import BaseIndex
from llama_index.core.llms import LLM
from llama_index.core.prompts.mixin import PromptMixinType
from llama_index.core.response_synthesizers import BaseSynthesizer
from llama_index.core.schema import NodeWithScore, QueryBundle

from rag_cover.augmentation import FEEDBACK, AugmentationMode
from rag_cover.backends import Generator, Receiver, Scorer
from rag_cover.coverage import Decomposer
from rag_cover.errors import InvalidValueError
from rag_cover.integration import Augmented, augment_question, refuse_blank
from rag_cover_llama_index.augmentations import augmenter_of, describe_augmentation
from rag_cover_llama_index.models import generator_of
from rag_cover_llama_index.searches import NodeSearch, to_retriever
from rag_cover_llama_index.synthesizers import PromptSynthesizer

__all__ = ["CoverageQueryEngine"]

_RETRIEVING: tuple[AugmentationMode, ...] = ("retrieval", "auto")


class CoverageQueryEngine(BaseQueryEngine):
    """Answers a question with the help of its core sub-questions, and says which of them the passages cover.

    The response's ``metadata["augmentation"]`` is JSON data: the sub-questions, which of them are covered, every search, what
    failed. Its source nodes are the retriever's own: those that were kept, end-to-end all that sub-answers were read from.

    Args:
        retriever: finds the passages, or an index, as `SubQuestionRetriever` has it.
        llm: writes the answer, and splits the question unless ``decomposer`` does; end-to-end, the sub-answers too. A
            LlamaIndex language model writes the answer by its own settings; it may be a generator of rag_cover's, or its name.
            Where nothing was found it is not asked: the response is LlamaIndex's "Empty Response".
        mode: ``"definition"`` (M1): the definition of core sub-questions in the prompt; ``"subquestions"`` (M2): they
            themselves in the search and the prompt; ``"retrieval"`` (M3): a search for each; ``"end-to-end"`` (M4): an answer
            to each, put together; ``"auto"``: a search for those that the question's own passages do not cover.
        response_synthesizer: writes the answer instead, from the nodes that ``"retrieval"`` and ``"auto"`` keep; the other
            modes have a prompt of their own.
        judge: decides which sub-questions are covered; None: coverage is not judged, in modes that do without.
        streaming: return the answer as it is written; a response synthesizer streams where it is itself told to.
        receiver, decomposer, k, depth, max_tokens, max_calls, rounds, feedback, threshold: as `SubQuestionRetriever` has them;
            with ``"definition"`` rules split the question unless ``decomposer`` is given.

    Raises:
        InvalidValueError: nobody to write the answer, a synthesizer that would not be used, a model that cannot serve or
            stream, or a number out of range.
    """

    def __init__(  # noqa: PLR0913  # all but two by name
        self,
        retriever: BaseRetriever | BaseIndex[Any],
        llm: LLM | Generator | str | None = None,
        *,
        mode: AugmentationMode = "retrieval",
        response_synthesizer: BaseSynthesizer | None = None,
        judge: str | Scorer | LLM | None = "embedded",
        receiver: str | Receiver | LLM | None = "embedded",
        decomposer: str | Path | Generator | Decomposer | LLM | None = None,
        k: int = 10,
        depth: int | None = None,
        max_tokens: int | None = None,
        max_calls: int | None = None,
        rounds: int = 4,
        feedback: int = FEEDBACK,
        threshold: float | None = None,
        streaming: bool = False,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        _refuse_synthesizer(response_synthesizer, mode, streaming=streaming)
        writer = llm if llm is None or isinstance(llm, LLM) else generator_of(llm)
        known = (callback_manager, *(getattr(each, "callback_manager", None) for each in (response_synthesizer, writer)))
        callbacks = next((each for each in known if each is not None), None)
        self._synthesizer = response_synthesizer or _writing_by(writer, streaming=streaming, callbacks=callbacks)
        self._retriever = to_retriever(retriever, top_k=depth or k)
        self._augmenter = augmenter_of(
            self._retriever,
            mode=mode,
            judge=judge,
            receiver=receiver,
            generator=writer,
            decomposer="rules" if decomposer is None and mode == "definition" else decomposer,
            k=k,
            depth=depth,
            max_tokens=max_tokens,
            max_calls=max_calls,
            rounds=rounds,
            feedback=feedback,
            threshold=threshold,
        )
        super().__init__(callbacks)

    @property
    def retriever(self) -> BaseRetriever:
        """Return the retriever that is asked."""
        return self._retriever

    def _get_prompt_modules(self) -> PromptMixinType:
        return {"response_synthesizer": self._synthesizer}

    def retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        """Return the nodes that are kept for a question, best first; nothing is answered, but end-to-end its sub-questions."""
        return self._augment(query_bundle).kept

    def _query(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        with self._query_event(query_bundle) as event:
            made = self._augment(query_bundle)
            response = _with_augmentation(self._synthesizer.synthesize(query_bundle, **self._writing(made)), made)
            event.on_end(payload={EventPayload.RESPONSE: response})
        return response

    async def _aquery(self, query_bundle: QueryBundle) -> RESPONSE_TYPE:
        with self._query_event(query_bundle) as event:
            made = await asyncio.to_thread(self._augment, query_bundle)
            written = await self._synthesizer.asynthesize(query_bundle, **self._writing(made))
            response = _with_augmentation(written, made)
            event.on_end(payload={EventPayload.RESPONSE: response})
        return response

    def _query_event(self, query: QueryBundle) -> Any:  # the framework's context manager
        return self.callback_manager.event(CBEventType.QUERY, payload={EventPayload.QUERY_STR: query.query_str})

    def _augment(self, query: QueryBundle) -> Augmented[NodeWithScore]:
        refuse_blank(query.query_str)
        return augment_question(self._augmenter, NodeSearch(self._retriever, query), query.query_str)

    def _writing(self, made: Augmented[NodeWithScore]) -> dict[str, Any]:
        """Return what the synthesizer is given: its own the prompt, the user's what it makes a prompt of."""
        if isinstance(self._synthesizer, PromptSynthesizer):
            return {"nodes": made.sources, "prompt": made.augmentation.prompt}
        return {"nodes": made.kept}


def _refuse_synthesizer(synthesizer: BaseSynthesizer | None, mode: AugmentationMode, *, streaming: bool) -> None:
    if synthesizer is None:
        return
    if mode not in _RETRIEVING:
        message = f"mode {mode!r} has a prompt of its own, which a response synthesizer would not use; give llm=… alone"
        raise InvalidValueError(message)
    if streaming:
        message = "a response synthesizer streams where it is told to: get_response_synthesizer(…, streaming=True)"
        raise InvalidValueError(message)


def _writing_by(writer: LLM | Generator | None, *, streaming: bool, callbacks: CallbackManager | None) -> PromptSynthesizer:
    if writer is None:
        message = "nobody is there to write the answer: give llm=…, or with mode 'retrieval' or 'auto' response_synthesizer=…"
        raise InvalidValueError(message)
    return PromptSynthesizer(writer, streaming=streaming, callback_manager=callbacks)


def _with_augmentation(response: RESPONSE_TYPE, made: Augmented[NodeWithScore]) -> RESPONSE_TYPE:
    """Put the augmentation beside the nodes' metadata."""
    response.metadata = (response.metadata or {}) | {"augmentation": describe_augmentation(made.augmentation)}
    return response
