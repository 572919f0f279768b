"""Each kind of model, opened from a source; what serves as two kinds is loaded once while either is in use."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import Literal, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from transformers import AutoModelForCausalLM

from rag_cover.backends import Sampling
from rag_cover.errors import InvalidValueError
from rag_cover_transformers.canaries import CANARIES, QUESTIONS, Canary, refuse_a_wrong_order, refuse_a_wrong_scorer
from rag_cover_transformers.checkpoints import Checkpoint, find_checkpoint
from rag_cover_transformers.classifiers import Classifier, PairClassifier, read_classifier
from rag_cover_transformers.cross_encoder import CrossEncoderScorer
from rag_cover_transformers.devices import CACHED_TOKENS, choose_placement
from rag_cover_transformers.encodings import longest_input
from rag_cover_transformers.entailer import NliEntailer
from rag_cover_transformers.errors import WrongKindError
from rag_cover_transformers.generator import CausalGenerator, SamplingReceiver
from rag_cover_transformers.geneval.folder import is_geneval
from rag_cover_transformers.geneval.judge import GenEvalJudge, open_geneval
from rag_cover_transformers.labels import TWO_CLASSES, label_order
from rag_cover_transformers.model_source import Source
from rag_cover_transformers.nli_scorer import NliScorer
from rag_cover_transformers.sampling.sampler import CausalSampler
from rag_cover_transformers.seq2seq import Seq2SeqModel, is_seq2seq, read_seq2seq
from rag_cover_transformers.seq2seq_scorer import Seq2SeqScorer
from rag_cover_transformers.templates import ANSWERS, ENTAILS

__all__ = ["entailer_from", "generator_from", "receiver_from", "relevance_from", "scorer_from"]


_causal: WeakValueDictionary[Hashable, CausalSampler] = WeakValueDictionary()
_classifiers: WeakValueDictionary[Hashable, Classifier] = WeakValueDictionary()
_writing: WeakValueDictionary[Hashable, Seq2SeqModel] = WeakValueDictionary()
_geneval: WeakValueDictionary[Hashable, GenEvalJudge] = WeakValueDictionary()
_lock = Lock()

_TRIAL = (np.arange(2), np.arange(5))

T = TypeVar("T")

Task = Literal["answers", "entailment"]
"""What a checkpoint was trained to tell: whether a text answers a question, or what follows from it."""


def _share(held: WeakValueDictionary[Hashable, T], source: Source, make: Callable[[Checkpoint, Source], T]) -> T:
    return _share_checkpoint(find_checkpoint(source.model, revision=source.revision), held, source, make)


def _share_checkpoint(
    checkpoint: Checkpoint,
    held: WeakValueDictionary[Hashable, T],
    source: Source,
    make: Callable[[Checkpoint, Source], T],
) -> T:
    key = source, checkpoint.stamp()  # a folder that was written anew is another model
    with _lock:
        found = held.get(key)
        if found is None:
            found = held[key] = make(checkpoint, source)
        return found


def entailer_from(
    source: Source,
    *,
    labels: Sequence[str] | None,
    canaries: Sequence[Canary] | None,
    words: Sequence[str] | None = None,
) -> NliEntailer:
    """Open a classifier, or a model that writes, read its labels, and check them on plain cases."""
    checkpoint = find_checkpoint(source.model, revision=source.revision)
    if is_geneval(checkpoint.folder):
        problem = "it is a GenEval model: a scorer, and relevance, but no entailer"
        raise WrongKindError(checkpoint.name, problem)
    classifier = _as_entailment(_network(checkpoint, source, words), words)
    if len(classifier.id2label) not in (2, 3):
        problem = (
            f"it has {len(classifier.id2label)} outputs, and an entailer has three (entailment, neutral, contradiction) or two "
            "(entailment, not_entailment). A cross-encoder of one output is a scorer"
        )
        raise WrongKindError(classifier.name, problem)
    order = label_order(classifier.name, classifier.id2label, labels)
    _refuse_wrong_labels(classifier, order, CANARIES if canaries is None else canaries)
    return NliEntailer(classifier, order)


def _network(checkpoint: Checkpoint, source: Source, words: Sequence[str] | None) -> Classifier | Seq2SeqModel:
    """Read a classifier or a model that writes; entailer and scorer of one source share it."""
    if is_seq2seq(checkpoint.config()):
        return _share_checkpoint(checkpoint, _writing, source, read_seq2seq)
    if words is not None:
        message = f"{checkpoint.name!r} is no model that writes its answers (T5, BART and their kin), and takes no words"
        raise InvalidValueError(message)
    return _share_checkpoint(checkpoint, _classifiers, source, read_classifier)


def _as_entailment(network: Classifier | Seq2SeqModel, words: Sequence[str] | None) -> PairClassifier:
    match network:
        case Seq2SeqModel():
            return network.classifier(ENTAILS, words)
        case Classifier():
            return network


def _refuse_wrong_labels(classifier: PairClassifier, order: Sequence[str], canaries: Sequence[Canary]) -> None:
    if canaries:
        logits = classifier.logits_of_texts([(premise, hypothesis) for premise, hypothesis, _ in canaries])
        refuse_a_wrong_order(classifier.name, order, logits, tuple(canaries))


def scorer_from(
    source: Source,
    *,
    labels: Sequence[str] | None,
    threshold: float | None,
    canaries: Sequence[Canary] | None,
    task: Task | None = None,
    words: Sequence[str] | None = None,
) -> GenEvalJudge | CrossEncoderScorer | NliScorer | Seq2SeqScorer:
    """Open a GenEval folder, a classifier or a model that writes."""
    if task not in (None, "answers", "entailment"):
        message = f"task is 'answers', 'entailment' or None, not {task!r}"
        raise InvalidValueError(message)
    checkpoint = find_checkpoint(source.model, revision=source.revision)
    if is_geneval(checkpoint.folder):
        if any(option is not None for option in (labels, threshold, canaries, task, words)):
            message = (
                "a GenEval folder knows its labels and its threshold (geneval.json); it takes no labels, threshold, canaries, "
                "task or words"
            )
            raise InvalidValueError(message)
        return relevance_from(source)
    network = _network(checkpoint, source, words)
    cut = 0.5 if threshold is None else threshold
    if _task_of(network, task) == "entailment":
        return _nli_scorer(_as_entailment(network, words), labels, cut, canaries)
    match network:
        case Seq2SeqModel():
            order = label_order(network.name, network.classifier(ANSWERS, words).id2label, labels)
            scorer: Seq2SeqScorer | CrossEncoderScorer = Seq2SeqScorer(network, order, words=words, threshold=cut)
        case Classifier():
            order = _answer_order(network, labels)
            scorer = CrossEncoderScorer(network, order, threshold=cut)
    refuse_a_wrong_scorer(network.name, scorer, order, QUESTIONS if canaries is None else canaries)
    return scorer


def _task_of(network: Classifier | Seq2SeqModel, task: Task | None) -> Task:
    """Choose the task that is left open, and refuse one that these outputs cannot do."""
    outputs = len(TWO_CLASSES) if isinstance(network, Seq2SeqModel) else len(network.id2label)
    match outputs, task:
        case (1 | 2, None | "answers"):
            return "answers"
        case (3, None) | (2 | 3, "entailment"):
            return "entailment"
        case (1, _):
            problem = "it has one output, and entailment takes two or three. As task='answers' it can serve"
        case (3, _):
            problem = "it has three outputs, and task='answers' takes one or two. As task='entailment' it can serve"
        case _:
            problem = (
                f"it has {outputs} outputs, and a scorer has one or two (does the text answer the question?), or three "
                "(entailment, neutral, contradiction)"
            )
    raise WrongKindError(network.name, problem)


def _nli_scorer(
    classifier: PairClassifier, labels: Sequence[str] | None, threshold: float, canaries: Sequence[Canary] | None
) -> NliScorer:
    """Check the labels on pairs of statements, and the statements made of questions on texts that answer them."""
    order = label_order(classifier.name, classifier.id2label, labels)
    scorer = NliScorer(NliEntailer(classifier, order), threshold=threshold)
    if canaries is None:
        _refuse_wrong_labels(classifier, order, CANARIES)
    refuse_a_wrong_scorer(classifier.name, scorer, order, QUESTIONS if canaries is None else canaries)
    return scorer


def _answer_order(classifier: Classifier, labels: Sequence[str] | None) -> tuple[str, ...]:
    return ("entailment",) if len(classifier.id2label) == 1 else label_order(classifier.name, classifier.id2label, labels)


def relevance_from(source: Source) -> GenEvalJudge:
    """Open a GenEval folder."""
    return _share(_geneval, source, open_geneval)


def generator_from(source: Source) -> CausalGenerator:
    """Open a causal language model to write."""
    return CausalGenerator(_share(_causal, source, _sampler))


def receiver_from(source: Source, sampling: Sampling, instruction: str) -> SamplingReceiver:
    """Open a causal language model whose belief is measured."""
    return SamplingReceiver(_share(_causal, source, _sampler), sampling, instruction=instruction)


def _sampler(checkpoint: Checkpoint, source: Source) -> CausalSampler:
    config, tokenizer = checkpoint.config(), checkpoint.tokenizer()
    if config.is_encoder_decoder:
        problem = "it is an encoder-decoder, and samples are drawn from causal language models; take one of those"
        raise WrongKindError(checkpoint.name, problem)
    placement = choose_placement(
        source.device, source.precision, source.batch_tokens, model_type=config.model_type, usual=CACHED_TOKENS
    )
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
