"""Does content foretell which system answers a question right, and does routing by it pay? NQ-open, fifteen systems.

    python -m benchmarks.routing.skills
    python -m benchmarks.routing.skills --sections held-out-questions frontiers

Ten systems are judged by exact match, five by people (EVOUNA). Rows of `skills/nq_open_responses_part.jsonl`:

- *held-out questions*: fitted on the questions of train buckets, scored on those of test buckets, which no fit saw.
- *held-out responses*: three responses in ten, by a hash of question and system, are hidden; fitted on the others of all
  questions, scored on the hidden ones of test buckets. Whoever knows a question's other responses has the advantage here.
- *frontiers*: routing among the systems of one criterion at a time, on held-out questions, with costs that are made up and
  stated, against always one system, random mixtures of two, and an oracle.
- *recovery*: responses drawn from a known model: correlations of skills and difficulties, coverage of 95% intervals.
- *speed*: seconds to predict 100,000 questions for 15 systems, and to fit 36,000 responses.

Intervals are bootstraps over questions; differences are taken inside each resample. "Paper" is CAIMIRA without priors on
embeddings alone; "ours" has priors chosen on held-out questions, and the features of `rag_cover.routing.encode`. What was
chosen (features, their weight, the shape of the priors) was chosen by cross-validation inside train buckets.

Data: shared folder.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.datasets import lines
from benchmarks.support.skill_models import agent_mean, item_response, logistic, majority, neighbours, question_mean
from benchmarks.support.skill_scores import Scored, scores_of
from benchmarks.support.skills_simulated import recovered, simulated
from benchmarks.support.tables import arguments, plain, show
from rag_cover import open_embedder
from rag_cover.routing import Caimira, Frontier, Responses, encode, trace_frontier
from rag_cover.routing.features import READABLE
from rag_cover.stats.intervals import wilson
from rag_cover_embedded.training.splits import trains

Floats = NDArray[np.float64]

DIMENSIONS = (1, 3, 5, 8)
HIDDEN = 30
"""Percent of responses that are held out."""

EXACT_MATCH_COSTS = {
    "DPR": 1.0, "FiD": 2.0, "EviGen": 2.5, "FiD-KD": 3.0, "EMDR2": 4.0, "Rocketv2_FiD": 4.0, "ANCE-plus_FiD": 4.0,
    "Contriever_FiD": 4.0, "GAR-plus_FiD": 5.0, "R2D2": 8.0,
}  # fmt: skip
JUDGED_COSTS = {"evouna_fid": 1.0, "evouna_gpt35": 4.0, "evouna_chatgpt": 5.0, "evouna_newbing": 15.0, "evouna_gpt4": 20.0}
"""Made up: a question's price in units of the cheapest system's, dearer where more is retrieved, read or written."""

LOGISTIC, NEIGHBOURS = "logistic regression on embeddings", "100 nearest neighbours"
SECTIONS = ("held-out-questions", "held-out-responses", "frontiers", "recovery", "speed")


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """Who got which question right, and what is known of each question: (n, d) embeddings alone, and all features."""

    responses: Responses
    embeddings: Floats
    features: Floats
    train: NDArray[np.bool_]


def sheet_of(data: Path, judge: str, limit: int | None) -> Sheet:
    """Read the responses and encode their questions."""
    rows = list(lines(data / "skills/nq_open_responses_part.jsonl"))[:limit]
    merged = Responses.from_observations(
        (agent, row["question"], float(right))
        for row in rows
        for agent, right in [*row["em"].items(), *row["human"].items()]
        if right is not None
    )
    features = encode(merged.questions, open_embedder(judge))
    train = np.array([trains(question) for question in merged.questions])
    return Sheet(merged, features[:, : -len(READABLE)], features, train)


Fit = Callable[[Floats, NDArray[np.bool_]], Floats]
"""Predicts (n, a) for all questions, from the values (n, a) of the questions in a mask."""


def with_caimira(sheet: Sheet, features: Floats, dimensions: int, **settings: float | None) -> Fit:
    """Fit CAIMIRA to features."""

    def fit(values: Floats, known: NDArray[np.bool_]) -> Floats:
        names = [question for question, kept in zip(sheet.responses.questions, known, strict=True) if kept]
        model = Caimira(dimensions, **settings)  # type: ignore[arg-type]  # patience is None or left out
        return model.fit(Responses(sheet.responses.agents, names, values[known]), features[known]).predict(features)

    return fit


def with_content(sheet: Sheet) -> dict[str, Fit]:
    """Return the models that can tell of questions nobody was asked."""
    e, n = sheet.embeddings, len(sheet.train)
    found: dict[str, Fit] = {
        "majority": lambda values, known: majority(values[known], n),
        "per-agent mean": lambda values, known: agent_mean(values[known], n),
        LOGISTIC: lambda values, known: logistic(values[known], e[known], e),
        NEIGHBOURS: lambda values, known: neighbours(values[known], e[known], e),
        "logistic regression on our features": lambda values, known: logistic(
            values[known], sheet.features[known], sheet.features
        ),
    }
    found |= {f"CAIMIRA, paper, m = {m}": with_caimira(sheet, e, m, shrinkage=0.0, patience=None) for m in DIMENSIONS}
    found |= {f"CAIMIRA, paper, stopped early, m = {m}": with_caimira(sheet, e, m, shrinkage=0.0) for m in (1, 5)}
    found |= {f"CAIMIRA, ours on embeddings, m = {m}": with_caimira(sheet, e, m) for m in (1, 5)}
    return found | {f"CAIMIRA, ours, m = {m}": with_caimira(sheet, sheet.features, m) for m in DIMENSIONS}


def of_seen_questions() -> dict[str, Fit]:
    """Return the models that need a question's other responses."""
    return {
        "per-question mean": lambda values, _: question_mean(values),
        "1PL": lambda values, _: item_response(values, discriminates=False),
        "2PL": lambda values, _: item_response(values, discriminates=True),
    }


def compared(title: str, models: dict[str, Fit], values: Floats, hidden: Floats, known: NDArray[np.bool_]) -> dict[str, Floats]:
    """Fit every model to values of the known questions, score it on what is hidden, both (n, a), and print the table."""
    predicted: dict[str, Floats] = {}
    scored: dict[str, Scored] = {}
    asked = ~np.isnan(hidden).all(axis=1)
    for name, fit in models.items():
        predicted[name] = fit(values, known)
        scored[name] = scores_of(predicted[name][asked], hidden[asked])
    header = ["model", "accuracy", "AUC", "log-loss", "Brier"]
    against = [f"{what} less {whom}" for whom in ("logistic", "neighbours") for what in ("AUC", "log-loss")]
    rows = [[name, *each.row, *each.less(scored[LOGISTIC]), *each.less(scored[NEIGHBOURS])] for name, each in scored.items()]
    show(f"{title}: {int(asked.sum())} questions, {int((~np.isnan(hidden)).sum())} responses", [*header, *against], rows)
    return predicted


def hidden_responses(sheet: Sheet) -> Floats:
    """Return (n, a) with what is held out by a hash of question and system, NaN elsewhere."""
    out = [[_percent(question + agent) < HIDDEN for agent in sheet.responses.agents] for question in sheet.responses.questions]
    return np.where(out, sheet.responses.values, np.nan)


def _percent(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % 100


def frontiers(sheet: Sheet, predicted: dict[str, Floats]) -> None:
    """Print what routing gives among the systems of each criterion, by each model's predictions on held-out questions."""
    for criterion, costs in {"exact match": EXACT_MATCH_COSTS, "people's verdicts": JUDGED_COSTS}.items():
        places = [sheet.responses.agents.index(agent) for agent in costs]
        success = sheet.responses.values[~sheet.train][:, places]
        found = {
            (name, policy): trace_frontier(
                success, said[~sheet.train][:, places], list(costs.values()), agents=list(costs), policy=policy
            )
            for name, said in predicted.items()
            for policy in ("target", "exchange")
        }
        first = next(iter(found.values()))
        rows = [[one.name, plain(one.cost, digits=2), plain(one.quality), ""] for one in (*first.always, first.oracle)]
        title = f"Routing by {criterion}: {first.questions} held-out questions, {len(costs)} systems"
        show(f"{title}, without a router", ["policy", "cost", "quality", ""], rows)
        header = [
            "predictions, policy",
            "gain over mixtures, mean over costs",
            "best gain at equal cost",
            "at cost",
            "quality there",
        ]
        show(title, header, [[", ".join(key), *_gains(each)] for key, each in found.items()])


def _gains(frontier: Frontier) -> list[str]:
    best = max(frontier.points, key=lambda point: point.gain.estimate if point.gain else -1.0)
    return [plain(frontier.gain, digits=4), plain(best.gain, digits=4), plain(best.cost, digits=2), plain(best.quality)]


def recovery(seed: int, worlds: int = 4) -> None:
    """Print how well simulated skills and difficulties are found."""
    rows = []
    for questions, agents, dimensions in ((500, 15, 1), (2000, 20, 2), (4000, 30, 3)):
        found = []
        for number in range(worlds):
            world = simulated(questions, agents, dimensions, seed=seed + number)
            found.append(recovered(world, Caimira(dimensions).fit(world.responses, world.features)))
        covered = wilson(sum(each.covered for each in found), sum(each.intervals for each in found))
        correlations = [f"{np.mean([getattr(each, what) for each in found]):.3f}" for what in ("skills", "difficulties")]
        rows.append([f"{questions} × {agents}", str(dimensions), *correlations, plain(covered), str(worlds)])
    header = [
        "questions × agents",
        "m",
        "r of skills",
        "r of effective difficulties",
        "intervals that hold the truth",
        "worlds",
    ]
    show("Recovery of simulated parameters; intervals are nominally 95%", header, rows)


def speed(sheet: Sheet, seed: int) -> None:
    """Print how long fitting 36,000 responses and predicting 100,000 questions takes."""
    rng = np.random.default_rng(seed)
    n, agents = 36_000 // len(sheet.responses.agents), sheet.responses.agents
    chosen = rng.choice(len(sheet.features), n, replace=n > len(sheet.features))
    values = np.where(np.isnan(sheet.responses.values), 0.0, sheet.responses.values)[chosen]
    responses = Responses(agents, [f"question {number}" for number in range(n)], values)
    many = sheet.features[rng.choice(len(sheet.features), 100_000)]
    rows = []
    for dimensions in DIMENSIONS:
        model = Caimira(dimensions)
        fitting = _seconds(lambda model=model: model.fit(responses, sheet.features[chosen]))  # type: ignore[misc]  # bound now
        predicting = _seconds(lambda model=model: model.predict(many))  # type: ignore[misc]  # bound now
        rows.append([str(dimensions), f"{fitting:.1f} s", f"{predicting:.2f} s"])
    show("Speed on this machine's CPU", ["m", "fit of 36,000 responses", "prediction of 100,000 × 15"], rows)


def _seconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def run(sections: Sequence[str], sheet: Sheet, seed: int) -> None:
    """Print the sections that were asked for."""
    if {"held-out-questions", "frontiers"} & set(sections):
        hidden = np.where(sheet.train[:, None], np.nan, sheet.responses.values)
        predicted = compared("Held-out questions", with_content(sheet), sheet.responses.values, hidden, sheet.train)
        if "frontiers" in sections:
            frontiers(sheet, {name: predicted[name] for name in (LOGISTIC, "CAIMIRA, ours, m = 1", "CAIMIRA, ours, m = 5")})
    if "held-out-responses" in sections:
        out = hidden_responses(sheet)
        values = np.where(np.isnan(out), sheet.responses.values, np.nan)
        scored = np.where(sheet.train[:, None], np.nan, out)
        compared("Held-out responses", of_seen_questions() | with_content(sheet), values, scored, np.ones_like(sheet.train))
    if "recovery" in sections:
        recovery(seed)
    if "speed" in sections:
        speed(sheet, seed)


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--sections", nargs="+", default=list(SECTIONS), choices=SECTIONS, help="(default: all)")
    options = parser.parse_args()
    run(options.sections, sheet_of(options.data, options.judge, options.limit), options.seed)


if __name__ == "__main__":
    main()
