"""Routing by what retrieval brings back: a question goes the direct way, is taken apart, or is given up for this corpus.

With retrieval complexity (Gabburo et al., ACL Findings 2024; `rag_cover.complexity`):

- answerable: some single passage answers it → *direct*;
- not answerable, yet the passages are about all of it and together may answer it → *complex*;
- neither, or nothing was retrieved at all → *unanswerable* by this corpus.

That is the paper's rule. Where a rule was fitted for the judge (`rag_cover.routing.evidence`) and no threshold is given, it
decides in its place: it looks at the question's steps, too.

A cut on P(complex), fitted to what each route really gave (`ComplexityRouter.fit_threshold`), takes the place of the first
two; what is unanswerable stays so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np

from rag_cover.argument_checks import refuse_below, refuse_negative, refuse_other_than, without_none
from rag_cover.backends import Relevance, Retriever, Scorer, fingerprint_of
from rag_cover.complexity import Calibration, Complexity, Constraints, complexity_of
from rag_cover.errors import InvalidValueError, nearest
from rag_cover.questions import Passage, Question, as_question
from rag_cover.routing.decision import ROUTES, Demand, complexity_score, demand_of, evidence_lines
from rag_cover.routing.evidence import EvidenceRule, evidence_rule_for, read_steps
from rag_cover.routing.routes import Route
from rag_cover.routing.thresholds import RoutingThreshold, fit_cut

__all__ = ["ComplexityRouter", "RoutedOutcome", "RoutingRule"]

RoutingRule = Literal["steps", "thresholds"]
"""How a route is chosen: by the question's steps and what is found answered, or by the paper's two thresholds."""

_SHOWN = 5
_WIDTH = 100


@dataclass(frozen=True, slots=True)
class RoutedOutcome:
    """What the routes gave on one question, by route name: a quality (higher is better) and a cost each.

    ``complexity`` is what the router found of the question already; None: it is asked. Questions of one ``group``, such as
    rephrasings, stay together in cross-validation.
    """

    question: Question | str
    quality: Mapping[str, float]
    cost: Mapping[str, float]
    complexity: Complexity | None = None
    group: str | None = None


class ComplexityRouter:
    """Chooses between routes by what retrieval brings back; thread-safe, and unchanged once made.

    Gold answers that a question may carry are not looked at: no router has them when it counts.

    Args:
        routes: the names of the routes for each `Demand`; without one for "unanswerable", such questions go the complex way.
        retriever: finds the passages.
        scorer: tells whether a passage answers.
        k: how many passages to look at.
        relevance: tells which words of the question a passage is about; None: the scorer, where it can.
        calibration: fitted thresholds; None: those that ship for this scorer, else the paper's.
        t_ans: the threshold of answerability, before that of any calibration.
        t_com: the threshold of completeness, likewise.
        constraints: which of the two decide what is complex; None: as the calibration says, or both.
        cut: send a question the complex way from this P(complex) on; None: as the rule decides.
        rule: ``"steps"`` decides by the question's steps and what the judge finds answered, which takes a rule fitted for the
            judge; ``"thresholds"`` as the paper does; None: by steps, where there is such a rule and neither a threshold, a
            calibration, constraints nor a cut is given.

    Raises:
        InvalidValueError: routes without "direct" or "complex", or with others; k below 1; a cut below 0; a rule that is none,
            or by steps for a judge that none was fitted for, or beside a threshold.
    """

    __slots__ = (
        "_calibration",
        "_constraints",
        "_relevance",
        "_retriever",
        "_rule",
        "_scorer",
        "_steps_rule",
        "_t_ans",
        "_t_com",
        "cut",
        "k",
        "names",
    )

    def __init__(  # noqa: PLR0913 - all but the routes by name
        self,
        routes: Mapping[Demand, str] = ROUTES,
        *,
        retriever: Retriever,
        scorer: Scorer,
        k: int = 10,
        relevance: Relevance | None = None,
        calibration: Calibration | None = None,
        t_ans: float | None = None,
        t_com: float | None = None,
        constraints: Constraints | None = None,
        cut: float | None = None,
        rule: RoutingRule | None = None,
    ) -> None:
        _refuse_routes(routes)
        refuse_below(1, k=k)
        refuse_negative(**without_none(cut=cut))
        self.names: Mapping[Demand, str] = MappingProxyType(dict(routes))
        self.k, self.cut = k, cut
        self._retriever, self._scorer, self._relevance = retriever, scorer, relevance
        self._calibration, self._t_ans, self._t_com, self._constraints = calibration, t_ans, t_com, constraints
        is_set = any(each is not None for each in (calibration, t_ans, t_com, constraints, cut))
        self._rule = rule
        self._steps_rule = _choose_rule(rule, scorer, is_set=is_set)

    def complexity(self, question: Question | str) -> Complexity:
        """Return how complex a question is for what is retrieved for it.

        Raises:
            ModelFailedError: the scorer failed on every passage.
        """
        return self._look_up(question)[1]

    def route(self, question: Question | str) -> Route:
        """Choose a question's route; ``probability`` is P(complex), None where none was fitted.

        Raises:
            ModelFailedError: the scorer failed on every passage.
        """
        return self._route(question, *self._look_up(question))

    def routes(self, questions: Sequence[Question | str]) -> list[Route]:
        """Choose the route of each question."""
        return [self.route(question) for question in questions]

    def route_of(self, complexity: Complexity) -> Route:
        """Choose the route of a question whose complexity alone is known already: by thresholds, or by the cut."""
        return self._name(complexity, *demand_of(complexity, cut=self.cut))

    def _route(self, question: Question | str, passages: Sequence[Passage], complexity: Complexity) -> Route:
        if self._steps_rule is None or complexity.completeness is None:
            return self.route_of(complexity)
        steps = read_steps(as_question(question).text, passages, self._scorer)
        route = self._name(complexity, *self._steps_rule.decide(complexity, steps))
        if complexity.max_answer_probability is None:
            return route
        answered = self._steps_rule.probability(complexity, steps)
        scores = {"steps": float(max(len(steps.texts), 1)), "answered": answered}
        return replace(route, probability=answered, scores={**route.scores, **scores})

    def _name(self, complexity: Complexity, demand: Demand, reason: str) -> Route:
        if demand == "unanswerable" and demand not in self.names:
            demand, reason = "complex", f"{reason} No route is named for unanswerable questions, so it takes the complex one."
        return Route(self.names[demand], complexity.probability, _scores(complexity, self.cut), reason)

    def explain(self, question: Question | str) -> str:
        """Describe in lines for people where a question goes, by which numbers, and what the best passages are."""
        return self.route_and_explain(question)[1]

    def route_and_explain(self, question: Question | str) -> tuple[Route, str]:
        """Choose a question's route and describe it (`route`, `explain`), for the price of one.

        Raises:
            ModelFailedError: the scorer failed on every passage.
        """
        passages, complexity = self._look_up(question)
        route = self._route(question, passages, complexity)
        return route, "\n".join(
            [
                f"Question: {_line(as_question(question).text)}",
                f"Route: {route.name}",
                f"Because: {route.reason}",
                *(f"  {line}" for line in self._evidence(route, complexity)),
                *_passage_lines(complexity, passages),
                *(f"Note: {note}." for note in complexity.notes),
            ]
        )

    def _evidence(self, route: Route, complexity: Complexity) -> list[str]:
        if self._steps_rule is None or "steps" not in route.scores:
            return evidence_lines(complexity, self.cut)
        count, answered = int(route.scores["steps"]), route.scores["answered"]
        best = complexity.max_answer_probability or 0.0
        return [
            f"steps: {count}; P(answered): {answered:.2f}, where 0.50 is asked",
            f"best answer probability: {best:.2f}; completeness: {complexity.completeness:.2f}",
            f"rule by steps, fitted on {self._steps_rule.name}",
        ]

    def with_cut(self, cut: float | None) -> ComplexityRouter:
        """Return the same router with another cut on P(complex), such as that of a `RoutingThreshold`.

        A cut takes the place of the rule by steps; None takes the cut away.
        """
        return ComplexityRouter(
            self.names,
            retriever=self._retriever,
            scorer=self._scorer,
            k=self.k,
            relevance=self._relevance,
            calibration=self._calibration,
            t_ans=self._t_ans,
            t_com=self._t_com,
            constraints=self._constraints,
            cut=cut,
            rule=None if cut is not None and self._rule == "steps" else self._rule,
        )

    def fit_threshold(
        self,
        labelled: Sequence[RoutedOutcome],
        *,
        target_quality: float | None = None,
        target_cost: float | None = None,
        folds: int = 5,
        seed: int = 0,
    ) -> RoutingThreshold:
        """Choose the cut that reaches a mean quality at the least cost, or has the best quality within a mean cost.

        Use it by ``router.with_cut(fit.cut)``; `RoutingThreshold.estimate` says what to expect on new questions. Questions that
        are unanswerable by this corpus take their route whatever the cut, and count with its outcome.

        Raises:
            InvalidValueError: an outcome lacks a route, not exactly one target is given, fewer than ten questions, or no cut
                reaches the target: the message names the best that one does.
            ModelFailedError: the scorer failed on every passage of a question.
        """
        complexities = [each.complexity or self.complexity(each.question) for each in labelled]
        rows = [self._outcome(each, found) for each, found in zip(labelled, complexities, strict=True)]
        table = np.array(rows, dtype=np.float64).reshape(-1, 4)
        return fit_cut(
            [complexity_score(complexity) for complexity in complexities],
            table[:, :2],
            table[:, 2:],
            target_quality=target_quality,
            target_cost=target_cost,
            groups=[each.group or as_question(each.question).text for each in labelled],
            folds=folds,
            seed=seed,
        )

    def _look_up(self, question: Question | str) -> tuple[Sequence[Passage], Complexity]:
        text = as_question(question).text
        passages = self._retriever.retrieve(text, k=self.k)
        complexity = complexity_of(
            text,
            passages,
            self._scorer,
            references=(),
            relevance=self._relevance,
            calibration=self._calibration,
            t_ans=self._t_ans,
            t_com=self._t_com,
            constraints=self._constraints,
        )
        return passages, complexity

    def _outcome(self, outcome: RoutedOutcome, complexity: Complexity) -> tuple[float, ...]:
        """Return the quality of the direct and the complex route, and their costs."""
        fixed = demand_of(complexity)[0] == "unanswerable" and "unanswerable" in self.names
        names = [self.names["unanswerable"]] * 2 if fixed else [self.names["direct"], self.names["complex"]]
        for name in names:
            if name not in outcome.quality or name not in outcome.cost:
                text = _line(as_question(outcome.question).text)
                message = f"the outcome of {text!r} has no quality and cost of the route {name!r}, which it takes"
                raise InvalidValueError(message)
        return (*(outcome.quality[name] for name in names), *(outcome.cost[name] for name in names))


def _scores(complexity: Complexity, cut: float | None) -> dict[str, float]:
    known = {
        "max_answer_probability": complexity.max_answer_probability,
        "t_ans": complexity.t_ans,
        "completeness": complexity.completeness,
        "t_com": complexity.t_com if complexity.completeness is not None else None,
        "cut": cut if cut is not None and math.isfinite(cut) else None,
    }
    return {name: value for name, value in known.items() if value is not None}


def _passage_lines(complexity: Complexity, passages: Sequence[Passage]) -> list[str]:
    texts = {passage.key: passage for passage in passages}
    known = [document for document in complexity.documents if document.answer_probability is not None]
    best = sorted(known, key=lambda document: -(document.answer_probability or 0.0))[:_SHOWN]
    lines = [f"  {document.answer_probability:.2f}  {_passage_line(texts[document.passage])}" for document in best]
    return [f"Best of {len(complexity.documents)} passages, with the probability that each answers:", *lines] if lines else []


def _passage_line(passage: Passage) -> str:
    return _line(f"{passage.title}: {passage.text}" if passage.title else passage.text)


def _line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _WIDTH else f"{flat[:_WIDTH]}…"


def _choose_rule(rule: RoutingRule | None, scorer: Scorer, *, is_set: bool) -> EvidenceRule | None:
    """Return the rule by steps; None where thresholds decide."""
    refuse_other_than(get_args(RoutingRule), **without_none(rule=rule))
    if rule == "thresholds" or (rule is None and is_set):
        return None
    found = evidence_rule_for(fingerprint_of(scorer))
    if rule == "steps" and (found is None or is_set):
        why = (
            "a threshold, a calibration, constraints or a cut decides"
            if is_set
            else f"none was fitted for {fingerprint_of(scorer)}"
        )
        message = f"there is no rule by steps here: {why}; take rule='thresholds'"
        raise InvalidValueError(message)
    return found


def _refuse_routes(routes: Mapping[Demand, str]) -> None:
    for name in routes:
        if name not in ROUTES:
            demands = {route: demand for demand, route in ROUTES.items()}
            hint = f" Did you mean {demands[name]!r}?" if name in demands else nearest(str(name), list(ROUTES))
            message = (
                f"routes says what is done with each kind of question, and {name!r} is no kind.{hint} "
                f"There are: {', '.join(ROUTES)}."
            )
            raise InvalidValueError(message)
    for needed in ("direct", "complex"):
        if needed not in routes:
            message = f"name a route for {needed!r} questions: routes={{'direct': …, 'complex': …, 'unanswerable': …}}"
            raise InvalidValueError(message)
