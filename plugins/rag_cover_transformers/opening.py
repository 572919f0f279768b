"""Each kind of model, opened from a source; what serves as two kinds is loaded once while either is in use."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import TypeVar
from weakref import WeakValueDictionary

import numpy as np
from transformers import AutoModelForCausalLM

from rag_cover.backends import Sampling
from rag_cover.errors import InvalidValueError
from rag_cover_transformers.canaries import CANARIES, QUESTIONS, Canary, refuse_a_wrong_order
from rag_cover_transformers.checkpoints import Checkpoint, find_checkpoint
from rag_cover_transformers.classifiers import open_classifier
from rag_cover_transformers.cross_encoder import CrossEncoderScorer
from rag_cover_transformers.devices import CACHED_TOKENS, placed
from rag_cover_transformers.encodings import longest_input
from rag_cover_transformers.entailer import NliEntailer
from rag_cover_transformers.generator import CausalGenerator, SamplingReceiver
from rag_cover_transformers.geneval.folder import is_geneval
from rag_cover_transformers.geneval.judge import GenEvalJudge, open_geneval
from rag_cover_transformers.labels import label_order
from rag_cover_transformers.refusals import WrongKindError
from rag_cover_transformers.sampling.sampler import CausalSampler
from rag_cover_transformers.sources import Source

__all__ = ["entailer_from", "generator_from", "receiver_from", "relevance_from", "scorer_from"]


_causal: WeakValueDictionary[Hashable, CausalSampler] = WeakValueDictionary()
_geneval: WeakValueDictionary[Hashable, GenEvalJudge] = WeakValueDictionary()
_lock = Lock()

_TRIAL = (np.arange(2), np.arange(5))

T = TypeVar("T")


def _shared(held: WeakValueDictionary[Hashable, T], source: Source, make: Callable[[Checkpoint, Source], T]) -> T:
    checkpoint = find_checkpoint(source.model, revision=source.revision)
    key = source, checkpoint.stamp()  # a folder that was written anew is another model
    with _lock:
        found = held.get(key)
        if found is None:
            found = held[key] = make(checkpoint, source)
        return found


def entailer_from(source: Source, *, labels: Sequence[str] | None, canaries: Sequence[Canary] | None) -> NliEntailer:
    """Open a classifier, read its labels, and check them on plain cases."""
    checkpoint = find_checkpoint(source.model, revision=source.revision)
    if is_geneval(checkpoint.folder):
        problem = "it is a GenEval model: a scorer, and relevance, but no entailer"
        raise WrongKindError(checkpoint.name, problem)
    classifier = open_classifier(source)
    if len(classifier.id2label) not in (2, 3):
        problem = (
            f"it has {len(classifier.id2label)} outputs, and an entailer has three (entailment, neutral, contradiction) or two "
            "(entailment, not_entailment). A cross-encoder of one output is a scorer"
        )
        raise WrongKindError(classifier.name, problem)
    order = label_order(classifier.name, classifier.id2label, labels)
    cases = CANARIES if canaries is None else tuple(canaries)
    if cases:
        logits = classifier.logits_of_texts([(premise, hypothesis) for premise, hypothesis, _ in cases])
        refuse_a_wrong_order(classifier.name, order, logits, cases)
    return NliEntailer(classifier, order)


def scorer_from(
    source: Source, *, labels: Sequence[str] | None, threshold: float | None, canaries: Sequence[Canary] | None
) -> GenEvalJudge | CrossEncoderScorer:
    """Open a GenEval folder, or a cross-encoder of one or two outputs."""
    folder = find_checkpoint(source.model, revision=source.revision).folder
    if not is_geneval(folder):
        return _cross_encoder(source, labels, 0.5 if threshold is None else threshold, canaries)
    if not (labels is None and threshold is None and canaries is None):
        message = (
            "a GenEval folder knows its labels and its threshold (geneval.json); it takes no labels, threshold or canaries"
        )
        raise InvalidValueError(message)
    return relevance_from(source)


def _cross_encoder(
    source: Source, labels: Sequence[str] | None, threshold: float, canaries: Sequence[Canary] | None
) -> CrossEncoderScorer:
    classifier = open_classifier(source)
    match len(classifier.id2label):
        case 1:
            order: tuple[str, ...] = ("entailment",)
        case 2:
            order = label_order(classifier.name, classifier.id2label, labels)
        case outputs:
            problem = (
                f"it has {outputs} outputs, and a scorer has one or two (does the text answer the question?). "
                "A classifier of three is an entailer"
            )
            raise WrongKindError(classifier.name, problem)
    opened = CrossEncoderScorer(classifier, order, threshold=threshold)
    opened.refuse_wrong_canaries(QUESTIONS if canaries is None else canaries)
    return opened


def relevance_from(source: Source) -> GenEvalJudge:
    """Open a GenEval folder."""
    return _shared(_geneval, source, open_geneval)


def generator_from(source: Source) -> CausalGenerator:
    """Open a causal language model to write."""
    return CausalGenerator(_shared(_causal, source, _sampler))


def receiver_from(source: Source, sampling: Sampling, instruction: str) -> SamplingReceiver:
    """Open a causal language model whose belief is measured."""
    return SamplingReceiver(_shared(_causal, source, _sampler), sampling, instruction=instruction)


def _sampler(checkpoint: Checkpoint, source: Source) -> CausalSampler:
    config, tokenizer = checkpoint.config(), checkpoint.tokenizer()
    if config.is_encoder_decoder:
        problem = "it is an encoder-decoder, and samples are drawn from causal language models; take one of those"
        raise WrongKindError(checkpoint.name, problem)
    placement = placed(source.device, source.precision, source.batch_tokens, model_type=config.model_type, usual=CACHED_TOKENS)
    longest = longest_input(tokenizer, config, source.max_tokens)
    network = checkpoint.network(AutoModelForCausalLM, placement)
    fingerprint = f"{checkpoint.fingerprint()}:{placement.precision}:{longest}"
    sampler = CausalSampler(network, tokenizer, placement, longest=longest, fingerprint=fingerprint)
    try:
        sampler.draw(_TRIAL, Sampling(n=2, temperature=1.0, max_tokens=2, seed=0))
    except (AttributeError, TypeError, ValueError, RuntimeError, IndexError) as error:  # there is no one class for it
        problem = f"its network does not let several samples grow from one prompt ({str(error).partition(chr(10))[0]})"
        raise WrongKindError(checkpoint.name, f"{problem}; take one whose layers attend to keys and values") from error
    return sampler
