"""What is fitted after training, on examples that the weights never saw: temperatures, the mixing, the threshold.

Temperatures divide the logits of the heads for correctness and entailment (Guo et al., 2017). The mixing turns what is known of
the windows of a text into the probability that it answers a question: a logistic regression of which the likeliest window
speaks, fitted by maximum likelihood. The threshold is the cut with the highest balanced accuracy on the same texts.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from rag_cover.backends import ScoringItem
from rag_cover_embedded.answers import AnswerJudge
from rag_cover_embedded.evidence import Evidence, Mixing
from rag_cover_embedded.inputs import Task, open_tokenizer
from rag_cover_embedded.session import Session
from rag_cover_embedded.training.examples import training_examples
from rag_cover_embedded.training.labels import NOT_ENTAILED, Example
from rag_cover_embedded.training.splits import FITTING
from rag_cover_embedded.training.written import whole_texts
from rag_cover_embedded.verdicts import correctness, entailment
from rag_cover_embedded.weights import Weights

Floats = NDArray[np.float64]

RIDGE = 1.0
_LEAST = 1e-7
_TEMPERATURES = np.geomspace(0.25, 4, 161)


def fit(folder: Path, data: Path, *, seed: int = 0) -> Mapping[str, Any]:
    """Fit the numbers of a packed judge and write them into its ``judge.json``; returns them."""
    weights = Weights.open(folder)
    session, tokenizer = Session(weights.network), open_tokenizer(weights.tokenizer)
    examples = training_examples(data, FITTING, seed=seed)
    answers = AnswerJudge(session, tokenizer, threshold=1.0, mixing=weights.fitted.mixing, proposing=None)
    texts = [*whole_texts(data, random.Random(seed), FITTING)]
    evidence = answers.evidence([(text.first, text.second) for text in texts])
    labels = np.array([text.label for text in texts])
    mixing = fitted_mixing(evidence, labels)
    items = [ScoringItem(e.first, e.second, e.references) for e in examples if e.task is Task.CORRECT]
    right = np.array([e.label for e in examples if e.task is Task.CORRECT])
    agreed = correctness(session, tokenizer, items, temperature=1.0).astype(np.float64)
    stated = [e for e in examples if e.task is Task.ENTAILMENT]
    followed = entailment(session, tokenizer, [(e.first, e.second) for e in stated], temperature=1.0).astype(np.float64)
    about = json.loads((folder / "judge.json").read_text(encoding="utf-8"))
    about["fitted"] |= {
        "threshold": best_threshold(np.array([likeliest(mixing, found) for found in evidence]), labels),
        "mixing": asdict(mixing),
        "temperatures": {
            "correct": correctness_temperature(agreed, right),
            "entailment": entailment_temperature(followed, stated),
        },
    }
    (folder / "judge.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    return dict(about["fitted"])


def fitted_mixing(evidence: Sequence[Sequence[Evidence]], labels: Floats) -> Mixing:
    """Fit the weights of the evidence to the windows of texts and to the texts' labels in [0, 1].

    No evidence speaks against an answer: weights are squares. A small ridge penalty, on evidence scaled to unit variance,
    settles what the labels leave open.
    """
    rows = np.array([found for windows in evidence for found in windows])
    scale = rows.std(axis=0)
    most = max(map(len, evidence))
    padded = np.stack([np.pad(np.array(found), ((0, most - len(found)), (0, 0)), mode="edge") for found in evidence])
    windows, wanted = torch.from_numpy(padded / scale), torch.from_numpy(labels)
    roots = torch.full((rows.shape[1],), 0.5, dtype=torch.float64, requires_grad=True)
    intercept = torch.zeros((), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([roots, intercept], max_iter=500, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimiser.zero_grad()
        logits = (windows @ roots.square() + intercept).amax(dim=1)
        penalty = RIDGE * roots.pow(4).sum() / len(wanted)
        total = functional.binary_cross_entropy_with_logits(logits, wanted) + penalty
        total.backward()
        return total

    optimiser.step(loss)
    weights = (roots.detach().square().numpy() / scale).round(4).tolist()
    return Mixing(**dict(zip(Evidence._fields, weights, strict=True)), intercept=round(float(intercept), 4))


def likeliest(mixing: Mixing, evidence: Sequence[Evidence]) -> float:
    """Return the highest probability of a text's windows, 0 for a text without any."""
    return max(map(mixing.probability, evidence), default=0.0)


def best_threshold(probabilities: Floats, labels: Floats) -> float:
    """Choose, between 0.2 and 0.8, the cut with the highest balanced accuracy, of several the one nearest to 0.5.

    >>> best_threshold(np.array([0.1, 0.3, 0.6, 0.9]), np.array([0.0, 0.0, 1.0, 1.0]))
    0.5
    """
    cuts = np.round(np.arange(0.2, 0.801, 0.01), 2)
    said, true = probabilities >= cuts[:, None], labels >= 0.5  # probable is true
    balanced = said[:, true].mean(axis=1) + (~said[:, ~true]).mean(axis=1)
    good = cuts[balanced >= balanced.max() - 1e-9]
    return float(good[np.abs(good - 0.5).argmin()])


def correctness_temperature(probabilities: Floats, labels: Floats) -> float:
    """Choose the temperature with the highest likelihood of labels in [0, 1]."""
    certain = np.clip(probabilities, _LEAST, 1 - _LEAST)
    logits = (np.log(certain) - np.log1p(-certain)) / _TEMPERATURES[:, None]
    return _best((labels * logits - np.logaddexp(0, logits)).mean(axis=1))


def entailment_temperature(probabilities: Floats, examples: Sequence[Example]) -> float:
    """Choose the temperature with the highest likelihood of the classes."""
    labels = np.array([int(example.label) for example in examples])
    powers = np.maximum(probabilities, _LEAST) ** (1 / _TEMPERATURES[:, None, None])
    scaled = powers / powers.sum(axis=-1, keepdims=True)
    either = scaled[..., 1:].sum(axis=-1, keepdims=True)
    chosen = np.concatenate([scaled, either], axis=-1)[:, np.arange(len(labels)), np.minimum(labels, NOT_ENTAILED)]
    return _best(np.log(chosen).mean(axis=1))


def _best(likelihood: Floats) -> float:
    return round(float(_TEMPERATURES[likelihood.argmax()]), 3)
