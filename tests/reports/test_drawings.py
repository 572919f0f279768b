"""Drawings for a notebook: SVG of its own, and a sentence where there is nothing to draw."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree import ElementTree as ET

from rag_cover import Models, Passage, Question, RetrievalStep, SubQuestion, Trace, compare, evaluate
from rag_cover.evaluation import Evaluation
from rag_cover.measures import TraceResult
from rag_cover.testing import KeywordScorer


def _evaluate(answer: str, pipeline: str = "<b>&") -> Evaluation:
    asked = (SubQuestion("red paint", role="core"), SubQuestion("blue paint", role="core"))
    step = RetrievalStep(passages=(Passage("red paint"),))
    trace = Trace(question=Question("What?"), answer=answer, steps=(step,), sub_questions=asked, pipeline=pipeline)
    return evaluate([trace], measures=["coverage"], models=Models(judge=KeywordScorer()))


def test_losses_are_an_accessible_picture() -> None:
    drawing = _evaluate("nothing").plot_losses()

    for text in (str(drawing), drawing._repr_html_(), drawing._repr_svg_() or ""):
        picture = ET.fromstring(text)  # noqa: S314  # our own
        assert picture.get("role") == "img"
        assert picture.findtext("{http://www.w3.org/2000/svg}title") == "Where core sub-questions were lost"
        assert "in the prompt, not used: 2" in (picture.findtext("{http://www.w3.org/2000/svg}desc") or "")


def test_nothing_lost_is_a_sentence() -> None:
    drawing = _evaluate("red paint, blue paint").plot_losses()

    assert "no core sub-question is known to be lost" in str(drawing)
    assert drawing._repr_svg_() is None


def test_no_utility_is_a_sentence_that_says_why() -> None:
    drawing = _evaluate("red paint").plot_utility()

    assert "utility was not measured" in drawing._repr_html_()


def test_utilities_are_drawn_by_their_size(make_utility: Callable[..., TraceResult]) -> None:
    trace = Trace(question=Question("Is it?", references=("Yes",)), id="t", steps=(RetrievalStep(passages=(Passage("It."),)),))

    drawing = Evaluation((make_utility(trace, 0.25, 0.5),), "none", ("utility",)).plot_utility()

    assert "1 trace" in drawing.words
    assert "<rect" in str(drawing)


def test_two_pipelines_are_drawn_and_their_names_escaped() -> None:
    drawing = compare(_evaluate("red paint"), _evaluate("nothing")).plot_comparison()

    assert ET.fromstring(str(drawing)).get("role") == "img"  # noqa: S314  # our own
    assert "<b>" not in str(drawing)
    assert "1 question" in drawing.title


def test_a_long_label_is_cut_to_its_room_and_whole_in_its_title() -> None:
    drawing = str(compare(_evaluate("red paint"), _evaluate("nothing")).plot_comparison())

    picture = ET.fromstring(drawing)  # noqa: S314  # our own
    labels = [each for each in picture.iter("{http://www.w3.org/2000/svg}text") if each.get("text-anchor") == "end"]
    shown = ["".join(each.itertext()).removeprefix(each[0].text or "") for each in labels]
    assert max(map(len, shown)) <= 32
    assert any(text.endswith("…") for text in shown)
