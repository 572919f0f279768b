"""What a budget is spent on: what weighs most and is nearest to the cut, never more than it holds, whatever is shared."""

from __future__ import annotations

import random

from rag_cover.backends import CertainCuts, ScoringItem
from rag_cover.cascade import AuditDraw, CascadeJudge, CascadeSettings, UnsureText, WeighedVerdicts, plan_calls, weigh
from rag_cover.cascade.settings import item_key
from rag_cover.llm.usage import CallForecast, Price
from rag_cover.testing import ScriptedScorer

ONE = CallForecast(1, 100, 100)
CUTS: CertainCuts = {"passage": (0.2, 0.8), "reply": (0.2, 0.8)}


def candidate(key: str, tier: int = 0, distance: float = 0.1, calls: CallForecast = ONE) -> UnsureText:
    return UnsureText(tier, distance, (key,), calls)


def planned(settings: CascadeSettings, *candidates: UnsureText, draws: tuple[AuditDraw, ...] = ()) -> tuple[set[str], set[str]]:
    plan = plan_calls([WeighedVerdicts(candidates, draws)], settings)
    return set(plan.asked), set(plan.audited)


def test_core_sub_questions_come_first_then_what_is_nearest_to_the_cut() -> None:
    several = (
        candidate("far", 0, 0.2),
        candidate("background", 2, 0.0),
        candidate("near", 0, 0.01),
        candidate("passage", 1, 0.0),
    )

    asked = [planned(CascadeSettings(max_calls=calls, audit=0), *several)[0] for calls in range(5)]

    assert asked == [set(), {"near"}, {"near", "far"}, {"near", "far", "passage"}, {"near", "far", "passage", "background"}]


def test_a_text_that_needs_more_calls_than_are_left_gives_way_to_a_smaller_one() -> None:
    long = candidate("long", distance=0.0, calls=CallForecast(3, 0, 0))

    assert planned(CascadeSettings(max_calls=2, audit=0), long, candidate("short"))[0] == {"short"}


def test_verdicts_that_traces_share_cost_the_calls_of_all_of_them() -> None:
    shared = [UnsureText(0, 0.0, ("a", "b"), ONE), UnsureText(0, 0.1, ("b", "c"), ONE), UnsureText(0, 0.1, ("c",), ONE)]

    assert planned(CascadeSettings(max_calls=2, audit=0), *shared, candidate("d", 3))[0] == {"d"}
    assert planned(CascadeSettings(max_calls=3, audit=0), *shared, candidate("d", 3))[0] == {"a", "b", "c"}


def test_the_cost_is_limited_by_the_price_of_what_is_sent_and_written() -> None:
    settings = CascadeSettings(max_cost=0.0005, price=Price(1.0, 1.0), audit=0)  # a call costs 0.0002

    assert planned(settings, *(candidate(str(number), distance=number / 10) for number in range(4)))[0] == {"0", "1"}


def test_the_audit_takes_a_quarter_of_the_budget_at_most_in_the_order_of_the_draw() -> None:
    draws = tuple(AuditDraw(number / 100, f"kept {number}", ONE) for number in range(5))
    several = [candidate(str(number), distance=number / 100) for number in range(20)]

    asked, audited = planned(CascadeSettings(max_calls=12), *several, draws=draws)

    assert (len(asked), audited) == (9, {"kept 0", "kept 1", "kept 2"})


def test_what_is_asked_anyhow_is_not_audited() -> None:
    draws = (AuditDraw(0.0, "unsure", ONE), AuditDraw(0.01, "kept", ONE))

    assert planned(CascadeSettings(max_calls=8), candidate("unsure"), draws=draws) == ({"unsure"}, {"kept"})


def test_the_plan_does_not_depend_on_the_order_or_the_blocks_of_the_traces() -> None:
    rng = random.Random(0)
    several = [UnsureText(rng.randrange(4), rng.random(), (str(n), str(rng.randrange(50))), ONE) for n in range(100, 200)]
    draws = [AuditDraw(n % 30 / 1_000, f"kept {n % 30}", ONE) for n in range(60)]
    settings = CascadeSettings(max_calls=40)

    whole = plan_calls([WeighedVerdicts(tuple(several), tuple(draws))], settings)
    rng.shuffle(several)
    blocks = [WeighedVerdicts(tuple(several[start::7]), tuple(draws[start::7])) for start in range(7)]

    assert plan_calls(blocks, settings) == whole


def test_weighing_asks_the_first_judge_alone_and_groups_unsure_verdicts_by_text() -> None:
    a, b, sure, other = (
        ScoringItem("Who?", "A text."),
        ScoringItem("When?", "A text."),
        ScoringItem("Why?", "A text."),
        ScoringItem("Who?", "Another."),
    )
    script = {("Who?", "A text."): 0.6, ("When?", "A text."): 0.45, ("Why?", "A text."): 0.9, ("Who?", "Another."): 0.3}
    model = ScriptedScorer()
    judge = CascadeJudge(ScriptedScorer(script, certain=CUTS), model, CascadeSettings(max_calls=1, audit=0))

    weighed = weigh(judge, [{a: 0, b: 1, sure: 0, other: 3}])

    assert [set(each.keys) for each in weighed.candidates] == [{item_key(a), item_key(b)}, {item_key(other)}]
    assert [(each.tier, round(each.distance, 3), each.calls.calls) for each in weighed.candidates] == [(0, 0.1, 2), (3, 0.2, 1)]
    assert model.asked.calls == 0
