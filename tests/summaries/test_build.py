from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_cover import CoverageMeasure, Models, Question, SubQuestion, Trace, evaluate
from rag_cover.backends import Abstention, ScoringItem
from rag_cover.coverage import Loss
from rag_cover.coverage.summary import AnswerCounts
from rag_cover.questions import Role
from rag_cover.summaries import metrics_of_installed
from rag_cover.testing import KeywordEntailer, KeywordScorer
from rag_cover.traces import RetrievalStep

MODELS = Models(judge=KeywordScorer(threshold=1.0), entailer=KeywordEntailer())


def _trace(answer: str | None, *passages: str, prompt: tuple[str, ...] | None = None) -> Trace:
    return Trace.model_validate(
        {
            "question": Question("What of paint?"),
            "answer": answer,
            "steps": [RetrievalStep.model_validate({"passages": passages})] if passages else [],
            "prompt": prompt,
            "sub_questions": [SubQuestion("red paint?", role="core"), SubQuestion("blue paint?", role="core")],
        }
    )


def test_every_metric_has_a_value_or_a_reason() -> None:
    summary = evaluate([_trace("red paint")], models=MODELS).summary()

    assert list(summary.metrics) == [
        name
        for name, metric in metrics_of_installed().items()
        if metric.measure in ("coverage", "groundedness", *summary.outcomes)
    ]
    for metric in summary.metrics.values():
        assert (metric.interval is None) != (metric.undefined_because is None)


def test_losses_are_counted_where_they_happened() -> None:
    traces = [
        _trace("nothing", "red paint", "blue paint", prompt=("red paint",)),
        _trace("nothing", "red paint"),
    ]

    summary = evaluate(traces, models=MODELS).summary()

    assert +Counter(summary.losses) == {Loss.NOT_RETRIEVED: 1, Loss.DROPPED: 1, Loss.UNUSED: 2}


def test_a_failed_retrieval_is_counted_as_such() -> None:
    asked = _trace("nothing", "red paint")
    broken = RetrievalStep(query=asked.sub_questions[-1].text if asked.sub_questions else "", error="it broke")

    summary = evaluate([asked.model_copy(update={"steps": (*asked.steps, broken)})], models=MODELS).summary()

    assert +Counter(summary.losses) == {Loss.FAILED: 1, Loss.UNUSED: 1}


def test_the_same_question_twice_is_one_cluster() -> None:
    summary = evaluate([_trace("red paint"), _trace("blue paint")], models=MODELS).summary()

    core = summary.metrics["core_coverage"].interval
    assert (summary.traces, summary.questions) == (2, 1)
    assert core is not None
    assert (core.estimate, core.lower, core.n) == (0.5, None, 1)


def test_without_steps_retrieval_is_undefined_and_says_why() -> None:
    summary = evaluate([_trace("red paint")], models=MODELS).summary()

    assert summary.metrics["core_retrieved"].interval is None
    assert summary.metrics["groundedness"].undefined_because == "groundedness needs a prompt or retrieval steps"
    assert Role.CORE not in summary.scenarios


def test_rule_made_sub_questions_are_said_to_be_rule_made() -> None:
    summary = evaluate([Trace(question="What is paint and why is it red?", answer="x")], models=MODELS).summary()

    assert any("made by rules" in note for note in summary.notes)


def test_the_rating_keeps_the_weights_it_was_measured_with() -> None:
    measure = CoverageMeasure(weights={Role.CORE: 3.0})

    summary = evaluate([_trace("red paint")], measures=[measure], models=MODELS).summary()

    rating = summary.metrics["rating"].interval
    assert rating is not None
    assert rating.estimate == 1.5


def test_answers_without_retrieval_make_retrieval_not_applicable() -> None:
    summary = evaluate([_trace("red paint")], models=MODELS).summary()

    assert summary.metrics["core_use"].undefined_because == "not applicable: no trace has retrieval steps"


@dataclass(frozen=True)
class Refuser:
    """Says that whatever begins with "Sorry" declines to answer."""

    def abstains(self, items: Sequence[ScoringItem]) -> list[Abstention]:
        return ["wholly" if item.text.startswith("Sorry") else "no" for item in items]


def test_answers_that_decline_and_short_ones_are_counted() -> None:
    traces = [_trace("Sorry, nothing is said of it.", "red paint"), _trace("Sorry, I cannot tell.", "mud"), _trace("red paint")]

    summary = evaluate(traces, models=replace(MODELS, abstention=Refuser())).summary()

    assert summary.answers == AnswerCounts(
        answers=3, examined=3, declined=2, declined_unretrieved=1, declined_retrieved=1, short=1
    )
    assert summary.single_sub_questions == 0


def test_questions_that_rules_left_whole_are_told() -> None:
    traces = [Trace(question="What is paint?", answer="x"), Trace(question="What is paint and why is it red?", answer="x")]

    summary = evaluate(traces, measures=["coverage"], models=MODELS).summary()

    assert summary.single_sub_questions == 0.5
