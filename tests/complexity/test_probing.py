"""Probing: what is asked of the models, what a failure costs, which thresholds hold, and what the result says of itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover.backends import Failure, ScoringItem, TokenRelevance
from rag_cover.complexity import Calibration, complexities_of, complexity_of, probe, shipped_calibrations
from rag_cover.complexity.choices import Constraints
from rag_cover.complexity.result import Complexity
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.questions import Passage, Question
from rag_cover.testing import Counter, KeywordScorer, ScriptedScorer

BORN = "Where was the author of Emma born?"
AUSTEN = Passage("Emma is a novel by Jane Austen.", id="novel")
STEVENTON = Passage("She was born in Steventon.", title="Jane Austen", id="author")


@dataclass(frozen=True)
class WordRelevance:
    """Tells of each word of the question whether a text has it; the texts named in ``breaks`` break it."""

    breaks: str = "no text has this"
    asked: Counter = field(default_factory=Counter, compare=False)

    def token_relevance(self, question: str, texts: Sequence[str]) -> TokenRelevance:
        self.asked.count(len(texts))
        if any(self.breaks in text for text in texts):
            message = "out of memory"
            raise ModelFailedError(message, kind="memory")
        words = tuple(question.rstrip("?").split())
        return TokenRelevance(words, np.array([[float(word in text) for word in words] for text in texts]))


@dataclass(frozen=True)
class BreakingScorer:
    """Gives every text 0.05, and fails on any batch with a text that has ``breaks`` in it."""

    breaks: str
    threshold: float = 0.5
    asked: Counter = field(default_factory=Counter, compare=False)

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        self.asked.count(len(items))
        if any(self.breaks in item.text for item in items):
            message = "too long"
            raise ModelFailedError(message, kind="length")
        return np.full(len(items), 0.05, dtype=np.float32)


@dataclass(frozen=True)
class ByReferences:
    """Gives what a script holds for (text, references)."""

    script: Mapping[tuple[str, tuple[str, ...]], float]
    threshold: float = 0.5
    asked: Counter = field(default_factory=Counter, compare=False)

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        self.asked.count(len(items))
        return np.array([self.script[item.text, item.references] for item in items], dtype=np.float32)


@dataclass(frozen=True)
class Shelf:
    """A retriever that always finds the same."""

    passages: Sequence[Passage] = (AUSTEN, STEVENTON)

    def retrieve(self, query: str, *, k: int) -> Sequence[Passage]:
        assert query
        return self.passages[:k]


def test_probing_retrieves_and_judges_each_passage() -> None:
    scorer = ScriptedScorer({(BORN, AUSTEN.text): 0.1, (BORN, "Jane Austen\nShe was born in Steventon."): 0.9})

    found = probe(BORN, Shelf(), scorer, relevance=WordRelevance())

    assert found.tokens == tuple(BORN.rstrip("?").split())
    assert [(each.passage, each.answer_probability) for each in found.documents] == [("id:novel", 0.1), ("id:author", 0.9)]
    assert [sum(each.relevance) for each in found.documents] == [1.0, 2.0]
    assert (found.answerable, found.is_complex, found.references) == (True, False, "none")


def test_k_limits_what_is_judged() -> None:
    found = probe(BORN, Shelf(), KeywordScorer(), k=1)

    assert len(found.documents) == 1
    with pytest.raises(InvalidValueError, match="give a whole number of at least 1"):
        probe(BORN, Shelf(), KeywordScorer(), k=0)


def test_a_passage_that_was_retrieved_twice_counts_once() -> None:
    scorer = KeywordScorer()

    found = complexity_of(BORN, [AUSTEN, STEVENTON, AUSTEN], scorer)

    assert [each.passage for each in found.documents] == ["id:novel", "id:author"]
    assert scorer.asked.items == 2


def test_a_blank_passage_is_not_sent_and_answers_nothing() -> None:
    scorer = KeywordScorer()

    found = complexity_of(BORN, [Passage(" ", title="Jane Austen")], scorer)

    assert found.documents[0].answer_probability == 0
    assert scorer.asked.calls == 0


def test_without_passages_nothing_answers_and_the_set_is_complete() -> None:
    found = probe(BORN, Shelf(()), KeywordScorer(), relevance=WordRelevance())

    assert (found.max_answer_probability, found.answerable, found.is_complex) == (None, False, True)
    assert (found.completeness, found.complete, found.documents, found.probability) == (1.0, True, (), None)
    assert found.notes == ("nothing was retrieved",)


def test_where_no_model_tells_relevance_answerability_decides_and_says_so() -> None:
    found = probe(BORN, Shelf(), ScriptedScorer())

    assert (found.completeness, found.complete, found.is_complex) == (None, None, True)
    assert found.constraints == "answerability"
    assert found.notes == ("completeness is not applicable: no model tells token relevance",)


def test_one_document_that_cannot_be_judged_counts_in_nothing() -> None:
    passages = [Passage(f"Passage {number}") for number in range(7)]

    found = complexity_of(BORN, passages, BreakingScorer("Passage 4"), relevance=WordRelevance())

    assert [each.failure is not None for each in found.documents] == [number == 4 for number in range(7)]
    assert found.documents[4].failure == Failure("length", "too long")
    assert (found.documents[4].answer_probability, found.failures) == (None, 1)
    assert len(found.answer_probabilities) == 6
    assert found.notes == ("1 of 7 documents could not be judged and count in nothing",)


def test_one_document_whose_relevance_fails_counts_in_nothing() -> None:
    found = complexity_of(BORN, [AUSTEN, STEVENTON], KeywordScorer(), relevance=WordRelevance(breaks="Steventon"))

    assert [each.failure and each.failure.kind for each in found.documents] == [None, "memory"]
    assert found.answer_probabilities == (found.documents[0].answer_probability,)


def test_when_every_document_fails_the_question_fails() -> None:
    with pytest.raises(ModelFailedError, match="too long"):
        complexity_of(BORN, [AUSTEN, STEVENTON], BreakingScorer(""))


def test_in_a_block_a_question_that_fails_costs_no_other() -> None:
    retrieved = [(BORN, [AUSTEN], ()), ("Who?", [STEVENTON], ()), (BORN, [], ())]

    found = complexities_of(retrieved, BreakingScorer("Steventon"), relevance=WordRelevance())

    assert [type(each) for each in found] == [Complexity, Failure, Complexity]


def test_a_block_asks_the_scorer_once() -> None:
    scorer, relevance = KeywordScorer(), WordRelevance()
    retrieved = [(BORN, [AUSTEN, STEVENTON], ()), ("Who wrote Emma?", [AUSTEN], ()), (BORN, [AUSTEN], ())]

    complexities_of(retrieved, scorer, relevance=relevance)

    assert (scorer.asked.calls, scorer.asked.items) == (1, 3)
    assert relevance.asked.calls == 3


def test_no_questions_ask_nothing() -> None:
    scorer = KeywordScorer()

    assert complexities_of([], scorer) == []
    assert scorer.asked.calls == 0


def test_in_a_block_as_alone() -> None:
    retrieved = [(BORN, [AUSTEN, STEVENTON], ()), ("Who wrote Emma?", [AUSTEN], ("Austen",))]

    together = complexities_of(retrieved, KeywordScorer(), relevance=WordRelevance())

    assert together == [
        complexity_of(question, passages, KeywordScorer(), references=references, relevance=WordRelevance())
        for question, passages, references in retrieved
    ]


def test_a_result_says_what_told_right_answers_from_wrong() -> None:
    asked = Question(BORN, references=("Steventon",))

    gold = complexity_of(asked, [AUSTEN], KeywordScorer())
    free = complexity_of(asked, [AUSTEN], KeywordScorer(), references=())
    draft = complexity_of(BORN, [AUSTEN], KeywordScorer(), draft="In Steventon.")

    assert [each.references for each in (gold, free, draft)] == ["gold", "none", "draft"]


def test_a_draft_stands_in_for_gold_answers_and_not_beside_them() -> None:
    with pytest.raises(InvalidValueError, match="the one or the other"):
        complexity_of(BORN, [AUSTEN], KeywordScorer(), references=["Steventon"], draft="Bath")

    with pytest.raises(InvalidValueError, match="blank"):
        complexity_of(BORN, [AUSTEN], KeywordScorer(), draft=" ")


def test_asked_twofold_a_document_must_answer_and_agree() -> None:
    scorer = ByReferences({(AUSTEN.text, ("Bath",)): 0.8, (AUSTEN.text, ()): 0.5})

    found = complexity_of(BORN, [AUSTEN], scorer, references=["Bath"], calibration=Calibration(twofold=True))

    (document,) = found.documents
    assert document.answer_probability == pytest.approx(0.4)
    assert (document.unaided_probability, found.twofold) == (0.5, True)
    assert (scorer.asked.calls, scorer.asked.items) == (1, 2)
    assert Complexity.from_dict(found.to_dict()) == found


def test_without_references_nothing_is_asked_twice() -> None:
    scorer = ByReferences({(AUSTEN.text, ()): 0.5})

    found = complexity_of(BORN, [AUSTEN], scorer, calibration=Calibration(twofold=True))

    assert scorer.asked.items == 1
    assert not found.twofold


TWO = "When was the tower built and who designed it?"
PARTS = ("When was the tower built?", "Who designed the tower?")


@dataclass(frozen=True)
class ByQuestion:
    """Gives what a script holds for (what is asked, text), 0.9 for all else."""

    script: Mapping[tuple[str, str], float]
    threshold: float = 0.5

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        return np.array([self.script.get((item.question, item.text), 0.9) for item in items], dtype=np.float32)


def test_a_passage_answers_two_questions_in_one_where_it_answers_each() -> None:
    half, whole = Passage("It was built in 1889.", id="half"), Passage("Eiffel built it in 1889.", id="whole")
    scorer = ByQuestion({(PARTS[1], half.text): 0.1})

    found = complexity_of(TWO, [half, whole], scorer)
    alone = complexity_of(TWO, [half], scorer)

    assert found.parts == PARTS
    assert [each.answer_probability for each in found.documents] == pytest.approx([0.1, 0.9])
    assert (found.answerable, alone.answerable) == (True, False)
    assert Complexity.from_dict(found.to_dict()) == found


def test_where_no_passage_answers_a_part_the_question_is_not_complex_but_unanswerable() -> None:
    half = Passage("It was built in 1889.", id="half")
    told = {(PARTS[1], half.text): 0.1, (TWO, half.text): 0.4}
    other = Passage("Eiffel designed it.", id="other")

    alone = complexity_of(TWO, [half], ByQuestion(told), relevance=WordRelevance())
    both = complexity_of(
        TWO, [half, other], ByQuestion({**told, (PARTS[0], other.text): 0.1}), relevance=WordRelevance(), t_com=0.0
    )

    assert (alone.is_complex, alone.complete, alone.answerable) == (False, False, False)
    assert alone.notes[-1] == "no passage answers this part of it: Who designed the tower?"
    assert (both.is_complex, both.complete, both.answerable) == (True, True, False)


def test_where_references_tell_right_answers_a_question_stays_whole() -> None:
    found = complexity_of(TWO, [AUSTEN], ByQuestion({(PARTS[1], AUSTEN.text): 0.1}), references=["1889, Eiffel"])

    assert found.parts == ()
    assert found.max_answer_probability == pytest.approx(0.9)


def test_a_question_with_more_parts_than_a_passage_is_asked_about_stays_whole() -> None:
    many = " ".join(f"Who is person {number} of the club?" for number in range(1, 9))

    assert complexity_of(many, [AUSTEN], ByQuestion({})).parts == ()


def test_thresholds_given_go_before_a_calibration_and_that_before_the_papers() -> None:
    calibration = Calibration(t_ans=0.4, t_com=0.3, name="a few questions")

    def thresholds(**given: float) -> tuple[float, float]:
        found = complexity_of(BORN, [AUSTEN], KeywordScorer(), calibration=calibration, **given)  # type: ignore[arg-type]
        return found.t_ans, found.t_com

    assert thresholds() == (0.4, 0.3)
    assert thresholds(t_ans=0.9) == (0.9, 0.3)
    assert thresholds(t_ans=0.9, t_com=0.0) == (0.9, 0.0)
    plain = complexity_of(BORN, [AUSTEN], KeywordScorer())
    assert (plain.t_ans, plain.t_com, plain.calibration) == (0.15, 0.80, None)


def test_a_question_that_names_no_hops_goes_by_the_threshold_of_such_questions() -> None:
    scorer = ScriptedScorer(default=0.75)
    calibration = Calibration(t_ans=0.86, t_ans_single_hop=0.7)

    hops = complexity_of(BORN, [AUSTEN], scorer, calibration=calibration)
    single = complexity_of("Who wrote Emma?", [AUSTEN], scorer, calibration=calibration)
    given = complexity_of("Who wrote Emma?", [AUSTEN], scorer, calibration=calibration, t_ans=0.8)

    assert [(each.t_ans, each.answerable) for each in (hops, single, given)] == [(0.86, False), (0.7, True), (0.8, False)]


def test_thresholds_fitted_in_another_way_are_noted() -> None:
    calibration = Calibration(references="gold", name="some questions")

    found = complexity_of(BORN, [AUSTEN], KeywordScorer(), relevance=WordRelevance(), calibration=calibration)

    assert found.notes == ("its thresholds were fitted on questions judged with gold answers, and it is judged otherwise",)


def test_a_judge_that_thresholds_ship_for_goes_by_them(monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = Calibration(t_ans=0.7, t_com=0.2, reading="covered", name="shipped")
    monkeypatch.setattr(shipped_calibrations, "load_calibrations", lambda: {"known": {"none/both": shipped}})

    @dataclass(frozen=True)
    class Known(KeywordScorer):
        fingerprint: str = "known"

        token_relevance = WordRelevance.token_relevance
        breaks: str = "no text has this"

    own = complexity_of(BORN, [AUSTEN], Known())
    other_relevance = complexity_of(BORN, [AUSTEN], Known(), relevance=WordRelevance())

    assert (own.t_ans, own.t_com, own.reading, own.calibration) == (0.7, 0.2, "covered", "shipped")
    assert (other_relevance.t_ans, other_relevance.calibration) == (0.15, None)


@pytest.mark.parametrize("name", ["t_ans", "t_com"])
def test_a_threshold_lies_between_0_and_1(name: str) -> None:
    with pytest.raises(InvalidValueError, match=name):
        complexity_of(BORN, [AUSTEN], KeywordScorer(), **{name: 1.5})  # type: ignore[arg-type]


@pytest.mark.parametrize(("constraints", "expected"), [("both", False), ("answerability", True), ("completeness", False)])
def test_ablations_are_one_argument(constraints: Constraints, *, expected: bool) -> None:
    found = complexity_of(BORN, [AUSTEN], ScriptedScorer(), relevance=WordRelevance(), constraints=constraints)

    assert found.is_complex is expected  # nothing answers, and one word of seven is all the passage is about
    assert found.constraints == constraints


def test_a_question_without_words_is_judged_by_answerability() -> None:
    found = complexity_of("?", [AUSTEN], ScriptedScorer(), relevance=WordRelevance(), constraints="completeness")

    assert (found.completeness, found.constraints, found.is_complex) == (None, "answerability", True)
    assert found.notes == ("completeness is not applicable: the question has no words to be about",)


@pytest.mark.parametrize("values", [[[0.5, -1.0]], [[0.5, np.nan]], [[0.5]], [0.5, 0.5]])
def test_a_relevance_model_that_breaks_its_word_is_named(values: list[list[float]]) -> None:
    class Wrong:
        def token_relevance(self, question: str, texts: Sequence[str]) -> TokenRelevance:
            assert question
            assert texts
            return TokenRelevance(("born", "Emma"), np.array(values))

    with pytest.raises(ModelFailedError, match=r"Wrong: token_relevance returned"):
        complexity_of(BORN, [AUSTEN], KeywordScorer(), relevance=Wrong())
