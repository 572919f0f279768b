"""Do intervals that hold the judge's errors contain what people say?

    python -m benchmarks.judge.judge_error                                    # prints the tables
    python -m benchmarks.judge.judge_error --write plugins/rag_cover_embedded/weights/judge.json
    python -m benchmarks.judge.judge_error --simulate 300                     # the simulation alone, without data

1. The test split of the collected sets (`judge/answers`), at most 300 texts of each, replies with their question and passages
   without; and answers of pipelines to questions of several parts, each part labelled: the published sheet of two engines
   (`coverage/answerability_part.jsonl`), the demo, the trial and its three pipelines (`benchmarks/reports/trial`). For each set
   the shift of the judge's probabilities is fitted to the other sets
   (`rag_cover.stats.judge_error.fit_shift`): does the interval of the share hold the people's share? Beside it: the interval of
   sampling alone (Wilson's, around the judge's share).
2. Simulated sets of texts: shifts drawn between sets, labels drawn by the shifted probabilities, questions whose verdicts are
   alike. How often does the 95% interval of a share, of a difference of two pipelines and of a count of losses hold the truth?

``--write`` puts the shifts, fitted to all of the sets, into the judge's file under ``shifts``.

Data: shared folder.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.coverage.agreement import ENGINES, published_cases
from benchmarks.judge.natural_texts import MOST, by_source, cut_of, item_of
from benchmarks.reports.losses import labelled_sets
from benchmarks.support.tables import arguments, show
from rag_cover import open_scorer
from rag_cover.backends import CalibrationShift, Scorer, ScoringItem, mode_of
from rag_cover.stats.intervals import Interval, wilson
from rag_cover.stats.judge_error import Judged, difference_interval, fit_shift, loss_intervals, share_interval
from rag_cover.stats.logistic import probabilities, recentre
from rag_cover.stores import read_traces

MODES = ("passage", "reply")
_MANY = 5_000  # questions, of which the share is as good as true
_LEAST = 20  # positives and negatives that a collected set needs
_FEWEST = 10  # and a pipeline
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class World:
    """A simulated world of sets: how far the judge lies off between them, how many there are, and how a new one is made."""

    name: str
    shift: float
    spread: float
    sets: int
    labels: int
    questions: int
    verdicts: int
    alike: float


WORLDS = (
    World("as the embedded judge", 0.2, 0.5, 12, 250, 50, 4, 0.5),
    World("lies far off between sets", 0.0, 1.0, 12, 250, 100, 4, 0.5),
    World("few sets, few labels", 0.3, 0.5, 5, 60, 40, 4, 0.5),
    World("hardly off, many questions", 0.0, 0.1, 20, 200, 300, 3, 1.0),
)


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__)
    parser.add_argument("--write", type=Path, help="the judge's file to write the shifts into")
    parser.add_argument("--simulate", type=int, metavar="TRIALS", help="only simulate, so many sets of each kind")
    options = parser.parse_args()
    if not options.simulate:
        scorer = open_scorer(options.judge)
        rng = random.Random(options.seed)  # noqa: S311  # samples, not secrets
        found: dict[str, dict[str, Judged]] = {mode: {} for mode in MODES}
        for name, rows in by_source(options.data / "judge/answers.jsonl.gz", rng, options.limit or MOST).items():
            items = [item_of(row) for row in rows]
            centred = centre(items, scorer)
            truth = np.array([bool(row["label"]) for row in rows])
            modes = np.array([mode_of(item) for item in items])
            for mode in MODES:
                mine = modes == mode
                if min((mine & truth).sum(), (mine & ~truth).sum()) >= _LEAST:
                    found[mode][name] = centred[mine], truth[mine]
        found["reply"] |= answers_in_parts(options.data, scorer)
        for mode in MODES:
            show_left_out(mode, found[mode], options.seed)
        if options.write:
            write({mode: fit_shift(list(found[mode].values())) for mode in MODES}, options.write)
    show_simulated(options.simulate or 200, options.seed)


def centre(items: Sequence[ScoringItem], scorer: Scorer) -> Floats:
    """Return the judge's probabilities as if its cut were a half."""
    judged = scorer.correctness(items).astype(np.float64)
    return np.array([recentre(float(p), cut=cut_of(item, scorer)) for p, item in zip(judged, items, strict=True)])


def answers_in_parts(data: Path, scorer: Scorer) -> dict[str, Judged]:
    """Return what the judge says of answers to questions of several parts, and their labels, by pipeline."""
    rows: defaultdict[str, list[tuple[ScoringItem, bool]]] = defaultdict(list)
    for number, case in enumerate(published_cases(data)):
        rows[ENGINES[number % len(ENGINES)]].append((case.item, case.covered))
    for each in (each for title, several in labelled_sets().items() if title != "Degenerate answers" for each in several):
        for trace in read_traces(each.traces):
            name = trace.pipeline or each.traces.stem
            labels = each.read_labels(name)
            for part in trace.sub_questions or ():
                if trace.answer and (label := labels.get((trace.question.id or "", part.text))) is not None:
                    rows[name].append((ScoringItem(part.text, trace.answer, user_question=trace.question.text), label[0]))
    return {
        name: (centre([item for item, _ in several], scorer), np.array([label for _, label in several]))
        for name, several in rows.items()
        if min(sum(label for _, label in several), sum(not label for _, label in several)) >= _FEWEST
    }


def show_left_out(mode: str, sets: Mapping[str, Judged], seed: int) -> None:
    """Print for each set whether the interval fitted on the others holds the people's share."""
    rows, held, plain_held, widths = [], 0, 0, []
    for name, (judged, truth) in sets.items():
        shift = fit_shift([each for other, each in sets.items() if other != name])
        interval = share_interval(judged, range(len(np.asarray(truth))), shift, seed=seed)
        assert interval is not None  # noqa: S101  # every set has texts
        said, people = int((np.asarray(judged) >= 0.5).sum()), float(np.mean(truth))  # noqa: PLR2004  # the cut
        sampling = wilson(said, len(np.asarray(truth)))
        low, high = float(interval.lower or 0), float(interval.upper or 0)
        inside = low <= people <= high
        held, widths = held + inside, [*widths, high - low]
        plain_held += float(sampling.lower or 0) <= people <= float(sampling.upper or 0)
        rows.append([name, f"{people:.1%}", f"{sampling.estimate:.1%}", f"{low:.1%} to {high:.1%}", "yes" if inside else "no"])
    everything = fit_shift(list(sets.values()))
    agreed = f"{everything.agreed / everything.labels:.1%} of labels"
    rows.append(["all", "", agreed, f"width {np.mean(widths):.1%}", f"{held} of {len(sets)}; sampling alone {plain_held}"])
    about = f"shift {everything.shift:+.2f}, spread {everything.spread:.2f}"
    title = f"{mode}: n = {everything.labels} labels of {len(sets)} sets; {about}"
    show(title, ["set", "people", "judge", "95% with judge error", "holds the people's share"], rows)


def write(shifts: Mapping[str, CalibrationShift], path: Path) -> None:
    """Write the shifts into the judge's file."""
    about = json.loads(path.read_text(encoding="utf-8"))
    about["shifts"] = {mode: each.to_dict() for mode, each in shifts.items()}
    path.write_text(json.dumps(about, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def show_simulated(trials: int, seed: int) -> None:
    """Print how often intervals hold the truth in simulated worlds."""
    rows = []
    for world in WORLDS:
        rng = np.random.default_rng(seed)
        held = np.array([_trial(world, rng, trial) for trial in range(trials)])
        rows.append([world.name, *(f"{share:.1%}" for share in held.mean(axis=0))])
    show(f"Simulated coverage of 95% intervals, {trials} sets each", ["world", "share", "difference", "losses"], rows)


def _trial(world: World, rng: np.random.Generator, seed: int) -> tuple[bool, bool, bool]:
    """Draw labelled sets, a new set and what is true of it, and tell which intervals hold that."""
    reply, passage = (fit_shift([_labelled(world, rng) for _ in range(world.sets)]) for _ in range(2))
    true_reply, true_passage = _shift(world, rng), _shift(world, rng)
    middles = rng.uniform(-1.5, 1.5, size=4)  # of the two pipelines' answers, of prompts and of retrieved passages
    seen, whole = _logits(world, rng, middles, world.questions), _logits(world, rng, middles, _MANY)
    keys = np.repeat(np.arange(world.questions), world.verdicts)
    a, b, prompt, retrieved = probabilities(seen)
    share = share_interval(a, keys, reply, seed=seed)
    difference = difference_interval((a, keys), (b, keys), reply, seed=seed)
    losses = loss_intervals(np.stack([a, prompt, retrieved], axis=1), keys, reply, passage, seed=seed)
    true_a, true_b = probabilities(whole[:2] + true_reply)
    unused = ((1 - true_a) * probabilities(whole[2] + true_passage)).mean() * len(keys)
    return (
        _holds(share, float(true_a.mean())),
        _holds(difference, float(true_b.mean() - true_a.mean())),
        losses is not None and _holds(losses[0], float(unused)),
    )


def _labelled(world: World, rng: np.random.Generator) -> Judged:
    logits = rng.uniform(-1, 1) + 1.5 * rng.standard_normal(world.labels)
    return probabilities(logits), rng.random(world.labels) < probabilities(logits + _shift(world, rng))


def _shift(world: World, rng: np.random.Generator) -> float:
    return float(world.shift + world.spread * rng.standard_normal())


def _logits(world: World, rng: np.random.Generator, middles: Floats, questions: int) -> Floats:
    """Draw (4, questions x verdicts) logits of the judge, alike within a question."""
    of_question = np.repeat(rng.standard_normal((1, questions)), world.verdicts, axis=1)
    own = rng.standard_normal((len(middles), questions * world.verdicts))
    return np.asarray(middles[:, None] + world.alike * of_question + 1.5 * own)


def _holds(interval: Interval | None, truth: float) -> bool:
    if interval is None or interval.lower is None or interval.upper is None:
        return False
    return interval.lower <= truth <= interval.upper


if __name__ == "__main__":
    main()
