"""Are modifiers better read as one set or as several, must a text name the kind of thing, and what does screening cost?

    python -m benchmarks.set_queries.modifiers --limit 42                     # the figures: test questions
    python -m benchmarks.set_queries.modifiers --limit 42 --part validation   # the questions that choices were made on

1. The questions of `set_queries.answers`, read by the grammar: as it reads them, with modifiers split or joined always, by the
   larger membership of both readings and by the smaller one, and as it reads them with candidates screened before they are
   judged. Beside them plain retrievers with the k that is best on validation questions. Differences are paired, with bootstraps
   over questions.
2. Atoms that put a modifier before their kind ("vegan restaurants"), judged on texts as they are and on the same texts with
   every word for the kind replaced by "one": by what the atom says besides its kind (`predicate_of`), and by the whole atom.

Data: shared folder.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.retrieval.quality import kept_index
from benchmarks.set_queries.answers import Collection, Part, Remembered, collection, plain_ways
from benchmarks.support.datasets import sample
from benchmarks.support.entities import SetQuestion, world
from benchmarks.support.entities_phrases import Atom
from benchmarks.support.entities_wording import WorldName, wording
from benchmarks.support.set_figures import GROUPS
from benchmarks.support.tables import arguments, show
from rag_cover import build_retriever, open_scorer
from rag_cover.backends import Scorer, fingerprint_of
from rag_cover.english.words import content_words
from rag_cover.errors import InvalidValueError
from rag_cover.model_calls import ask_probabilities
from rag_cover.questions import Passage
from rag_cover.setqueries import SetAnswerer, SetQuery, join_modifiers, parse, set_scores, split_modifiers
from rag_cover.setqueries.calibration import MembershipCalibration, membership_calibration_for, membership_features
from rag_cover.setqueries.judging import AtomPassage
from rag_cover.setqueries.predicates import predicate_of

Floats = NDArray[np.float64]

SETS = ("built corpus", "LIMIT composed")
EACH = 6
"""How many members and others of each atom are judged in the second table."""
MOST_ATOMS = 14


@dataclass(frozen=True, slots=True)
class Way:
    """A way to read and answer: what is asked for a question, with the answerer's settings."""

    read: Callable[[SetQuestion], str | SetQuery]
    settings: Mapping[str, object]


def combined(join: Callable[..., SetQuery]) -> Callable[[SetQuestion], str | SetQuery]:
    """Ask for both readings at once, by the union or the intersection of them."""

    def read(question: SetQuestion) -> SetQuery:
        query = parse(question.question).query
        joined, split = join_modifiers(query), split_modifiers(query)
        return joined if joined == split else join(joined, split)

    return read


def _as_asked(question: SetQuestion) -> str:
    return question.question


WAYS: Mapping[str, Way] = {
    "as read": Way(_as_asked, {}),
    "split": Way(_as_asked, {"modifiers": "split"}),
    "joined": Way(_as_asked, {"modifiers": "joined"}),
    "larger": Way(combined(SetQuery.union), {}),
    "smaller": Way(combined(SetQuery.intersection), {}),
    "screened": Way(_as_asked, {"screen": True}),
}


def show_readings(measured: Collection, chosen_on: Collection, scorer: Remembered, seed: int, *, ways: Sequence[str]) -> None:
    """Print what every way returns, and its difference from the reading of the grammar."""
    retriever = build_retriever("embedded", measured.passages, index=kept_index(measured.passages))
    found, judged = dict[str, Floats](), dict[str, Floats]()
    for name in ways:
        way, began = WAYS[name], time.perf_counter()
        answerer = SetAnswerer(retriever=retriever, scorer=scorer, **way.settings)  # type: ignore[arg-type]  # the table's
        rows = np.array([_scores(answerer, way, question) for question in measured.questions])
        found[name], judged[name] = rows[:, :3], rows[:, 3]
        scorer.keep()
        print(f"{measured.name}, {name}: {time.perf_counter() - began:.0f} s", flush=True)
    for name, kept in plain_ways(chosen_on, measured).items():
        found[name] = np.array([_figures(question, each.kept) for question, each in zip(measured.questions, kept, strict=True)])
    body = [_row(measured.questions, name, found, judged.get(name), seed) for name in found]
    header = ["way", "precision / recall / F1", *GROUPS, "F1 less that as read", "changed", "pairs, median", "mean"]
    show(f"{measured.name}: {len(measured.questions)} questions, in percent; by group F1", header, body)


def _scores(answerer: SetAnswerer, way: Way, question: SetQuestion) -> tuple[float, float, float, float]:
    try:
        answer = answerer.answer(way.read(question))
    except InvalidValueError:
        return 0.0, 0.0, 0.0, 0.0
    return (*_figures(question, [str(each.passages[0].id) for each in answer.entities]), float(answer.judged))


def _figures(question: SetQuestion, kept: Sequence[str]) -> tuple[float, float, float]:
    scores = set_scores(question.gold, kept)
    return scores.precision, scores.recall, scores.f1


def _row(
    questions: Sequence[SetQuestion], name: str, found: Mapping[str, Floats], judged: Floats | None, seed: int
) -> list[str]:
    scores = found[name]
    groups = [[row for row, question in enumerate(questions) if question.template in some] for some in GROUPS.values()]
    by_group = [f"{100 * scores[rows, 2].mean():.1f}" if rows else "–" for rows in groups]
    less = 100 * (scores[:, 2] - found["as read"][:, 2])
    drawn = less[np.random.default_rng(seed).integers(len(less), size=(2_000, len(less)))].mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    pairs = ["–", "–"] if judged is None else [f"{np.median(judged):.0f}", f"{judged.mean():.0f}"]
    difference = f"{less.mean():+.1f} ({low:.1f} to {high:.1f})"
    return [
        name,
        " / ".join(f"{100 * each:.1f}" for each in scores.mean(axis=0)),
        *by_group,
        difference,
        str((less != 0).sum()),
        *pairs,
    ]


def show_kinds(part: WorldName, scorer: Scorer, calibration: MembershipCalibration, seed: int) -> None:
    """Print how surely members are found whose texts name the kind, and the same without its name."""
    pairs, members = _pairs(part, random.Random(seed))  # noqa: S311  # a draw, not a secret
    rows = []
    for texts, masked in (("as they are", False), ("the kind masked", True)):
        asked = [AtomPassage(atom, _masked(passage, kind) if masked else passage) for atom, kind, passage in pairs]
        said = ask_probabilities(scorer, [pair.item for pair in asked])
        for by, predicate in (("what is said besides the kind", predicate_of), ("the whole atom", str)):
            features = membership_features(
                [said[each.item] for each in asked], [(predicate(each.asked), each.text) for each in asked]
            )
            kept = calibration.memberships(features) > calibration.threshold
            shares = [kept[members].mean(), kept[~members].mean()]
            f1 = 2 * (kept & members).sum() / (kept.sum() + members.sum())
            rows.append([texts, by, *(f"{100 * share:.1f}" for share in (*shares, f1))])
    counts = f"{members.sum()} members and {(~members).sum()} others of {len({atom for atom, *_ in pairs})} atoms"
    title = f"Built corpus, {part}: {counts}, in percent"
    show(title, ["texts", "words shared with", "members found", "others kept", "F1"], rows)


def _pairs(part: WorldName, rng: random.Random) -> tuple[list[tuple[str, str, Passage]], NDArray[np.bool_]]:
    """Draw atoms with a modifier before their kind, and of each as many members as others of the kind."""
    built = world(part)
    passages = {str(passage.id): passage for passage in built.passages}
    pairs, members = list[tuple[str, str, Passage]](), list[bool]()
    for atom, kind, name in rng.sample(found := _before(part, built.members), min(MOST_ATOMS, len(found))):
        others = [each for each, its in built.kinds.items() if its == kind and each not in built.members[name]]
        for some, belongs in ((sorted(built.members[name]), True), (others, False)):
            drawn = rng.sample(some, EACH)
            pairs += [(atom, kind, passages[each]) for each in drawn]
            members += [belongs] * len(drawn)
    return pairs, np.array(members)


def _before(part: WorldName, members: Mapping[str, frozenset[str]]) -> list[tuple[str, str, str]]:
    """List atoms with a modifier before their kind: so written, their kind, and their name in the world."""
    atoms = [
        Atom(kind, attribute, value)
        for kind in wording(part).kinds
        for attribute in kind.attributes
        for value in attribute.values
        if value.name in attribute.asked
    ]
    return [
        (atom.before, atom.kind.plural, atom.text) for atom in atoms if atom.form("pre") and len(members[atom.text]) >= EACH
    ]


def _masked(passage: Passage, kind: str) -> Passage:
    """Replace every word for the kind by "one"."""
    stems = content_words(kind)
    words = [("one" if content_words(word) & stems else word) for word in passage.text.split(" ")]
    return passage.model_copy(update={"text": " ".join(words)})


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--part", choices=("validation", "test"), default="test", help="which questions to measure")
    parser.add_argument("--sets", default=",".join(SETS), help="which collections, by name")
    parser.add_argument("--ways", default=",".join(WAYS), help="which ways, by name; the first is 'as read'")
    parser.add_argument("--keep", type=Path, help="a file to keep the judge's verdicts in, or to take them from")
    options = parser.parse_args()
    part: Part = options.part
    scorer = Remembered(open_scorer(options.judge), options.keep)
    calibration = membership_calibration_for(fingerprint_of(scorer)) or MembershipCalibration()
    for name in options.sets.split(","):
        chosen_on, whole = (collection(name, each, options.data) for each in ("validation", part))
        measured = replace(whole, questions=tuple(sample(whole.questions, options.limit, options.seed)))
        show_readings(measured, chosen_on, scorer, options.seed, ways=options.ways.split(","))
    if calibration.weights:
        show_kinds(part, scorer, calibration, options.seed)


if __name__ == "__main__":
    main()
