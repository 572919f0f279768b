"""What steps were worth: telescoping, irrelevant and destructive steps, recorded samples, attribution, adaptive sampling."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.backends import Failure
from rag_cover.belief import step_utilities
from rag_cover.belief.result import TraceUtility
from rag_cover.belief.settings import UtilitySettings
from rag_cover.belief.utility import utilities_of
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.questions import Passage, Question
from rag_cover.testing import KeywordEntailer, ScriptedEntailer, ScriptedReceiver
from rag_cover.traces import RetrievalStep, Sample, SampleSet, StepKind, Trace

QUESTION = Question("What is the capital of France?", references=("Paris",))
SEINE, LYON, CHESS = Passage("The Seine runs through it."), Passage("Lyon is on the Rhone."), Passage("Chess is a game.")
JUDGE = ScriptedEntailer({("What is the capital of France? Paris",) * 2: 1.0})
RECEIVER = ScriptedReceiver({"Seine": ("Paris",), "Rhone": ("Lyon", "Paris", "Lyon", "Lyon")}, prior=("Lyon", "Paris"))


def trace_of(*steps: RetrievalStep, question: Question = QUESTION, samples: Sequence[SampleSet] = ()) -> Trace:
    return Trace(question=question, steps=steps, samples=tuple(samples))


def step(*passages: Passage, kind: StepKind = "retrieve") -> RetrievalStep:
    return RetrievalStep(query="capital", passages=passages, kind=kind)


STEPS = st.lists(
    st.builds(
        lambda passages, kind: step(*passages, kind=kind),
        st.lists(st.sampled_from([SEINE, LYON, CHESS]), max_size=3),
        st.sampled_from(["retrieve", "tool", "rerank", "filter"]),
    ),
    min_size=1,
    max_size=5,
)
LOGPROB = st.none() | st.floats(-5, 0).map(lambda value: (value,))
ANSWERS = st.lists(
    st.builds(lambda text, logprobs: Sample(text, token_logprobs=logprobs), st.sampled_from(["Paris", "Lyon", ""]), LOGPROB),
    min_size=1,
    max_size=4,
).filter(lambda answers: bool(answers[0].text))  # of a receiver that never says anything there is nothing to tell


@given(STEPS, ANSWERS, ANSWERS, ANSWERS, st.sampled_from(["soft", "hard"]))
def test_the_marginals_add_up_to_the_total(
    steps: list[RetrievalStep], prior: list[Sample], seine: list[Sample], rhone: list[Sample], kind: str
) -> None:
    receiver = ScriptedReceiver({"Seine": seine, "Rhone": rhone}, prior=prior)

    utility = step_utilities(trace_of(*steps), entailer=KeywordEntailer(), receiver=receiver, n=3, kind=kind)  # type: ignore[arg-type]  # drawn

    assert sum(each.marginal.value for each in utility.steps) == pytest.approx(utility.total.value, abs=1e-12)
    assert utility.total.value == utility.total.posterior.score - utility.prior.score
    assert all(-1 <= each.marginal.value <= 1 for each in utility.steps)


@given(STEPS, ANSWERS)
def test_passages_that_the_receiver_ignores_are_worth_exactly_nothing(
    steps: list[RetrievalStep], answers: list[Sample]
) -> None:
    utility = step_utilities(trace_of(*steps), entailer=KeywordEntailer(), receiver=ScriptedReceiver(prior=answers))

    assert [each.marginal.value for each in utility.steps] == [0.0] * len(steps)
    assert utility.total.value == 0.0


@given(STEPS, ANSWERS)
def test_a_utility_comes_back_from_json_as_it_was(steps: list[RetrievalStep], answers: list[Sample]) -> None:
    receiver = ScriptedReceiver({"Seine": answers}, prior=("Lyon",))
    utility = step_utilities(
        trace_of(*steps), entailer=KeywordEntailer(), receiver=receiver, n=3, clusters=True, per_passage="add-one-in"
    )

    written = utility.to_dict()

    assert TraceUtility.from_dict(written) == utility
    assert len(written["beliefs"]) <= 2


def test_a_step_that_brings_the_answer_is_worth_what_it_moved() -> None:
    utility = step_utilities(trace_of(step(CHESS), step(SEINE)), entailer=JUDGE, receiver=RECEIVER)

    chess, seine = utility.steps
    assert (utility.prior.score, utility.total.value) == (0.5, 0.5)
    assert (chess.marginal.value, seine.marginal.value) == (0.0, 0.5)
    assert chess.alone is not None
    assert seine.alone is not None
    assert (chess.alone.value, seine.alone.value) == (0.0, 0.5)


def test_a_redundant_step_is_worth_nothing_after_and_as_much_alone() -> None:
    utility = step_utilities(trace_of(step(SEINE), step(SEINE)), entailer=JUDGE, receiver=RECEIVER)

    _, again = utility.steps
    assert again.marginal.value == 0.0
    assert again.marginal.interval is not None
    assert (again.marginal.interval.lower, again.marginal.interval.upper) == (0.0, 0.0)
    assert again.alone is not None
    assert again.alone.value == 0.5


def test_a_filter_that_drops_the_answer_hurts() -> None:
    utility = step_utilities(trace_of(step(SEINE, CHESS), step(CHESS, kind="filter")), entailer=JUDGE, receiver=RECEIVER)

    _, filtered = utility.steps
    assert filtered.marginal.value == -0.5
    assert utility.total.value == 0.0


def test_a_step_without_passages_is_nothing_alone_and_changes_nothing() -> None:
    utility = step_utilities(trace_of(step(SEINE), step()), entailer=JUDGE, receiver=RECEIVER)

    empty = utility.steps[1]
    assert empty.alone is None
    assert empty.marginal.value == 0.0


def test_a_filter_that_shortens_a_passage_makes_another_context() -> None:
    long, short = Passage("The Seine runs through it.", id="7"), Passage("It runs through it.", id="7")

    utility = step_utilities(trace_of(step(long), step(short, kind="filter")), entailer=JUDGE, receiver=RECEIVER)

    assert utility.steps[1].marginal.value == -0.5


def test_equal_contexts_are_sampled_once() -> None:
    receiver = ScriptedReceiver(RECEIVER.script, prior=RECEIVER.prior)

    utility = step_utilities(trace_of(step(SEINE), step(SEINE), step()), entailer=JUDGE, receiver=receiver, n=7)

    assert (receiver.asked.calls, receiver.asked.items) == (1, 2)
    assert utility.samples == 14


def test_a_block_samples_and_judges_all_its_traces_together() -> None:
    receiver = ScriptedReceiver(RECEIVER.script, prior=RECEIVER.prior)
    judge = ScriptedEntailer(JUDGE.script)
    traces = [trace_of(step(SEINE)), trace_of(step(SEINE), step(CHESS)), trace_of(step(CHESS))]

    block = utilities_of(traces, entailer=judge, receiver=receiver, procedure=UtilitySettings())

    assert (receiver.asked.calls, judge.asked.calls) == (1, 1)
    assert receiver.asked.items == 4
    assert block == [step_utilities(trace, entailer=JUDGE, receiver=RECEIVER) for trace in traces]


def test_leaving_a_passage_out_misses_it_in_the_context_after_its_step() -> None:
    trace = trace_of(step(SEINE, CHESS), step(LYON))

    utility = step_utilities(trace, entailer=JUDGE, receiver=RECEIVER, per_passage="leave-one-out", n=4)

    first, second = utility.steps
    assert [(each.passage, each.value) for each in first.passages] == [(SEINE.key, 0.5), (CHESS.key, 0.0)]
    assert [(each.passage, each.value) for each in second.passages] == [(LYON.key, 0.0)]


def test_adding_a_passage_shows_it_by_itself() -> None:
    trace = trace_of(step(SEINE, CHESS), step(LYON))

    utility = step_utilities(trace, entailer=JUDGE, receiver=RECEIVER, per_passage="add-one-in", n=4)

    first, second = utility.steps
    assert [each.value for each in first.passages] == [0.5, 0.0]
    assert [each.value for each in second.passages] == [-0.25]
    assert utility.per_passage == "add-one-in"


def test_the_answer_may_stand_in_for_references() -> None:
    trace = Trace(question="What is the capital of France?", steps=(step(SEINE),), answer="Paris")

    utility = step_utilities(trace, entailer=JUDGE, receiver=RECEIVER, references="answer")

    assert utility.references == "answer"
    assert utility.total.value == 0.5


def test_one_missing_log_probability_makes_the_whole_trace_unbiased() -> None:
    receiver = ScriptedReceiver({"Seine": ("Paris",)}, prior=(Sample("Lyon", token_logprobs=(-0.1,)),))

    utility = step_utilities(trace_of(step(SEINE)), entailer=JUDGE, receiver=receiver)

    assert utility.preset == "unbiased"
    assert {utility.prior.preset, utility.total.posterior.preset} == {"unbiased"}


def test_empty_answers_are_judged_as_they_are_and_counted() -> None:
    utility = step_utilities(
        trace_of(step(SEINE)), entailer=JUDGE, receiver=ScriptedReceiver({"Seine": ("Paris",)}, prior=("",))
    )

    assert (utility.prior.score, utility.prior.empty) == (0.0, 10)
    assert utility.total.value == 1.0


def recorded(context: str, *answers: str, step: str | None = None, passage: str | None = None) -> SampleSet:
    samples = tuple(map(Sample, answers))
    return SampleSet.model_validate(
        {"receiver": "a model", "context": context, "step": step, "passage": passage, "samples": samples}
    )


def test_recorded_samples_need_no_receiver() -> None:
    samples = [recorded("none", "Lyon", "Paris"), recorded("after", "Paris", "Paris", step="step-1")]

    utility = step_utilities(trace_of(step(SEINE), samples=samples), entailer=JUDGE)

    assert utility.receiver == "a model"
    assert (utility.prior.score, utility.total.value, utility.samples) == (0.5, 0.5, 4)


def test_what_is_not_recorded_is_absent_and_not_zero() -> None:
    samples = [recorded("none", "Lyon"), recorded("after", "Lyon", step="step-1"), recorded("after", "Paris", step="step-2")]

    utility = step_utilities(trace_of(step(CHESS), step(SEINE), samples=samples), entailer=JUDGE, per_passage="leave-one-out")

    assert utility.steps[1].alone is None
    assert utility.steps[1].marginal.value == 1.0
    assert [each.passage for each in utility.steps[1].passages] == [SEINE.key]  # left out, it is the context after step 1
    assert utility.steps[1].marginal.interval is None


def test_recorded_contexts_by_themselves_and_without_a_passage_are_used() -> None:
    seine = Passage(SEINE.text, id="seine")
    samples = [
        recorded("none", "Lyon"),
        recorded("after", "Paris", step="step-1"),
        recorded("without", "Lyon", step="step-1", passage="seine"),
        recorded("alone", "Paris", step="step-1", passage=seine.key),
    ]
    trace = trace_of(step(seine, CHESS, LYON), samples=samples)

    left_out = step_utilities(trace, entailer=JUDGE, per_passage="leave-one-out")
    added = step_utilities(trace, entailer=JUDGE, per_passage="add-one-in")

    assert [(each.passage, each.value) for each in left_out.steps[0].passages] == [("id:seine", 1.0)]
    assert [(each.passage, each.value) for each in added.steps[0].passages] == [("id:seine", 1.0)]


def test_samples_recorded_of_the_receiver_are_not_drawn_again() -> None:
    receiver = ScriptedReceiver(RECEIVER.script, prior=RECEIVER.prior)
    prior = recorded("none", "Lyon", "Lyon").model_copy(update={"receiver": receiver.fingerprint})

    utility = step_utilities(trace_of(step(SEINE), samples=[prior]), entailer=JUDGE, receiver=receiver)

    assert receiver.asked.items == 1
    assert (utility.prior.score, utility.prior.n, utility.total.value) == (0.0, 2, 1.0)


def test_at_most_n_recorded_samples_are_used() -> None:
    samples = [recorded("none", *["Lyon"] * 20), recorded("after", *["Paris"] * 20)]

    utility = step_utilities(trace_of(step(SEINE), samples=samples), entailer=JUDGE, n=5)

    assert (utility.prior.n, utility.total.posterior.n) == (5, 5)


SURE = ScriptedReceiver({"Seine": ("Paris",)}, prior=("Lyon",))


def test_adaptive_sampling_stops_when_the_answers_agree() -> None:
    utility = step_utilities(trace_of(step(SEINE)), entailer=JUDGE, receiver=SURE, n=10, adaptive=0.1)

    assert (utility.prior.n, utility.total.posterior.n, utility.samples) == (4, 4, 8)


def test_adaptive_sampling_goes_on_to_n_where_they_do_not() -> None:
    utility = step_utilities(trace_of(step(SEINE)), entailer=JUDGE, receiver=RECEIVER, n=12, adaptive=0.01)

    assert (utility.prior.n, utility.total.posterior.n) == (12, 12)


def test_every_adaptive_round_draws_other_answers() -> None:
    turning = ScriptedReceiver(prior=("Paris", "Lyon", "Nice", "Lille", "Brest"))

    utility = step_utilities(trace_of(step(SEINE)), entailer=JUDGE, receiver=turning, n=7, adaptive=0.01)

    texts = [answer.text for answer in utility.prior.answers]
    assert texts == ["Paris", "Lyon", "Nice", "Lille", "Lyon", "Nice", "Lille"]  # seed 0, then seed 1


def test_the_samples_of_two_contexts_vary_independently() -> None:
    utility = step_utilities(trace_of(step(CHESS)), entailer=JUDGE, receiver=RECEIVER)

    interval = utility.total.interval
    assert utility.total.value == 0.0
    assert interval is not None
    assert interval.lower is not None
    assert interval.upper is not None
    assert interval.lower < -0.2 < 0.2 < interval.upper


def test_adaptive_sampling_of_a_trace_does_not_depend_on_its_block() -> None:
    traces = [trace_of(step(SEINE)), trace_of(step(LYON)), trace_of(step(SEINE), step(LYON))]
    procedure = UtilitySettings(adaptive=0.3)

    block = utilities_of(traces, entailer=JUDGE, receiver=RECEIVER, procedure=procedure)

    alone = [utilities_of([each], entailer=JUDGE, receiver=RECEIVER, procedure=procedure) for each in traces]
    assert [[each] for each in block] == alone


@pytest.mark.parametrize(
    ("trace", "said"),
    [
        (trace_of(), "needs retrieval steps"),
        (trace_of(step(SEINE), question=Question("Where?")), "needs references"),
        (trace_of(step(SEINE), question=Question("Where?", references=["Paris", " "])), r"references\[1\] is blank"),
        (trace_of(step(SEINE)), "no receiver was named, and the trace has no recorded samples"),
        (trace_of(step(SEINE), samples=[recorded("none", "Paris")]), "of 'a model' lack those after 'step-1'"),
        (trace_of(step(SEINE), samples=[recorded("after", "Paris")]), "of 'a model' lack those without passages"),
        (trace_of(step(SEINE), samples=[recorded("none")]), "has no recorded samples"),
        (trace_of(step(SEINE), samples=[recorded("after", "Paris", step="x")]), r"samples\[0\].step: no step is called 'x'"),
        (trace_of(step(SEINE), samples=[recorded("without", "Paris", passage="x")]), r"samples\[0\].passage: .* 'x'"),
    ],
)
def test_a_trace_that_cannot_be_measured_says_why(trace: Trace, said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        step_utilities(trace, entailer=JUDGE)


def test_a_trace_that_cannot_be_measured_costs_no_other_its_result() -> None:
    unfit = trace_of(step(SEINE), samples=[recorded("after", "Paris", step="x")])

    fine, failed = utilities_of([trace_of(step(SEINE)), unfit], entailer=JUDGE, receiver=RECEIVER, procedure=UtilitySettings())

    assert isinstance(fine, TraceUtility)
    assert isinstance(failed, Failure)
    assert failed.kind == "InvalidValueError"


def test_samples_that_weigh_nothing_fail_their_trace_alone() -> None:
    impossible = ScriptedReceiver(
        {"Seine": (Sample("Paris", token_logprobs=(float("-inf"),)),)}, prior=(Sample("Lyon", token_logprobs=(-0.1,)),)
    )
    judge = ScriptedEntailer(JUDGE.script)

    fine, failed = utilities_of(
        [trace_of(step(CHESS)), trace_of(step(SEINE))], entailer=judge, receiver=impossible, procedure=UtilitySettings()
    )

    assert isinstance(fine, TraceUtility)
    assert isinstance(failed, Failure)
    assert "probability 0" in failed.message


def test_an_explicit_preset_without_log_probabilities_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="preset 'official' weighs samples by their log-probabilities"):
        step_utilities(trace_of(step(SEINE)), entailer=JUDGE, receiver=RECEIVER, preset="official")


@dataclass(frozen=True)
class Silent:
    """A receiver that returns fewer sets than it was asked for, or sets without answers."""

    sets: list[tuple[Sample, ...]] = field(default_factory=list)

    def sample(
        self,
        items: Sequence[tuple[str, tuple[Passage, ...]]],  # noqa: ARG002  # the protocol's
        *,
        n: int = 10,  # noqa: ARG002
        seed: int = 0,  # noqa: ARG002
    ) -> list[tuple[Sample, ...]]:
        return self.sets


def test_a_receiver_that_returns_too_few_sets_has_failed() -> None:
    with pytest.raises(ModelFailedError, match="returned 0 sets for 2 items"):
        step_utilities(trace_of(step(SEINE)), entailer=JUDGE, receiver=Silent())


def test_a_receiver_that_returns_no_answers_is_told() -> None:
    with pytest.raises(InvalidValueError, match="there are no samples"):
        step_utilities(trace_of(step(SEINE)), entailer=JUDGE, receiver=Silent([(), ()]))


def test_of_a_receiver_that_never_says_anything_nothing_can_be_told() -> None:
    with pytest.raises(InvalidValueError, match="all 20 answers of .* are without a text"):
        step_utilities(trace_of(step(SEINE)), entailer=JUDGE, receiver=ScriptedReceiver(prior=("", " ")), n=10)


def test_a_receiver_that_says_nothing_without_passages_believes_nothing_then() -> None:
    receiver = ScriptedReceiver({"Seine": ("Paris",)}, prior=("",))

    utility = step_utilities(trace_of(step(SEINE)), entailer=JUDGE, receiver=receiver, n=10)

    assert (utility.prior.score, utility.prior.empty, utility.total.value) == (0.0, 10, 1.0)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"n": 0}, "n is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"adaptive": 0.0}, "half width"),
        ({"kind": "firm"}, "kind is 'firm'"),
        ({"preset": "offical"}, "preset is 'offical'"),
        ({"references": "silver"}, "references is 'silver'"),
        ({"per_passage": "shapley"}, "per_passage is 'shapley'"),
        ({"approximations": ["normal"]}, "No approximation is called 'normal'"),
    ],
)
def test_an_argument_out_of_range_is_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidValueError, match=said):
        UtilitySettings(**wrong)  # type: ignore[arg-type]  # that is the point
