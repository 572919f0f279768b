from __future__ import annotations

import asyncio
import pickle
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the extra langchain")
pytest.importorskip("langchain_core.decisions", reason="needs langchain-core 1.8")

from langchain_core import decisions  # type: ignore[attr-defined, unused-ignore]  # from 1.8 on
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import HumanMessage

from rag_cover.backends import Scorer, ScoringItem, fingerprint_of
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.testing import KeywordScorer
from rag_cover_langchain.decision_models import RagCoverDecisionModel
from rag_cover_langchain.decisions import DecisionJudge, decides
from rag_cover_langchain.models import generator_of, models_of
from rag_cover_langchain.tags import INTERNAL
from tests.entailing import FixedEntailer, LevelEmbedder
from tests.gates import Gate
from tests.langchain.parts import ScriptedChatModel

TEAM = decisions.Choice(
    instructions="Which team should handle this request?",
    criteria={"billing": "Payment, invoice, or subscription issues.", "technical": "Product bugs.", "sales": None},
)
FRUSTRATION = decisions.Score(instructions="How frustrated?", criteria=["Calm.", "Concerned.", "Angry."])


def noul(**criteria: str) -> Any:
    return decisions.Noul(instructions="Is it a bug?", criteria=decisions.NoulCriteria(**criteria) if criteria else None)


def asked(state: Any, **questions: Any) -> dict[str, Any]:
    return {"state": state, "questions": questions}


def scripted(told: dict[str, tuple[float, float, float]]) -> RagCoverDecisionModel:
    """Answer by a script of entailment alone."""
    return RagCoverDecisionModel(entailer=FixedEntailer(told), embedder=LevelEmbedder())


def test_the_embedded_judge_answers_every_kind_of_question_but_a_box() -> None:
    model = RagCoverDecisionModel()

    response = model.invoke(asked("My card was charged twice.", team=TEAM, mood=FRUSTRATION, bug=noul()))

    assert response.model == "embedded"
    assert response.choices["team"].choice == "billing"
    assert sum(response.choices["team"].probabilities.values()) == pytest.approx(1)
    assert response.choices["team"].confidence == max(response.choices["team"].probabilities.values())
    assert set(response.scores["mood"].probabilities) == {0, 1, 2}
    assert 0 <= response.nouls["bug"].noul <= 1
    assert response.usage is None


def test_the_same_question_has_the_same_answer_beside_others_and_alone() -> None:
    model, state = RagCoverDecisionModel(), "The app crashes."

    together = model.invoke(asked(state, team=TEAM, bug=noul(true="It fails."))).answers
    alone = {
        name: model.invoke(asked(state, **{name: each})).answers[name]
        for name, each in {"team": TEAM, "bug": noul(true="It fails.")}.items()
    }

    assert together == alone


def test_a_choice_is_the_label_whose_description_is_borne_out_or_that_itself_where_it_has_none() -> None:
    choice = decisions.Choice(instructions="Which?", criteria={"bug": "Broken.", "praise": None})
    model = scripted({"Broken.": (0.6, 0.2, 0.2), "praise": (0.2, 0.4, 0.4)})

    answer = model.invoke(asked("It fails.", kind=choice)).choices["kind"]

    assert (answer.choice, answer.confidence) == ("bug", pytest.approx(0.75))
    assert answer.probabilities == pytest.approx({"bug": 0.75, "praise": 0.25})


def test_a_score_is_the_expected_level() -> None:
    model = scripted({"Calm.": (0.1, 0.9, 0.0), "Concerned.": (0.1, 0.9, 0.0), "Angry.": (0.2, 0.8, 0.0)})

    answer = model.invoke(asked("It fails.", mood=FRUSTRATION)).scores["mood"]

    assert answer.score == pytest.approx(0.25 * 0 + 0.25 * 1 + 0.5 * 2)
    assert answer.probabilities == pytest.approx({0: 0.25, 1: 0.25, 2: 0.5})
    assert answer.legend == {0: "Calm.", 1: "Concerned.", 2: "Angry."}
    assert answer.confidence == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("criteria", "probability"),
    [
        ({"true": "Broken.", "false": "Fine."}, 0.6 / (0.6 + 0.2)),
        ({"true": "Broken."}, 0.6 / (0.6 + 0.3)),
        ({"false": "Fine."}, 1 - 0.2 / (0.2 + 0.2)),
        ({}, 0.1 / (0.1 + 0.3)),
    ],
)
def test_a_noul_goes_by_the_criteria_that_it_has(criteria: dict[str, str], probability: float) -> None:
    told = {"Broken.": (0.6, 0.1, 0.3), "Fine.": (0.2, 0.6, 0.2), "Is it a bug? Yes.": (0.1, 0.6, 0.3)}

    answer = scripted(told).invoke(asked("It fails.", bug=noul(**criteria))).nouls["bug"]

    assert answer.noul == pytest.approx(probability, abs=1e-4)


def test_instructions_and_criteria_may_be_json() -> None:
    choice = decisions.Choice(instructions={"ask": "Which?"}, criteria={"bug": {"signs": ["broken"]}, "praise": ["good"]})

    answer = RagCoverDecisionModel().invoke(asked({"said": HumanMessage("It is broken.")}, kind=choice)).choices["kind"]

    assert answer.choice == "bug"


def test_a_box_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="a Box is found in an image, and rag_cover's judges read text only"):
        RagCoverDecisionModel().invoke(asked("sky", where=decisions.Box(instructions="The sun.")))


def test_batches_and_coroutines_give_what_single_calls_give() -> None:
    model = RagCoverDecisionModel()
    requests = [asked(state, team=TEAM) for state in ("My card was charged twice.", "The app crashes.", "")]

    async def awaited() -> list[Any]:
        return [await model.ainvoke(requests[0]), *await model.abatch(requests[1:])]

    expected = [model.invoke(request) for request in requests]
    assert model.batch(requests) == expected
    assert asyncio.run(awaited()) == expected


def test_a_coroutine_leaves_the_loop_to_others() -> None:
    gate = Gate()

    class Waiting:
        def entail(self, pairs: Any) -> Any:
            gate.wait()
            return FixedEntailer().entail(pairs)

    response = gate.run(RagCoverDecisionModel(entailer=Waiting()).ainvoke(asked("It fails.", bug=noul())))

    assert 0 <= response.nouls["bug"].noul <= 1


class Runs(BaseCallbackHandler):
    """Keeps tags and metadata of what runs."""

    def __init__(self) -> None:
        self.seen: list[tuple[Any, Any]] = []

    def on_llm_start(self, serialized: Any, prompts: Any, *, tags: Any = None, metadata: Any = None, **_: Any) -> None:
        self.seen.append((tags, metadata))

    def on_chain_start(self, serialized: Any, inputs: Any, *, tags: Any = None, metadata: Any = None, **_: Any) -> None:
        self.seen.append((tags, metadata))


def test_callbacks_see_the_run() -> None:
    runs = Runs()

    RagCoverDecisionModel().invoke(asked("It fails.", bug=noul()), {"callbacks": [runs]})

    ((_, metadata),) = runs.seen
    assert (metadata["ls_provider"], metadata["ls_model_name"]) == ("rag_cover", "embedded")


def test_it_travels_to_another_process() -> None:
    model, request = RagCoverDecisionModel(), asked("My card was charged twice.", team=TEAM)
    model.invoke(request)

    read = pickle.loads(pickle.dumps(model))  # noqa: S301  # its own bytes

    assert read.invoke(request) == model.invoke(request)


def test_a_judge_without_an_entailer_is_refused_with_what_to_name() -> None:
    model = RagCoverDecisionModel(model="openai:any")

    with pytest.raises(InvalidValueError, match="the judge 'openai:any' brings no entailer; name one"):
        model.invoke(asked("It fails.", bug=noul()))


class YesModel(decisions.BaseDecisionModel):  # type: ignore[misc, unused-ignore]  # from 1.8 on
    """Says yes to texts about the sky, and remembers what it was asked."""

    model: str = "yes-1"
    asked: list[Any] = []

    @property
    def _provider(self) -> str:
        return "tests"

    def _classify(self, state: Any, questions: Any) -> Any:
        if "storm" in state["text"]:
            message = "out of order"
            raise ConnectionError(message)
        self.asked.append((state, questions))
        answers = {name: {"type": "noul", "noul": 0.9 if "sky" in state["text"] else 0.2} for name in questions}
        return decisions.ClassifierResponse(model=self.model, answers=answers)


def test_any_decision_model_is_a_judge() -> None:
    model = YesModel(asked=[])

    judge = models_of(judge=model).open(["scorer"])["scorer"]

    items = [ScoringItem("Why?", "The sky."), ScoringItem("Why?", "The sea.", ("Water.",))]
    assert isinstance(judge, Scorer)
    assert judge.correctness(items).tolist() == pytest.approx([0.9, 0.2])
    assert judge.correctness([]).tolist() == []
    assert (judge.threshold, DecisionJudge(model, threshold=0.7).threshold) == (0.5, 0.7)
    states = {state["text"]: (state, questions["correct"].instructions) for state, questions in model.asked}
    assert states["The sky."] == (
        {"question": "Why?", "text": "The sky."},
        "Does the text contain a correct answer to the question?",
    )
    assert states["The sea."][0]["references"] == ["Water."]
    assert fingerprint_of(judge).endswith("YesModel:yes-1")


def test_a_decision_model_with_retries_is_one() -> None:
    judge = models_of(judge=YesModel(asked=[]).with_retry()).judge

    assert isinstance(judge, DecisionJudge)
    assert judge.name == "yes-1"
    assert judge.correctness([ScoringItem("Why?", "The sky.")]).tolist() == pytest.approx([0.9])


def test_a_decision_model_that_fails_is_told_by_name() -> None:
    with pytest.raises(ModelFailedError, match="'yes-1' failed: out of order") as failed:
        DecisionJudge(YesModel()).correctness([ScoringItem("Why?", "storm")])

    assert failed.value.kind == "ConnectionError"


def test_what_a_judge_asks_a_decision_model_is_told_apart() -> None:
    runs = Runs()

    DecisionJudge(YesModel(asked=[]).with_config(callbacks=[runs])).correctness([ScoringItem("Why?", "sky")])

    assert [INTERNAL in tags for tags, _ in runs.seen] == [True]


def test_a_decision_model_writes_nothing() -> None:
    model = YesModel()

    with pytest.raises(InvalidValueError, match="'YesModel' cannot serve as generator"):
        generator_of(model)
    with pytest.raises(InvalidValueError, match="'YesModel' cannot serve as receiver"):
        models_of(receiver=model)


def test_a_chat_model_is_no_decision_model() -> None:
    assert not decides(ScriptedChatModel())
    assert not decides(KeywordScorer())
    assert decides(YesModel())
