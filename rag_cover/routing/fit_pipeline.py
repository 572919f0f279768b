"""Skills learnt from outcomes: the model, the record kept beside it, and an adjustment by complexity where that helps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rag_cover.backends import Embedder, Failure, Scorer, fingerprint_of
from rag_cover.complexity import Complexity, complexities_of
from rag_cover.errors import InputError, NothingLearnedError
from rag_cover.routing.caimira import Caimira
from rag_cover.routing.complexity_adjustment import LEAST, Adjustment, AdjustmentFit, complexity_evidence, fit_adjustment
from rag_cover.routing.dimension_choice import (
    DIMENSIONS,
    LOGIT_EDGE,
    DimensionChoice,
    choose_dimensions,
    predict_nested,
    sum_losses,
)
from rag_cover.routing.features import encode
from rag_cover.routing.responses import Responses
from rag_cover.routing.skill_report import HeldOut, SkillRecord
from rag_cover.routing.subjects import Subjects
from rag_cover.routing.training_data import Outcomes
from rag_cover.stats.classification import area_under_roc
from rag_cover.stats.folds import folds_of
from rag_cover.stats.intervals import Interval, jackknife
from rag_cover.stats.logistic import logits_of

__all__ = ["complexities_without_references", "learn_skills", "refuse_no_gain"]

Floats = NDArray[np.float64]

_LEAST = 20
_GUESSING = 0.5  # area under the ROC curve


def learn_skills(
    outcomes: Outcomes,
    embedder: Embedder,
    *,
    dimensions: int | None = None,
    complexities: Sequence[Complexity | None] = (),
    folds: int = 5,
    seed: int = 0,
    require_gain: bool = True,
) -> tuple[Caimira, SkillRecord]:
    """Fit skills to outcomes, and judge them on questions that were held out.

    The held-out figures are of nested folds: each question is predicted by a model whose dimensions were chosen, and which was
    fitted, without the questions of its fold.

    Args:
        outcomes: what `gather_outcomes` found, or `rag_cover.importers.read_outcomes` read.
        embedder: reads the questions; routing needs the same one.
        dimensions: of the model; None: 1, and more (2, 3, 5) while each addition clearly lowers the cross-validated log-loss
            (95% interval, over questions).
        complexities: of the questions, in their order, judged without references as a router judges them; none: no adjustment.
        folds: of the cross-validation, by question.
        seed: seed of the random generator (fit and folds).
        require_gain: refuse skills whose gain in held-out log-loss over the pipelines' means is not clear (95% interval, over
            questions), unless an adjustment by complexity clearly helps; otherwise they are returned all the same.

    Raises:
        InputError: fewer than twenty questions.
        NothingLearnedError: the gain is not clearly above 0, and was required.
        InvalidValueError: what `Caimira.fit` refuses.
    """
    responses = outcomes.responses
    if len(responses.questions) < _LEAST:
        found = len(responses.questions)
        problem = f"skills need outcomes of {_LEAST} questions at least, not {found}; evaluate the pipelines on more"
        raise InputError(problem)
    subjects = Subjects.from_questions(outcomes.subjects)
    features = np.asarray(encode(responses.questions, embedder), dtype=np.float64)
    if subjects.names:
        features = np.hstack([features, subjects.columns(outcomes.subjects)])
    tried = DIMENSIONS if dimensions is None else (dimensions,)
    predicted, chosen = predict_nested(responses, features, tried=tried, folds=folds, seed=seed)
    held_out = _score_held_out(responses, predicted, chosen, folds, seed)
    adjustment, notes = _adjustment(responses, predicted, complexities, seed)
    if require_gain and adjustment is None:
        refuse_no_gain(held_out)
    choice = choose_dimensions(responses, features, tried=tried, seed=seed)
    model = choice.model.fit(responses, features, encoder=fingerprint_of(embedder), subjects=subjects)
    record = SkillRecord(
        criterion=outcomes.criterion,
        responses=responses,
        relevance=model.relevance(features),
        difficulty=model.difficulty(features),
        predicted=predicted,
        held_out=held_out,
        adjustment=adjustment,
        notes=(*outcomes.notes, *_choice_words(choice, chosen), *_subject_words(subjects, outcomes.subjects), *notes),
        costs=outcomes.costs,
    )
    return model, record


def complexities_without_references(outcomes: Outcomes, scorer: Scorer | None) -> list[Complexity | None]:
    """Return how complex each question is for what was retrieved for it, judged without references, as a router must.

    What was measured so already is taken as it is; the rest is asked of the scorer, where there is one, else it is None.
    """
    known = [each.complexity if each else None for each in outcomes.retrieved] or [None] * len(outcomes.responses.questions)
    found = [complexity if complexity and complexity.references == "none" else None for complexity in known]
    asked = [
        (place, each)
        for place, (each, complexity) in enumerate(zip(outcomes.retrieved, found, strict=False))
        if each is not None and complexity is None
    ]
    if scorer is not None and asked:
        judged = complexities_of([(each.question.text, each.passages, ()) for _, each in asked], scorer)
        for (place, _), complexity in zip(asked, judged, strict=True):
            found[place] = None if isinstance(complexity, Failure) else complexity
    return found


def refuse_no_gain(held_out: HeldOut) -> None:
    """Refuse skills that predict held-out questions not clearly better than each pipeline's mean, or no better than guessing.

    Raises:
        NothingLearnedError: says how good both are, and what to do.
    """
    gain = held_out.gain
    area = None if held_out.area is None else held_out.area.estimate
    if gain.lower is None or gain.lower <= 0 or (area is not None and area <= _GUESSING):
        raise NothingLearnedError(
            log_loss=held_out.log_loss,
            means_log_loss=held_out.agent_means_log_loss,
            gain=gain.estimate,
            lower=gain.lower,
            upper=gain.upper,
            questions=gain.n,
            area=area,
        )


def _score_held_out(responses: Responses, predicted: Floats, dimensions: tuple[int, ...], folds: int, seed: int) -> HeldOut:
    values, seen = responses.values, ~np.isnan(responses.values)
    means = np.zeros_like(predicted)
    for held in folds_of(range(len(values)), folds, seed=seed):
        right, counts = np.nansum(values[~held], axis=0), seen[~held].sum(axis=0)
        means[held] = (right + 1) / (counts + 2)  # Laplace's rule, so that no agent is certain
    losses = [sum_losses(responses, said) for said in (means, predicted)]
    rows = np.column_stack([*losses, seen.sum(axis=1)])
    totals = rows.sum(axis=0) / rows[:, 2].sum()
    gain = jackknife(rows, lambda sums: (sums[..., 0] - sums[..., 1]) / sums[..., 2])
    questions, _ = np.nonzero(seen)
    return HeldOut(
        log_loss=float(totals[1]),
        agent_means_log_loss=float(totals[0]),
        gain=gain or Interval(float(totals[0] - totals[1]), None, None, len(rows)),
        area=area_under_roc(predicted[seen], values[seen] >= 0.5, questions.tolist()),  # noqa: PLR2004 - more right than wrong
        dimensions=dimensions,
    )


def _choice_words(choice: DimensionChoice, by_fold: Sequence[int]) -> tuple[str, ...]:
    """Say which dimensions were chosen and why; nothing where they were named."""
    if len(choice.losses) <= 1:
        return ()
    told = ", ".join(f"{m}: {loss:.4f}" for m, loss in choice.losses.items())
    folds = ", ".join(map(str, by_fold))
    words = (
        f"Dimensions chosen by cross-validated log-loss: {choice.model.dimensions} ({told}), 1 unless more are clearly better; "
        f"in the folds that the held-out figures come from: {folds}."
    )
    return (words,)


def _subject_words(subjects: Subjects, given: Sequence[str | None]) -> tuple[str, ...]:
    """Say which subjects are told apart; nothing where no question has one."""
    known = sum(subject is not None for subject in given)
    if not known:
        return ()
    if not subjects.names:
        return (f"Subjects are not used: {known:,} questions have one, and no two of them are of ten questions at least.",)
    used = sum(subject in subjects.names for subject in given)
    words = (
        f"Subjects are a feature of {used:,} of {len(given):,} questions: {', '.join(subjects.names)}. Others, and unknown "
        "ones in routing, count as no subject."
    )
    return (words,)


def _adjustment(
    responses: Responses, predicted: Floats, complexities: Sequence[Complexity | None], seed: int
) -> tuple[Adjustment | None, tuple[str, ...]]:
    is_answered: list[bool] = np.any(~np.isnan(responses.values), axis=1).tolist()
    known = sum(each is not None and asked for each, asked in zip(complexities, is_answered, strict=False))
    if known < LEAST:
        have = f"{known} questions have one that was judged without references"
        return None, (f"No adjustment by complexity: {have}, and it takes {LEAST}.",)
    fit = fit_adjustment(
        logits_of(predicted, edge=LOGIT_EDGE), responses.values, complexity_evidence(complexities), responses.agents, seed=seed
    )
    return (fit.adjustment if fit.helps else None), (_adjustment_words(fit),)


def _adjustment_words(fit: AdjustmentFit) -> str:
    gain = fit.gain
    bounds = "" if gain.lower is None or gain.upper is None else f" (95% interval {gain.lower:+.4f} to {gain.upper:+.4f})"
    kept = "kept" if fit.helps else "left out, since that is no clear gain"
    return (
        f"Adjustment by complexity {kept}: held-out log-loss {fit.with_evidence:.4f} with it and {fit.without:.4f} without, "
        f"a gain of {gain.estimate:+.4f}{bounds} over {fit.questions:,} questions."
    )
