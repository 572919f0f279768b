"""What is fitted after training, on examples that the weights never saw: calibrations, certain cuts, temperatures.

The probability that a text answers is a logistic function of its highest logit, its length and, for long passages, the first
stage's score (Platt, 1999), fitted by maximum likelihood to whole natural texts, composed ones and, for passages, paragraphs as
retrieval finds them, which weigh the same; for short passages, long ones and replies apart, so that 0.5 is the cut of all.
Certain cuts are those outside of which 90% of the verdicts on natural texts are right. Temperatures divide the logits of the
heads for correctness and entailment (Guo et al., 2017).
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional

from rag_cover.backends import ScoringItem
from rag_cover_embedded.answers import AnswerJudge, Asked, ScoreCalibration, WindowEvidence, calibration_name
from rag_cover_embedded.inputs import Task, open_tokenizer
from rag_cover_embedded.session import Network
from rag_cover_embedded.training.cases import case_texts
from rag_cover_embedded.training.crossed import make_crossed_examples
from rag_cover_embedded.training.example import NOT_ENTAILED, Example
from rag_cover_embedded.training.examples import training_examples
from rag_cover_embedded.training.natural import REPLY_KINDS, part_rows, sample_rows
from rag_cover_embedded.training.near_questions import near_question_examples
from rag_cover_embedded.training.packing import UNCALIBRATED
from rag_cover_embedded.training.sources import squad_articles
from rag_cover_embedded.training.splits import FITTING
from rag_cover_embedded.verdicts import correctness, entailment
from rag_cover_embedded.weights import Weights

Floats = NDArray[np.float64]

RIDGE = 1e-4
MOST_NATURAL = 150
MOST_COMPOSED = 2_500
OTHERS = 1
"""Paragraphs that do not answer beside each that does."""
ONE_WINDOW = 100
"""Words of a reply that surely is one window; longer ones are judged as passages."""
CERTAIN = 0.9
"""The share of verdicts beyond each certain cut that is right."""
_LEAST = 1e-7
_TEMPERATURES = np.geomspace(0.25, 4, 161)
_ENTAILED = ("nli", "claims", "swaps", "written claims")
_SCORED = (*_ENTAILED, "verdicts", "ratings", "similar", "agreement", "written agreement")


def fit(folder: Path, data: Path, *, seed: int = 0) -> Mapping[str, Any]:
    """Fit the numbers of a packed judge and write them into its ``judge.json``; returns them."""
    weights = Weights.open(folder)
    session, tokenizer = weights.session(), open_tokenizer(weights.tokenizer)
    answers = AnswerJudge(session, tokenizer, threshold=1.0, reply_threshold=1.0, calibrations=UNCALIBRATED, proposing=None)
    fitted = fit_calibrations(answers, data, seed=seed)
    examples = training_examples(data, FITTING, seed=seed, shares=dict.fromkeys(_SCORED, 1.0))
    right = [e for e in examples if e.task is Task.CORRECT]
    items = [ScoringItem(e.first, e.second, e.references) for e in right]
    agreed = correctness(session, tokenizer, items, temperature=1.0).astype(np.float64)
    labels_of_right = np.array([e.label for e in right], dtype=np.float64)
    temperature = correctness_temperature(agreed, labels_of_right)
    certain = np.clip(agreed, _LEAST, 1 - _LEAST)
    cooled = 1 / (1 + np.exp(-(np.log(certain) - np.log1p(-certain)) / temperature))
    fitted["certain"]["reference"] = certain_cuts(cooled, (labels_of_right >= 0.5).astype(np.float64))
    about = json.loads((folder / "judge.json").read_text(encoding="utf-8"))
    fitted["temperatures"] = {"correct": temperature, "entailment": choose_entailment_temperature(session, tokenizer, examples)}
    about["fitted"] |= fitted
    (folder / "judge.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    return dict(about["fitted"])


def fit_entailment(folder: Path, data: Path, *, seed: int = 0) -> float:
    """Fit the temperature of a judge's own network for entailment and write it into its ``judge.json``; returns it."""
    weights = Weights.open(folder)
    examples = training_examples(data, FITTING, seed=seed, shares=dict.fromkeys(_ENTAILED, 1.0))
    session, tokenizer = weights.entailment_session(), open_tokenizer(weights.tokenizer)
    about = json.loads((folder / "judge.json").read_text(encoding="utf-8"))
    about["entailment"] = {"temperature": choose_entailment_temperature(session, tokenizer, examples)}
    (folder / "judge.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    return float(about["entailment"]["temperature"])


def choose_entailment_temperature(session: Network, tokenizer: Tokenizer, examples: Sequence[Example]) -> float:
    """Choose the temperature of the entailment head by the examples of entailment among those given."""
    stated = [e for e in examples if e.task is Task.ENTAILMENT]
    followed = entailment(session, tokenizer, [(e.first, e.second) for e in stated], temperature=1.0).astype(np.float64)
    return entailment_temperature(followed, stated)


def fit_calibrations(answers: AnswerJudge, data: Path, *, seed: int) -> dict[str, Any]:
    """Fit the calibrations and the certain cuts of passages and replies: ``calibrations`` and ``certain`` of ``judge.json``."""
    fitted: dict[str, Any] = {"certain": {}, "calibrations": {}}
    modes = (("passage", Task.ANSWERS, ("passages", "long_passages")), ("reply", Task.REPLIES, ("replies",)))
    for mode, task, names in modes:
        texts = fitting_texts(data, mode, seed=seed)
        known = {kind: attach_labels(answers.evidence([asked for asked, _ in rows]), rows) for kind, rows in texts.items()}
        natural: list[tuple[float, float]] = []
        for name in names:
            chosen = {kind: [row for row in rows if calibration_name(task, row[0]) == name] for kind, rows in known.items()}
            calibration = fit_calibration({kind: rows for kind, rows in chosen.items() if rows})
            natural += [(calibration.probability(each), label) for each, label in chosen["natural"]]
            fitted["calibrations"][name] = asdict(calibration)
        fitted["certain"][mode] = certain_cuts(*np.array(natural).T)
    return fitted


def fitting_texts(data: Path, mode: str, *, seed: int) -> dict[str, list[tuple[Asked, float]]]:
    """Gather whole texts of a mode: natural ones, and composed ones of held-out domains."""
    rng = random.Random(seed)
    natural = [
        ((row["question"], row["text"], row["question"] if mode == "reply" else ""), float(row["label"]))
        for row in sample_rows(part_rows(data / "judge/answers.jsonl.gz", FITTING), rng, MOST_NATURAL)
        if (row["kind"] in REPLY_KINDS) == (mode == "reply") and (mode == "passage" or len(row["text"].split()) <= ONE_WINDOW)
    ]
    task = Task.REPLIES if mode == "reply" else Task.ANSWERS
    composed = _ask(make_crossed_examples(data, rng, FITTING), task)
    texts = {
        "natural": natural,
        "composed": rng.sample(composed, min(MOST_COMPOSED, len(composed))),
        "cases": [*case_texts(mode)],
        "near questions": _ask(near_question_examples(rng, FITTING), task),
    }
    return texts if mode == "reply" else texts | {"retrieved": pair_with_paragraphs(data, rng)}


def _ask(examples: Iterable[Example], task: Task) -> list[tuple[Asked, float]]:
    """Take the examples of a task as questions to texts with labels; a reply is read with the user's question."""
    return [
        ((e.first, e.second, (e.user_question or e.first) if task is Task.REPLIES else ""), e.label)
        for e in examples
        if e.task is task and e.label is not None
    ]


def pair_with_paragraphs(data: Path, rng: random.Random) -> list[tuple[Asked, float]]:
    """Pair questions with the paragraph that answers them and with ``OTHERS`` others of the same article."""
    found: list[tuple[Asked, float]] = []
    for paragraphs in squad_articles(data, FITTING):
        for paragraph in paragraphs:
            others = [each["context"] for each in paragraphs if each is not paragraph]
            for question in (each["question"] for each in paragraph["qas"] if not each["is_impossible"]):
                found.append(((question, paragraph["context"], ""), 1.0))
                found += [((question, text, ""), 0.0) for text in rng.sample(others, min(OTHERS, len(others)))]
    return found


def attach_labels(
    found: Sequence[WindowEvidence | None], rows: Sequence[tuple[Asked, float]]
) -> list[tuple[WindowEvidence, float]]:
    """Put each text's evidence beside its label; texts that were not read are left out."""
    return [(each, label) for each, (_, label) in zip(found, rows, strict=True) if each is not None]


def fit_calibration(rows: Mapping[str, Sequence[tuple[WindowEvidence, float]]]) -> ScoreCalibration:
    """Fit a logistic regression to evidence with labels; kinds of text weigh the same, and so do the labels of a kind."""
    found = [each for kind in rows.values() for each in kind]
    features = np.array([[e.logit, np.log(e.windows), np.log(e.tokens), e.similarity, 1.0] for e, _ in found])
    inputs, wanted = torch.from_numpy(features), torch.tensor([label for _, label in found], dtype=torch.float64)
    shares = [_label_shares(kind) for kind in rows.values()]
    each_weight = [share[label] for kind, share in zip(rows.values(), shares, strict=True) for _, label in kind]
    weights = torch.tensor(each_weight, dtype=torch.float64)
    numbers = torch.tensor([0.5, 0.0, 0.0, 0.0, 0.0], dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([numbers], max_iter=500, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        optimiser.zero_grad()
        total = functional.binary_cross_entropy_with_logits(inputs @ numbers, wanted, weights / weights.sum(), reduction="sum")
        total = total + RIDGE * numbers.square().sum()
        total.backward()
        return total

    optimiser.step(loss)
    return ScoreCalibration(*numbers.detach().numpy().round(4).tolist())


def _label_shares(rows: Sequence[tuple[WindowEvidence, float]]) -> dict[float, float]:
    """Weigh labels so that each has the same sum, 1 altogether; a single label has all of it."""
    counts = Counter(label for _, label in rows)
    return {label: 1 / (len(counts) * count) for label, count in counts.items()}


def certain_cuts(probabilities: Floats, labels: Floats, *, right: float = CERTAIN) -> tuple[float, float]:
    """Return the highest low cut and the lowest high cut beyond which the given share of verdicts is right.

    >>> certain_cuts(np.array([0.1, 0.2, 0.4, 0.6, 0.8, 0.9]), np.array([0.0, 0.0, 1.0, 0.0, 1.0, 1.0]))
    (0.2, 0.8)
    """
    order = np.argsort(probabilities, kind="stable")
    values, truth = probabilities[order], labels[order]
    below = 1 - np.cumsum(truth) / np.arange(1, len(truth) + 1)
    above = np.cumsum(truth[::-1])[::-1] / np.arange(len(truth), 0, -1)
    low = values[(below >= right) & (values < 0.5)]
    high = values[(above >= right) & (values >= 0.5)]
    return round(float(low[-1]), 4) if len(low) else 0.0, round(float(high[0]), 4) if len(high) else 1.0


def correctness_temperature(probabilities: Floats, labels: Floats) -> float:
    """Choose the temperature with the highest likelihood of labels in [0, 1]."""
    certain = np.clip(probabilities, _LEAST, 1 - _LEAST)
    logits = (np.log(certain) - np.log1p(-certain)) / _TEMPERATURES[:, None]
    return _best((labels * logits - np.logaddexp(0, logits)).mean(axis=1))


def entailment_temperature(probabilities: Floats, examples: Sequence[Example]) -> float:
    """Choose the temperature with the highest likelihood of the classes."""
    labels = np.array([int(example.label or 0) for example in examples])
    powers = np.maximum(probabilities, _LEAST) ** (1 / _TEMPERATURES[:, None, None])
    scaled = powers / powers.sum(axis=-1, keepdims=True)
    either = scaled[..., 1:].sum(axis=-1, keepdims=True)
    chosen = np.concatenate([scaled, either], axis=-1)[:, np.arange(len(labels)), np.minimum(labels, NOT_ENTAILED)]
    return _best(np.log(chosen).mean(axis=1))


def _best(likelihood: Floats) -> float:
    return round(float(_TEMPERATURES[likelihood.argmax()]), 3)
