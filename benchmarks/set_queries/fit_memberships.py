"""Fit how the embedded judge's word about a candidate of a set query becomes a probability, and write it into the package.

    python -m benchmarks.set_queries.fit_memberships                # fits, and writes
    python -m benchmarks.set_queries.fit_memberships --keep rows    # also keeps the features in a file, or reads them there

Fitted on validation questions alone, of the built corpus and of LIMIT's atoms composed (`set_queries.answers`), each with what
it means: of every template the first twelve (LIMIT: six). What their atoms' searches find is judged by every atom, as
`rag_cover.setqueries.answer` does it. The weights are fitted on every other question; the combination and the threshold are
those with the best mean F1 over all of them, a corpus counting as much as the other. The tables show what each step brings on
the questions that the weights were not fitted on. Fit it anew when the embedded judge is trained anew.

Data: shared folder.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.entities import TEMPLATES, SetQuestion, world
from benchmarks.support.limit import likers, passages, questions
from benchmarks.support.tables import arguments, show
from rag_cover import build_retriever, open_scorer
from rag_cover.backends import Retriever, Scorer, fingerprint_of
from rag_cover.model_calls import ask_probabilities
from rag_cover.setqueries.answering import MOST_PAIRS
from rag_cover.setqueries.calibration import NUMBERS, MembershipCalibration, membership_features
from rag_cover.setqueries.candidates import DEPTH, depths_of, pool_candidates
from rag_cover.setqueries.judging import AtomPassage, within
from rag_cover.setqueries.memberships import COMBINATIONS, membership
from rag_cover.setqueries.metrics import best_threshold
from rag_cover.stats.logistic import fit_weights
from rag_cover.stats.logistic import probabilities as probabilities_by_logit

Floats = NDArray[np.float64]

EACH = {"built corpus": 12, "LIMIT composed": 6}
RIDGE = 1.0
GRID = tuple(step / 20 for step in range(20))


@dataclass(frozen=True, slots=True)
class Rows:
    """One question's candidates with what is known of them by atom: (candidates, features), and which are members."""

    corpus: str
    question: SetQuestion
    names: tuple[str, ...]
    features: Mapping[str, Floats]
    members: Mapping[str, NDArray[np.bool_]]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Questions to one corpus, and who belongs to each atom, by id."""

    corpus: str
    questions: tuple[SetQuestion, ...]
    retriever: Retriever
    members: Mapping[str, frozenset[str]]


def main() -> None:
    """Fit, show and write."""
    parser = arguments(__doc__)
    parser.add_argument("--keep", type=Path, help="a file to keep the features in, or to take them from")
    options = parser.parse_args()
    scorer = open_scorer(options.judge)
    if options.keep and options.keep.exists():
        rows = pickle.loads(options.keep.read_bytes())  # noqa: S301  # this script's own
    else:
        rows = [each for drawn in _drawn(options.data) for each in _rows(drawn, scorer)]
        if options.keep:
            options.keep.write_bytes(pickle.dumps(rows))
    made = _fitted(rows)
    NUMBERS.write_text(json.dumps({fingerprint_of(scorer): made.to_dict()}, indent=1) + "\n", encoding="utf-8")
    print(f"\n{NUMBERS.name}: {made.combination}, threshold {made.threshold}, fitted on {made.n} questions")


def _drawn(data: Path) -> Iterator[Drawn]:
    built, found = world("validation"), passages(data)
    yield Drawn("built corpus", built.questions, build_retriever("embedded", built.passages), built.members)
    liked = {f"People who like {thing}": some for thing, some in likers(found).items()}
    yield Drawn("LIMIT composed", tuple(questions(data, "validation")), build_retriever("embedded", found), liked)


def _rows(drawn: Drawn, scorer: Scorer) -> Iterator[Rows]:
    for template in TEMPLATES:
        some = [each for each in drawn.questions if each.template == template]
        for number, question in enumerate(some[: EACH[drawn.corpus]]):
            print(f"{drawn.corpus}, {template}: {number + 1}", flush=True)
            yield _judged(drawn, question, scorer)


def _judged(drawn: Drawn, question: SetQuestion, scorer: Scorer) -> Rows:
    depths = depths_of(question.query, DEPTH)
    found = {atom: drawn.retriever.retrieve(atom, k=depth) for atom, depth in depths.items()}
    candidates = within(pool_candidates(question.query, found), len(depths), MOST_PAIRS)
    ids = tuple(str(each.passages[0].id) for each in candidates)
    pairs = {atom: [AtomPassage(atom, each.passages[0]) for each in candidates] for atom in depths}
    said = ask_probabilities(scorer, [pair.item for some in pairs.values() for pair in some])
    features = {
        atom: membership_features([said[pair.item] for pair in some], [(pair.predicate, pair.text) for pair in some])
        for atom, some in pairs.items()
    }
    members = {atom: np.array([name in drawn.members[atom] for name in ids]) for atom in depths}
    return Rows(drawn.corpus, question, ids, features, members)


def _fitted(rows: Sequence[Rows]) -> MembershipCalibration:
    first, second = rows[::2], rows[1::2]
    names = " and ".join(dict.fromkeys(f"{each.corpus}'s" for each in rows))
    made = MembershipCalibration(name=f"{names} validation questions", n=len(rows))
    fitted = replace(made, weights=_weights(first))
    for name, each in {"the scorer as it is": made, "calibrated": fitted}.items():
        show(f"{name}: mean F1 in percent, {len(second)} questions", ["", *_corpora(rows)], _table(second, each))
    tried = {combination: _f1s(rows, replace(fitted, combination=combination)) for combination in COMBINATIONS}
    best = max(tried, key=lambda combination: max(tried[combination].values()))
    threshold = max(tried[best], key=lambda t: tried[best][t])
    return replace(fitted, combination=best, threshold=threshold)


def _weights(rows: Sequence[Rows]) -> tuple[float, ...]:
    features = np.concatenate([each.features[atom] for each in rows for atom in each.features])
    members = np.concatenate([each.members[atom] for each in rows for atom in each.features])
    return tuple(round(float(weight), 4) for weight in fit_weights(features, members, ridge=RIDGE))


def _probabilities(rows: Rows, atom: str, made: MembershipCalibration) -> Floats:
    return made.memberships(rows.features[atom]) if made.weights else probabilities_by_logit(rows.features[atom][:, 0])


def _f1s(rows: Sequence[Rows], made: MembershipCalibration) -> dict[float, float]:
    """Return the mean F1 by threshold, the mean of the corpora's."""
    by_corpus = []
    for corpus in _corpora(rows):
        some = [each for each in rows if each.corpus == corpus]
        values = []
        for each in some:
            atoms = {atom: _probabilities(each, atom, made) for atom in each.features}
            values.append(membership(each.question.query, atoms, combination=made.combination).tolist())
        fit = best_threshold([each.question.gold for each in some], [each.names for each in some], values, grid=GRID)
        by_corpus.append({threshold: scores.f1 for threshold, scores in fit.tried.items()})
    return {threshold: float(np.mean([each[threshold] for each in by_corpus])) for threshold in GRID}


def _table(rows: Sequence[Rows], made: MembershipCalibration) -> list[list[str]]:
    table = []
    for combination in COMBINATIONS:
        cells = []
        for corpus in _corpora(rows):
            f1s = _f1s([each for each in rows if each.corpus == corpus], replace(made, combination=combination))
            best = max(f1s, key=lambda threshold: f1s[threshold])
            cells.append(f"{100 * f1s[best]:.1f} above {best:.2f}")
        table.append([combination, *cells])
    return table


def _corpora(rows: Sequence[Rows]) -> list[str]:
    return list(dict.fromkeys(each.corpus for each in rows))


if __name__ == "__main__":
    main()
