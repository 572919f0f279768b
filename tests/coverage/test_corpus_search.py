"""What was not retrieved is looked for in the corpus, and only that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from rag_cover import Evaluation, Models, Passage, Question, Redaction, RetrievalStep, SubQuestion, Trace, compare, evaluate
from rag_cover.backends import ScoringItem
from rag_cover.coverage import CorpusSearch, CoverageResult, Loss, SubQuestionCoverage
from rag_cover.coverage.explanations import explain_coverage
from rag_cover.errors import InputError, InvalidValueError
from rag_cover.reports.corpus_searches import corpus_search_views
from rag_cover.reports.loss_text import corpus_sentence
from rag_cover.reports.sub_question_state import describe_state
from rag_cover.testing import KeywordScorer, ScriptedRetriever

SKY, GRASS, SEA = "Why is the sky blue?", "Why is grass green?", "Why is the sea salty?"
QUESTION = "Why is the sky blue and the rest otherwise?"
FOUND, GREEN, OTHER = Passage("Sky blue: air."), Passage("Grass is green by chlorophyll."), Passage("Nothing of it.")


def _trace(*found: Passage, answer: str | None = "Sky is blue, air.") -> Trace:
    return Trace(
        question=Question(QUESTION),
        sub_questions=(SubQuestion(SKY, role="core"), SubQuestion(GRASS, role="core"), SubQuestion(SEA, role="background")),
        steps=(RetrievalStep(passages=found or (FOUND,)),),
        prompt=found or (FOUND,),
        answer=answer,
    )


def _evaluate(corpus: Any, *traces: Trace, **options: Any) -> Evaluation:
    return evaluate(traces or [_trace()], models=Models(judge=KeywordScorer()), measures=["coverage"], corpus=corpus, **options)


def _grass(evaluation: Evaluation) -> SubQuestionCoverage:
    coverage = evaluation.results[0].coverage
    assert coverage is not None
    return coverage.sub_questions[1]


def _remedy(found: SubQuestionCoverage) -> str | None:
    return found.corpus.remedy if found.corpus else None


def test_what_the_corpus_does_not_say_is_told_with_the_nearest_passages() -> None:
    grass = _grass(_evaluate(ScriptedRetriever(default=(OTHER, FOUND))))

    assert grass.loss is Loss.NOT_IN_CORPUS
    assert grass.corpus is not None
    assert grass.corpus.covering is None
    assert [passage.text for passage in grass.corpus.passages] == [OTHER.text, FOUND.text]


@dataclass(frozen=True)
class Doubtful(KeywordScorer):
    """Takes one text for an answer with a probability of its own."""

    probability: float = 0.4

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        found = super().correctness(items)
        return np.where([item.text == OTHER.text for item in items], np.float32(self.probability), found)


@dataclass(frozen=True)
class Agreeing(ScriptedRetriever):
    """Tells from which score its ways of searching agree."""

    agreed_score: float = 0.9


@pytest.mark.parametrize(("agreed_score", "probability", "clear"), [(0.9, 0.4, False), (0.9, 0.05, True), (1.1, 0.4, True)])
def test_that_the_corpus_lacks_it_is_unclear_where_ways_of_searching_agree_on_a_passage_that_may_say_it(
    agreed_score: float, probability: float, *, clear: bool
) -> None:
    corpus = Agreeing(default=(OTHER.model_copy(update={"score": 1.0}), FOUND), agreed_score=agreed_score)

    found = evaluate([_trace()], models=Models(judge=Doubtful(probability=probability)), measures=["coverage"], corpus=corpus)

    grass = _grass(found)
    assert (grass.loss, grass.is_loss_clear) == (Loss.NOT_IN_CORPUS, clear)
    assert CoverageResult.from_dict(found.results[0]["coverage"].to_dict()).sub_questions[1] == grass
    (view,) = corpus_search_views([(1, grass)])
    unclear = "Unclear whether it is in the corpus: the likeliest passage covers it with 0.40"
    assert (describe_state(grass), view.said) == (
        ("not in the corpus", "Not in the corpus") if clear else ("not answered; where it was lost is unclear", unclear)
    )


@pytest.mark.parametrize(
    ("by_question", "remedy", "rank"),
    [((FOUND,), "query", None), ((OTHER, GREEN), "k", 2), ((GREEN, OTHER), "retriever", 1)],
)
def test_what_the_corpus_says_is_told_with_what_would_have_brought_it(
    by_question: tuple[Passage, ...], remedy: str, rank: int | None
) -> None:
    grass = _grass(_evaluate(ScriptedRetriever({GRASS: (OTHER, GREEN), QUESTION: by_question})))

    assert grass.loss is Loss.NOT_RETRIEVED
    assert _remedy(grass) == remedy
    assert grass.corpus is not None
    assert grass.corpus.covering is not None
    assert (grass.corpus.covering.rank, grass.corpus.covering.question_rank) == (2, rank)


def test_only_core_parts_that_were_not_retrieved_are_searched_for_and_each_once() -> None:
    retriever = ScriptedRetriever(default=(OTHER,))

    _evaluate(retriever, _trace(), _trace(GREEN), _trace().model_copy(update={"id": "again"}))

    assert sorted(retriever.queries) == sorted([GRASS, QUESTION])


def test_a_search_that_fails_leaves_the_loss_as_it_was_and_is_counted() -> None:
    evaluation = _evaluate(ScriptedRetriever(default=TimeoutError("60 s")))
    grass, counts = _grass(evaluation), evaluation.summary().corpus

    assert grass.loss is Loss.NOT_RETRIEVED
    assert grass.corpus == CorpusSearch(error="TimeoutError: 60 s")
    assert counts is not None
    assert (counts.searched, counts.failed, counts.absent) == (1, 1, 0)


def test_without_a_corpus_nothing_is_said_of_it() -> None:
    evaluation = _evaluate(None)

    assert _grass(evaluation).loss is Loss.NOT_RETRIEVED
    assert _grass(evaluation).corpus is None
    assert evaluation.summary().corpus is None
    assert corpus_sentence(None) == ""


def test_an_answer_that_is_missing_is_no_reason_to_search() -> None:
    retriever = ScriptedRetriever(default=(OTHER,))

    _evaluate(retriever, _trace(answer=None))

    assert retriever.queries == []


def test_passages_and_their_file_are_indexed(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    (tmp_path / "corpus.jsonl").write_text('{"text": "Grass is green by chlorophyll."}\n{"text": "Nothing of it."}\n')

    for corpus in ([GREEN, OTHER], tmp_path / "corpus.jsonl", str(tmp_path / "corpus.jsonl")):
        assert _grass(_evaluate(corpus)).loss is Loss.NOT_RETRIEVED
    assert _grass(_evaluate([OTHER])).loss is Loss.NOT_IN_CORPUS
    with pytest.raises(InputError, match="no such file"):
        _evaluate(tmp_path / "none.jsonl")
    with pytest.raises(InvalidValueError, match="corpus is a retriever"):
        _evaluate(7)


def test_it_is_kept_redacted_summed_up_compared_and_reported(tmp_path: Path) -> None:
    absent = _evaluate(ScriptedRetriever(default=(OTHER,)), store=tmp_path / "run.sqlite")
    again = Evaluation.open(tmp_path / "run.sqlite")
    there = _evaluate(ScriptedRetriever({GRASS: (GREEN,), QUESTION: (OTHER, GREEN)}))

    assert _grass(again) == _grass(absent)
    assert CoverageResult.from_dict(absent.results[0]["coverage"].to_dict()) == absent.results[0].coverage
    assert absent.summary().losses[Loss.NOT_IN_CORPUS] == 1
    pd = pytest.importorskip("pandas")
    frame = there.to_dataframe()
    assert frame["corpus_remedy"].dropna().tolist() == ["k"]
    assert pd.isna(frame["corpus_remedy"].iloc[0])
    assert compare(absent, there).losses_b[Loss.NOT_RETRIEVED] == 1
    for evaluation, said in ((absent, "not in the corpus"), (there, "a larger k would have brought")):
        evaluation.to_html(tmp_path / "page.html")
        assert said in (tmp_path / "page.html").read_text()
        coverage = evaluation.results[0].coverage
        assert coverage is not None
        assert said.removesuffix(" would have brought") in explain_coverage(coverage, evaluation.results[0].trace)
    hidden = _grass(_evaluate(ScriptedRetriever(default=(OTHER,)), redact=Redaction(b"k" * 32)))
    assert hidden.corpus is not None
    assert OTHER.text not in str(hidden.corpus)
