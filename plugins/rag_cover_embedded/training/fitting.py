"""What is fitted after training, on examples that the weights never saw: temperatures, the mixing, the threshold.

Temperatures divide the logits of the heads for correctness and entailment (Guo et al., 2017). The mixing turns the best
window's logit and score into the probability that a text answers a question: a logistic regression of which the likeliest
window speaks, fitted by maximum likelihood to four kinds of text that weigh the same: written texts and their hard questions,
and the demo's answers, its passages, and of these the eight nearest to each question. The cut is 0.5.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from rag_cover.backends import ScoringItem
from rag_cover_embedded.answers import AnswerJudge, Mixing
from rag_cover_embedded.inputs import Task, open_tokenizer
from rag_cover_embedded.session import Session
from rag_cover_embedded.training.examples import training_examples
from rag_cover_embedded.training.labels import NOT_ENTAILED, Example
from rag_cover_embedded.training.splits import FITTING
from rag_cover_embedded.training.written import whole_texts
from rag_cover_embedded.verdicts import correctness, entailment
from rag_cover_embedded.weights import Weights

Floats = NDArray[np.float64]

RIDGE = 1 / 600
RETRIEVED = 8
_LEAST = 1e-7
_TEMPERATURES = np.geomspace(0.25, 4, 161)


def fit(folder: Path, data: Path, *, seed: int = 0) -> Mapping[str, Any]:
    """Fit the numbers of a packed judge and write them into its ``judge.json``; returns them."""
    weights = Weights.open(folder)
    session, tokenizer = Session(weights.network), open_tokenizer(weights.tokenizer)
    examples = training_examples(data, FITTING, seed=seed)
    answers = AnswerJudge(session, tokenizer, threshold=1.0, mixing=weights.fitted.mixing, proposing=None)
    sources = whole_texts(data, random.Random(seed), FITTING)
    evidence = {name: answers.evidence([(each.first, each.second) for each in texts]) for name, texts in sources.items()}
    labels = {name: np.array([each.label for each in texts]) for name, texts in sources.items()}
    near = best_ranked([each.first for each in sources["demo passages"]], evidence["demo passages"])
    evidence["near passages"] = [evidence["demo passages"][row] for row in near]
    labels["near passages"] = labels["demo passages"][near]
    shares = [np.full(len(found), 1 / len(found)) for found in labels.values()]
    mixing = fitted_mixing([*chain(*evidence.values())], np.concatenate([*labels.values()]), np.concatenate(shares))
    items = [ScoringItem(e.first, e.second, e.references) for e in examples if e.task is Task.CORRECT]
    right = np.array([e.label for e in examples if e.task is Task.CORRECT])
    agreed = correctness(session, tokenizer, items, temperature=1.0).astype(np.float64)
    stated = [e for e in examples if e.task is Task.ENTAILMENT]
    followed = entailment(session, tokenizer, [(e.first, e.second) for e in stated], temperature=1.0).astype(np.float64)
    about = json.loads((folder / "judge.json").read_text(encoding="utf-8"))
    about["fitted"] |= {
        "mixing": asdict(mixing),
        "temperatures": {
            "correct": correctness_temperature(agreed, right),
            "entailment": entailment_temperature(followed, stated),
        },
    }
    (folder / "judge.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    return dict(about["fitted"])


def fitted_mixing(evidence: Sequence[Floats], labels: Floats, weights: Floats) -> Mixing:
    """Fit the mixing to (windows, 2) evidence of texts, the texts' labels in [0, 1] and what each text weighs.

    Neither logit nor score speaks against an answer: their weights are squares. A small ridge penalty, on evidence scaled to
    unit variance, settles what the labels leave open.
    """
    scale = np.maximum(np.concatenate(evidence).std(axis=0), 1e-6)
    most = max(map(len, evidence))
    padded = np.stack([np.pad(found, ((0, most - len(found)), (0, 0)), mode="edge") for found in evidence])
    windows, wanted, share = (torch.from_numpy(array) for array in (padded / scale, labels, weights / weights.sum()))
    roots = torch.full((2,), 0.5, dtype=torch.float64, requires_grad=True)
    offset = torch.zeros((), dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([roots, offset], max_iter=500, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimiser.zero_grad()
        logits = (windows @ roots.square() + offset).amax(dim=1)
        total = functional.binary_cross_entropy_with_logits(logits, wanted, share, reduction="sum")
        total += RIDGE * roots.pow(4).sum()
        total.backward()
        return total

    optimiser.step(loss)
    logit, score = (roots.detach().square().numpy() / scale).round(4).tolist()
    return Mixing(logit, score, round(offset.item(), 4))


def best_ranked(questions: Sequence[str], evidence: Sequence[Floats]) -> list[int]:
    """Choose, for each question, the eight texts that the first stage ranks highest: what retrieval would bring.

    >>> best_ranked(["a", "b", "a"], [np.array([[9.0, 0.1]]), np.array([[9.0, 0.2]]), np.array([[9.0, 0.3]])])
    [0, 1, 2]
    """
    rows: dict[str, list[int]] = {}
    for row, question in enumerate(questions):
        rows.setdefault(question, []).append(row)
    best = [-found[:, 1].max() for found in evidence]
    return sorted(row for found in rows.values() for row in sorted(found, key=best.__getitem__)[:RETRIEVED])


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
