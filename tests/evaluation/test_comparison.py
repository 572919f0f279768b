import json

import pytest

from rag_cover import Evaluation, Models, Question, SubQuestion, Trace, compare, evaluate
from rag_cover.errors import IncomparableError, InvalidValueError
from rag_cover.evaluation.comparison import compare_pairwise
from rag_cover.pairwise import PairVerdict
from rag_cover.testing import KeywordScorer, ScriptedGenerator


def _evaluation(answers: dict[str, str], pipeline: str, *, extra: str = "") -> Evaluation:
    traces = [
        Trace(
            question=Question(f"What of {topic}?"),
            answer=answer,
            pipeline=pipeline,
            sub_questions=tuple(SubQuestion(f"{colour} {topic}{extra}?", role="core") for colour in ("red", "blue")),
        )
        for topic, answer in answers.items()
    ]
    return evaluate(traces, measures=["coverage"], models=Models(judge=KeywordScorer(threshold=1.0)))


ONE = {"paint": "red paint", "ink": "red ink", "dye": "blue dye"}
BOTH = {"paint": "red paint, blue paint", "ink": "red ink, blue ink", "dye": "red dye"}


def test_differences_are_b_minus_a_and_questions_that_changed_are_listed() -> None:
    comparison = compare(_evaluation(ONE, "plain"), _evaluation(BOTH, "broad"))

    assert (comparison.name_a, comparison.name_b, comparison.questions) == ("plain", "broad", 3)
    assert comparison.metrics["core_coverage"].difference == pytest.approx(5 / 6 - 3 / 6)
    assert {(each.question, each.gained, each.lost) for each in comparison.changed} == {
        ("What of paint?", ("blue paint?",), ()),
        ("What of ink?", ("blue ink?",), ()),
        ("What of dye?", ("red dye?",), ("blue dye?",)),
    }


def test_where_rules_left_the_questions_whole_it_is_told() -> None:
    traces = [Trace(question="What is paint?", answer="paint"), Trace(question="What is ink?", answer="ink")]
    whole = evaluate(traces, measures=["coverage"], models=Models(judge=KeywordScorer(threshold=1.0)))

    assert compare(whole, whole).single_sub_questions == 1
    assert compare(_evaluation(ONE, "plain"), _evaluation(BOTH, "broad")).single_sub_questions == 0


def test_a_pipeline_compared_with_itself_shows_no_difference() -> None:
    same = _evaluation(ONE, "plain")

    comparison = compare(same, same)

    assert comparison.metrics["core_coverage"].p_value == 1
    assert comparison.changed == ()
    assert comparison.name_a != comparison.name_b


def test_an_undefined_metric_stays_undefined() -> None:
    comparison = compare(_evaluation(ONE, "a"), _evaluation(BOTH, "b"))

    retrieved = comparison.metrics["core_retrieved"]
    assert (retrieved.a, retrieved.b, retrieved.difference, retrieved.p_value) == (None, None, None, None)


def test_questions_only_one_side_has_are_counted_and_left_out() -> None:
    comparison = compare(_evaluation(ONE, "a"), _evaluation({"paint": "red paint"}, "b"))

    assert (comparison.questions, comparison.only_a, comparison.only_b) == (1, 2, 0)


def test_nothing_in_common_cannot_be_compared() -> None:
    with pytest.raises(IncomparableError, match="no question in common"):
        compare(_evaluation(ONE, "a"), _evaluation({"other": "x"}, "b"))


def test_different_sub_questions_are_refused_unless_allowed() -> None:
    a, b = _evaluation(ONE, "a"), _evaluation(ONE, "b", extra=" really")

    with pytest.raises(IncomparableError, match="3 of 3 shared questions have different sub-questions"):
        compare(a, b)

    assert compare(a, b, sub_questions="any").questions == 3


FIRST, SECOND = '{"better": "1"}', '{"better": "2"}'


def _longer(*answers: str) -> ScriptedGenerator:
    """Prefer these answers, wherever they are shown."""
    return ScriptedGenerator({f'number="{n}">\n{each}\n': reply for each in answers for n, reply in ((1, FIRST), (2, SECOND))})


def test_the_better_rating_wins_pair_by_pair() -> None:
    found = compare_pairwise([_evaluation(ONE, "plain"), _evaluation(BOTH, "broad")])

    rate = found.over("broad", "plain")
    assert rate.rate is not None
    assert rate.rate.estimate == (1 + 1 + 0.5) / 3
    assert (rate.wins, rate.ties, rate.losses) == (2, 1, 0)
    assert found.over("plain", "broad") == found.win_rates[0]
    assert found.position_bias.undefined_because == "not applicable: ratings do not see an order"
    assert (found.judge, found.questions, found.agreement) == ("rating", 3, None)


def test_of_three_pipelines_every_two_are_compared_on_what_all_answer() -> None:
    sides = [_evaluation(ONE, "plain"), _evaluation(BOTH, "broad"), _evaluation({"paint": "blue paint", "x": "y"}, "odd")]

    found = compare_pairwise(sides)

    assert [(each.a, each.b, each.judged) for each in found.win_rates] == [
        ("plain", "broad", 1),
        ("plain", "odd", 1),
        ("broad", "odd", 1),
    ]
    assert found.left_out == {"plain": 2, "broad": 2, "odd": 1}
    assert {name: rate and rate.estimate for name, rate in found.overall.items()} == {"plain": 0.25, "broad": 1.0, "odd": 0.25}


def test_a_model_judges_both_orders_and_its_agreement_with_the_ratings_is_told() -> None:
    sides = [_evaluation(ONE, "plain"), _evaluation(BOTH, "broad")]

    found = compare_pairwise(sides, judge=_longer(BOTH["paint"], BOTH["ink"], ONE["dye"]))

    rate = found.over("broad", "plain")
    assert (rate.wins, rate.losses, found.judge) == (2, 1, "scripted")
    assert found.position_bias.pairs == 3
    assert found.position_bias.first_won is not None
    assert found.position_bias.first_won.estimate == 0.5
    assert found.agreement is not None
    assert found.agreement.estimate == (1 + 1 + 0.5) / 3


def test_swapping_the_evaluations_swaps_the_rates() -> None:
    plain, broad = _evaluation(ONE, "plain"), _evaluation(BOTH, "broad")

    there, back = (compare_pairwise(sides, judge=_longer(BOTH["ink"])) for sides in ([plain, broad], [broad, plain]))

    assert there.over("broad", "plain").losses == back.over("broad", "plain").losses
    assert there.reasons == back.reasons


def test_an_answer_that_could_not_be_rated_is_counted_and_not_refused() -> None:
    whole = _evaluation(ONE, "plain")
    unanswered = evaluate([Trace(question=Question("What of paint?"), pipeline="silent")], measures=["groundedness"])

    found = compare_pairwise([whole, unanswered])

    assert found.win_rates[0].rate is None
    assert found.win_rates[0].unjudged == 1
    assert found.reasons == {"silent has no rating: coverage was not measured": 1}


def test_ratings_by_other_sub_questions_are_refused_unless_allowed_and_a_model_does_not_mind() -> None:
    sides = [_evaluation(ONE, "plain"), _evaluation(BOTH, "broad", extra=" really")]

    with pytest.raises(IncomparableError, match="3 of 3 shared questions have different sub-questions"):
        compare_pairwise(sides)

    assert compare_pairwise(sides, sub_questions="any").win_rates[0].judged == 3
    asked = compare_pairwise(sides, judge=_longer(*BOTH.values()))
    assert (asked.win_rates[0].losses, asked.agreement) == (3, None)
    assert asked.agreement_undefined_because == "no pair has a preferred answer, and two ratings by the same sub-questions"


def test_of_several_answers_to_one_question_the_first_counts_and_that_is_told() -> None:
    twice = _evaluation(ONE, "plain")
    twice = Evaluation((*twice.results, *_evaluation(BOTH, "plain").results), twice.judge, twice.measures)

    found = compare_pairwise([twice, _evaluation(ONE, "broad")])

    assert found.win_rates[0].ties == 3
    assert found.notes == ("plain answers 3 of the questions several times; the first answer counts.",)


def test_pipelines_of_one_name_are_told_apart() -> None:
    same = _evaluation(ONE, "plain")
    unnamed = Evaluation(tuple(_evaluation(ONE, "").results), same.judge, same.measures)

    assert compare_pairwise([same, same]).pipelines == ("plain (a)", "plain (b)")
    assert compare_pairwise([same, unnamed]).pipelines == ("plain", "b")
    assert compare_pairwise([same, unnamed], names=["x", "y"]).pipelines == ("plain", "y")


def test_it_is_written_as_json_data_with_reasons_for_what_is_undefined() -> None:
    found = compare_pairwise([_evaluation(ONE, "plain"), _evaluation(BOTH, "broad")])

    document = json.loads(json.dumps(found.to_dict()))

    assert document["win_rates"][0]["rate"]["estimate"] == pytest.approx(0.5 / 3)
    assert document["position_bias"]["changed"] is None
    assert document["position_bias"]["undefined_because"]
    assert document["agreement_with_ratings"] is None
    assert document["agreement_undefined_because"] == "not applicable: the ratings are the judge"
    assert [each["basis"] for each in document["verdicts"]] == ["rated"] * 3
    assert all(isinstance(each, PairVerdict) for each in found.verdicts)


def test_what_cannot_be_compared_pair_by_pair_is_refused() -> None:
    one = _evaluation(ONE, "plain")

    with pytest.raises(InvalidValueError, match="between two evaluations or more, not 1"):
        compare_pairwise([one])
    with pytest.raises(InvalidValueError, match="1 names for 2 evaluations"):
        compare_pairwise([one, one], names=["x"])
    with pytest.raises(InvalidValueError, match="judge is 'rating' or a model"):
        compare_pairwise([one, one], judge="openai:small")  # type: ignore[arg-type]  # what a caller may try
    with pytest.raises(IncomparableError, match="The 3 evaluations have no question in common"):
        compare_pairwise([one, one, _evaluation({"other": "x"}, "b")])
    with pytest.raises(InvalidValueError, match=r"not two pipelines of this comparison\. Did you mean 'plain \(a\)'"):
        compare_pairwise([one, one]).over("plain (a", "plain (b)")
