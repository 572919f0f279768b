"""Do skills foretell who answers a question of another topic? Any table of outcomes; NQ-open where none is named.

    python -m benchmarks.skills.outcome_tables
    python -m benchmarks.skills.outcome_tables --table routerbench.csv --limit 3000

The table is one that `rag_cover.importers.read_outcomes` reads, such as RouterBench's, written as CSV or JSONL. Questions are
held out in two ways: *topics*, groups of k-means on their embeddings, one after the other; and five random *folds*. The skills
are those of `rag-cover skills fit`: dimensions and strength of priors are chosen anew, without the questions held out. Beside
them stand each model's mean, its mean in the question's subject (where the table has subjects), and two learners on the same
vectors: logistic regression, and the 100 nearest neighbours.

NQ-open has train and test buckets: models are fitted on the former and scored on the latter, outside and inside of the topic;
``--part train`` scores on train buckets, for development. Outcomes between 0 and 1 count as right from 0.5 upwards in the
figures. Intervals are bootstraps over questions; differences are taken inside each resample.

Data: shared folder, or a table of your own.
Time: four minutes on one core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.datasets import lines, sample
from benchmarks.support.skill_models import agent_mean, logistic, neighbours, subject_mean
from benchmarks.support.skill_scores import scores_of
from benchmarks.support.tables import arguments, show
from rag_cover import open_embedder
from rag_cover.importers import read_outcomes
from rag_cover.routing import Responses, Subjects, cluster_questions, encode
from rag_cover.routing.dimension_choice import choose_dimensions
from rag_cover.stats.folds import folds_of
from rag_cover_embedded.training.splits import trains

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

SECTIONS = ("topics", "folds")
OURS, MEAN, LOGISTIC, NEIGHBOURS = "skills", "each model's mean", "logistic regression", "100 nearest neighbours"


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """Responses, what is known of their questions, and which may be fitted on and which scored on."""

    responses: Responses
    subjects: tuple[str | None, ...]
    features: Floats
    embeddings: Floats
    fitted: Mask
    scored: Mask


def sheet_of(table: Path | None, data: Path, judge: str, part: str, limit: int | None, seed: int) -> Sheet:
    """Read a table, or NQ-open, and encode its questions as `rag-cover skills fit` does."""
    responses, given = _nq_open(data) if table is None else _table(table)
    chosen = sample(range(len(responses.questions)), limit, seed)
    responses, given = responses.of_questions(chosen), tuple(given[place] for place in chosen)
    embedder, subjects = open_embedder(judge), Subjects.from_questions(given)
    vectors = np.asarray(embedder.embed(responses.questions), dtype=np.float64)
    features = np.hstack([encode(responses.questions, embedder), subjects.columns(given)])
    train = np.array([trains(question) for question in responses.questions])
    everything = np.ones(len(train), dtype=bool)
    fitted, scored = (everything, everything) if table else (train, train if part == "train" else ~train)
    unit = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return Sheet(responses, given if subjects.names else (), features, unit, fitted, scored)


def _nq_open(data: Path) -> tuple[Responses, tuple[str | None, ...]]:
    responses = Responses.from_observations(
        (agent, row["question"], float(right))
        for row in lines(data / "skills/nq_open_responses_part.jsonl")
        for agent, right in [*row["em"].items(), *row["human"].items()]
        if right is not None
    )
    return responses, (None,) * len(responses.questions)


def _table(path: Path) -> tuple[Responses, tuple[str | None, ...]]:
    outcomes = read_outcomes(path)
    return outcomes.responses, outcomes.subjects


def topics_of(sheet: Sheet, topics: int, seed: int) -> Iterator[Mask]:
    """Yield a mask for each group of questions that are alike by their embeddings."""
    groups = cluster_questions(sheet.embeddings, sheet.responses.values, sheet.responses.agents, clusters=topics, seed=seed)
    for group in groups:
        held = np.zeros(len(sheet.embeddings), dtype=bool)
        held[list(group.members)] = True
        yield held


Predict = Callable[[Mask, Mask], Floats]
"""Predicts (asked, a) from the questions of the first mask for those of the second."""


def models_of(sheet: Sheet, seed: int, chosen: list[int]) -> Mapping[str, Predict]:
    """Name the models; the dimensions that the skills take are noted in ``chosen``."""
    values, features = sheet.responses.values, sheet.features
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)

    def skills(known: Mask, asked: Mask) -> Floats:
        choice = choose_dimensions(sheet.responses.of_questions(known), features[known], seed=seed)
        chosen.append(choice.model.dimensions)
        return choice.model.fit(sheet.responses.of_questions(known), features[known]).predict(features[asked])

    found: dict[str, Predict] = {
        OURS: skills,
        MEAN: lambda known, asked: agent_mean(values[known], int(asked.sum())),
        LOGISTIC: lambda known, asked: logistic(values[known], features[known], features[asked]),
        NEIGHBOURS: lambda known, asked: neighbours(values[known], unit[known], unit[asked]),
        f"{LOGISTIC}, embeddings alone": lambda known, asked: logistic(
            values[known], sheet.embeddings[known], sheet.embeddings[asked]
        ),
        f"{NEIGHBOURS}, embeddings alone": lambda known, asked: neighbours(
            values[known], sheet.embeddings[known], sheet.embeddings[asked]
        ),
    }
    if sheet.subjects:
        named = np.array([subject or "" for subject in sheet.subjects])
        found["each model's mean in the subject"] = lambda known, asked: subject_mean(values[known], named[known], named[asked])
    return found


def compare(title: str, sheet: Sheet, folds: Iterator[Mask], seed: int) -> None:
    """Predict what is held out, fold by fold, by every model, and print how well each does and how far ours is ahead."""
    chosen: list[int] = []
    models = models_of(sheet, seed, chosen)
    predicted = {name: np.full_like(sheet.responses.values, np.nan) for name in models}
    for held in folds:
        known, asked = sheet.fitted & ~held, sheet.scored & held
        for name, predict in models.items():
            predicted[name][asked] = predict(known, asked)
    values = sheet.responses.values[sheet.scored]
    right = np.where(np.isnan(values), np.nan, values >= 0.5)  # noqa: PLR2004 - more right than wrong
    scored = {name: scores_of(said[sheet.scored], right) for name, said in predicted.items()}
    rows = [[name, *each.row[1:3], *(["", ""] if name == OURS else scored[OURS].less(each))] for name, each in scored.items()]
    title += f": {len(right)} questions, {int((~np.isnan(right)).sum())} responses; dimensions {', '.join(map(str, chosen))}"
    show(title, ["predictions", "AUC", "log-loss", "skills' AUC less this", "skills' log-loss less this"], rows)


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--table", type=Path, help="a table of outcomes (default: NQ-open of the shared folder)")
    parser.add_argument("--topics", type=int, default=8, help="groups of questions (default: 8)")
    parser.add_argument("--part", choices=["train", "test"], default="test", help="of NQ-open, scored on (default: test)")
    parser.add_argument("--sections", nargs="+", default=list(SECTIONS), choices=SECTIONS, help="(default: all)")
    options = parser.parse_args()
    sheet = sheet_of(options.table, options.data, options.judge, options.part, options.limit, options.seed)
    if "topics" in options.sections:
        compare("Topics held out", sheet, topics_of(sheet, options.topics, options.seed), options.seed)
    if "folds" in options.sections:
        compare("Questions held out", sheet, folds_of(range(len(sheet.fitted)), seed=options.seed), options.seed)


if __name__ == "__main__":
    main()
