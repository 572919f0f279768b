"""A cascade keeps what its first judge is sure of, and asks its second about the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover.backends import CertainCuts, ScoringItem
from rag_cover.cascade import CascadeJudge, CascadePlan, CascadeSettings, Fate, JudgeNames
from rag_cover.cascade.settings import item_key
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.llm.usage import Price
from rag_cover.testing import ScriptedScorer
from rag_cover.testing.counters import Counter

CUTS: CertainCuts = {"passage": (0.2, 0.8), "reply": (0.3, 0.6)}
UNCHECKED = CascadeSettings(audit=0.0)


def first(**said: float) -> ScriptedScorer:
    return ScriptedScorer({("Who?", text): p for text, p in said.items()}, threshold=0.4, certain=CUTS)


def second(**said: float) -> ScriptedScorer:
    return ScriptedScorer({("Who?", text): p for text, p in said.items()})


def items(*texts: str, reply: bool = False) -> list[ScoringItem]:
    return [ScoringItem("Who?", text, user_question="Who?" if reply else "") for text in texts]


@dataclass(frozen=True)
class FailingScorer:
    """Fails on some texts, as a server does."""

    bad: frozenset[str]
    threshold: float = 0.5
    asked: Counter = field(default_factory=Counter)

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        self.asked.count(len(items))
        if any(item.text in self.bad for item in items):
            message = "the server is down"
            raise ModelFailedError(message)
        return np.ones(len(items), dtype=np.float32)


def test_sure_verdicts_stay_and_unsure_ones_are_the_models() -> None:
    asked = second(unsure=0.9, doubtful=0.1)
    judge = CascadeJudge(first(yes=0.95, no=0.05, unsure=0.3, doubtful=0.7), asked, UNCHECKED)

    verdicts = judge.judge(items("yes", "no", "unsure", "doubtful"))

    assert [verdict.how.fate for verdict in verdicts] == [Fate.SURE, Fate.SURE, Fate.ASKED, Fate.ASKED]
    assert [verdict.probability >= judge.threshold for verdict in verdicts] == [True, False, True, False]
    assert [verdict.how.agreed for verdict in verdicts] == [None, None, False, False]
    assert asked.asked.items == 2


def test_each_mode_has_its_own_cuts() -> None:
    judge = CascadeJudge(first(text=0.7), second(text=0.0), UNCHECKED)

    (passage,), (reply,) = judge.judge(items("text")), judge.judge(items("text", reply=True))

    assert (passage.how.fate, reply.how.fate) == (Fate.ASKED, Fate.SURE)


@pytest.mark.parametrize("said", [0.0, 0.2, 0.4999, 0.5, 0.5001, 0.8, 1.0])
@pytest.mark.parametrize("cut", [0.0, 0.05, 0.4, 0.5, 0.93, 1.0])
def test_the_models_verdict_lies_on_its_side_of_the_first_judges_cut(said: float, cut: float) -> None:
    own = ScriptedScorer(default=0.5, threshold=cut, certain=CUTS)
    judge = CascadeJudge(own, ScriptedScorer(default=said), UNCHECKED)

    (verdict,) = judge.judge(items("text"))

    assert 0 <= verdict.probability <= 1
    if cut > 0:  # below a cut of 0 there is nothing
        assert (verdict.probability >= cut) == (float(str(np.float32(said))) >= 0.5)


def test_a_blank_text_is_never_asked_about() -> None:
    asked = second()
    judge = CascadeJudge(ScriptedScorer(default=0.5, certain=CUTS), asked, CascadeSettings(audit=1.0))

    (verdict,) = judge.judge(items("  "))

    assert (verdict.how.fate, asked.asked.items) == (Fate.SURE, 0)


def test_an_audit_of_everything_checks_every_verdict_that_is_kept() -> None:
    judge = CascadeJudge(first(yes=0.95, no=0.05, unsure=0.5), second(yes=0.1), CascadeSettings(audit=1.0))

    yes, no, unsure = judge.judge(items("yes", "no", "unsure"))

    assert (yes.how.fate, yes.how.agreed, yes.probability < judge.threshold) == (Fate.AUDITED, False, True)
    assert (no.how.fate, no.how.agreed) == (Fate.AUDITED, True)
    assert unsure.how.fate is Fate.ASKED


def test_the_audit_is_drawn_by_what_is_asked_and_by_the_seed_alone() -> None:
    texts = [f"text {number}" for number in range(2_000)]
    drawn = [
        {item.text for item, verdict in zip(asked, judge.judge(asked), strict=True) if verdict.how.fate is Fate.AUDITED}
        for seed, order in ((0, texts), (0, texts[::-1]), (1, texts))
        for judge in [CascadeJudge(first(), second(), CascadeSettings(audit=0.05, seed=seed))]
        for asked in [items(*order)]
    ]

    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]
    assert 70 <= len(drawn[0]) <= 130


def test_where_the_model_fails_the_first_judges_verdict_stays_and_only_there() -> None:
    judge = CascadeJudge(first(good=0.5, bad=0.5, other=0.5), FailingScorer(frozenset({"bad"})), UNCHECKED)

    good, bad, other = judge.judge(items("good", "bad", "other"))

    assert (bad.how.fate, bad.how.agreed, bad.probability) == (Fate.FAILED, None, 0.5)
    assert (good.how.fate, other.how.fate) == (Fate.ASKED, Fate.ASKED)


def test_with_a_plan_only_what_it_names_is_asked() -> None:
    planned, checked = items("planned", "checked")
    plan = CascadePlan(frozenset({item_key(planned)}), frozenset({item_key(checked)}))
    asked = second(planned=1.0)
    judge = CascadeJudge(first(planned=0.5, left=0.5, checked=0.0), asked, CascadeSettings(max_calls=2), plan=plan)

    fates = [verdict.how.fate for verdict in judge.judge([planned, checked, *items("left", "sure")])]

    assert fates == [Fate.ASKED, Fate.AUDITED, Fate.OVER_BUDGET, Fate.SURE]
    assert asked.asked.items == 2


def test_with_a_budget_other_measures_are_judged_by_the_first_judge() -> None:
    asked = second(text=1.0)
    judge = CascadeJudge(first(text=0.5), asked, CascadeSettings(max_calls=5), plan=CascadePlan())

    assert judge.correctness(items("text")).tolist() == [0.5]
    assert asked.asked.items == 0


def test_a_budget_that_nobody_planned_is_refused() -> None:
    judge = CascadeJudge(first(text=0.5), second(), CascadeSettings(max_calls=5))

    with pytest.raises(InvalidValueError, match=r"planned over all traces, as rag_cover\.evaluate does"):
        judge.judge(items("text"))


def test_a_first_judge_that_is_never_unsure_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="does not tell which of its verdicts it is sure of"):
        CascadeJudge(ScriptedScorer(), second())


def test_judges_settings_and_plans_are_told_apart_by_the_fingerprint() -> None:
    judges = [
        CascadeJudge(first(), second()),
        CascadeJudge(first(), second(a=1.0)),
        CascadeJudge(first(a=1.0), second()),
        CascadeJudge(first(), second(), CascadeSettings(audit=0.1)),
        CascadeJudge(first(), second(), CascadeSettings(seed=1)),
        CascadeJudge(first(), second(), CascadeSettings(max_calls=1)),
        CascadeJudge(first(), second(), CascadeSettings(max_calls=1), plan=CascadePlan()),
        CascadeJudge(first(), second(), CascadeSettings(max_calls=1), plan=CascadePlan(frozenset({"a"}))),
    ]

    assert len({judge.fingerprint for judge in judges}) == len(judges)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "names no judge"),
        ("+", "names no judge"),
        ("embedded", "names one judge"),
        ("embedded+", "names one judge"),
        ("+openai:small", "names one judge"),
        ("embedded+cascade:embedded+openai:small", "a cascade within a cascade"),
    ],
)
def test_a_name_without_two_judges_is_refused(name: str, problem: str) -> None:
    with pytest.raises(InvalidValueError, match=problem):
        JudgeNames.read(name)


def test_only_the_first_plus_divides_the_names() -> None:
    assert JudgeNames.read("embedded + openai:a+b") == JudgeNames("embedded", "openai:a+b")


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"max_calls": -1}, "max_calls is -1; give a whole number of at least 0"),
        ({"max_cost": -1.0}, "max_cost is -1.0; give a finite number"),
        ({"audit": 1.5}, "audit is 1.5; give a number from 0 to 1"),
    ],
)
def test_settings_outside_their_range_are_refused(settings: dict[str, float], problem: str) -> None:
    with pytest.raises(InvalidValueError, match=problem):
        CascadeSettings.of("openai:small", {"small": Price(1.0, 1.0)}, **settings)


def test_a_limit_of_the_cost_takes_the_price_of_the_model() -> None:
    with pytest.raises(InvalidValueError, match="needs the price of 'openai:small', .*; it has those of large"):
        CascadeSettings.of("openai:small", {"large": Price(1.0, 1.0)}, max_cost=1.0)


def test_callers_that_cannot_tell_of_an_audit_get_none() -> None:
    asked = second(unsure=1.0)
    judge = CascadeJudge(first(yes=0.95, no=0.05, unsure=0.5), asked, CascadeSettings(audit=1.0))

    assert (judge.correctness(items("yes", "no", "unsure")) >= judge.threshold).tolist() == [True, False, True]
    assert asked.asked.items == 1
