"""How hard questions are, on the page and in the terminal: readable, honest, and safe with foreign texts."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console, RenderableType

from rag_cover.backends import Failure
from rag_cover.complexity import Complexity, DocumentEvidence, Standing
from rag_cover.measures import NotApplicable, TraceResult
from rag_cover.questions import Passage, Question
from rag_cover.reports import complexity_panel, hardest_table, summary_panel, write_report
from rag_cover.reports.complexity_text import hardest, standing_sentence
from rag_cover.summaries import Summary, summarise
from rag_cover.traces import RetrievalStep, Trace

FILM, LEAH = Passage("Spielberg directed Jaws.", id="film"), Passage("Leah is his mother.", id="leah")
ALONE = "No single passage answers it (the best with P = 0.10, where 0.30 is enough)"
ASKED = "Who is the mother of the director of Jaws?"


def _complexity(best: float, completeness: float | None = 0.9) -> Complexity:
    documents = (
        DocumentEvidence(FILM.key, best, (0.1, 0.9, 0.6), 0.8),
        DocumentEvidence(LEAH.key, None, failure=Failure("timeout", "no reply")),
    )
    complete = None if completeness is None else completeness >= 0.8
    answerable = best >= 0.3
    return Complexity(
        best,
        answerable,
        completeness,
        complete,
        not answerable and complete is not False,
        0.3,
        0.8,
        probability=0.75,
        tokens=("mother", "director", "Jaws"),
        documents=documents,
        notes=("1 of 2 documents could not be judged and count in nothing",),
    )


def _result(complexity: Complexity, question: str = ASKED) -> TraceResult:
    steps = (RetrievalStep(passages=(FILM, LEAH)),)
    return TraceResult(Trace(question=Question(question), steps=steps), {"complexity": complexity})


@pytest.fixture
def measured() -> list[TraceResult]:
    unmeasured = TraceResult(Trace(question="What?"), {"complexity": NotApplicable("complexity needs retrieval steps")})
    return [_result(_complexity(0.9), "Who directed Jaws?"), _result(_complexity(0.05)), unmeasured]


@pytest.fixture
def page_of(tmp_path: Path) -> Callable[..., str]:
    def written(results: list[TraceResult]) -> str:
        write_report(tmp_path / "page.html", results, _summary(results))
        return (tmp_path / "page.html").read_text(encoding="utf-8")

    return written


def _summary(results: list[TraceResult]) -> Summary:
    return summarise(results, judge="a judge")


def printed(renderable: RenderableType, *, width: int = 80) -> str:
    out = io.StringIO()
    Console(file=out, width=width, no_color=True).print(renderable)
    return out.getvalue()


def words(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


def test_the_panel_says_where_the_questions_stand(measured: list[TraceResult]) -> None:
    shown = words(printed(complexity_panel(_summary(measured))))

    assert "A single passage answers 50% of the questions (95% interval 0–100, 2 questions)" in shown
    assert "Of 2 questions, a single passage answers 1; 1 is complex." in shown
    assert "multi-hop 100% no interval 0% 1" in shown
    assert "Not measured: 1 question, complexity needs retrieval steps" in shown


def test_the_bar_tells_standings_apart_without_colour(measured: list[TraceResult]) -> None:
    shown = printed(complexity_panel(_summary(measured)))

    assert "█" * 16 + "▒" * 16 in shown


def test_without_a_measured_question_the_panel_says_why(measured: list[TraceResult]) -> None:
    shown = words(printed(complexity_panel(_summary(measured[2:]))))

    assert "Retrieval complexity is undefined: complexity needs retrieval steps" in shown


def test_the_summary_of_an_evaluation_has_one_line_on_complexity(measured: list[TraceResult]) -> None:
    shown = words(printed(summary_panel(_summary(measured))))

    assert shown.startswith("╭─ rag_cover")
    assert "Of 3 traces, " not in shown
    assert "Of 2 traces, a single passage answers 1; 1 is complex." in shown


def test_everything_fits_80_columns(measured: list[TraceResult]) -> None:
    for shown in (printed(complexity_panel(_summary(measured))), printed(hardest_table(measured))):
        assert max(map(len, shown.splitlines())) <= 80


def test_the_hardest_questions_come_first_with_their_kinds(measured: list[TraceResult]) -> None:
    shown = words(printed(hardest_table(measured)))

    assert shown.index("0.05 0.90 Who is the mother of the director of Jaws? complex multi-hop") < shown.index(
        "0.90 0.90 Who directed"
    )


def test_equally_hard_questions_keep_their_order() -> None:
    results = [_result(_complexity(0.1), f"Question {number}?") for number in range(5)]

    assert hardest(results, limit=3) == results[:3]


def test_only_what_stands_where_it_should_is_listed(measured: list[TraceResult]) -> None:
    shown = printed(hardest_table(measured, only=Standing.UNANSWERABLE))

    assert shown.strip() == "No question is unanswerable."


def test_escape_sequences_in_questions_do_nothing() -> None:
    shown = printed(hardest_table([_result(_complexity(0.1), "Who\x1b[31m is [bold]he[/bold]?")]))

    assert "\x1b" not in shown
    assert "[bold]he[/bold]" in shown


@pytest.mark.parametrize(
    ("complexity", "said"),
    [
        (_complexity(0.9), "A single passage answers it: the best with P = 0.90, and 0.30 is enough."),
        (
            _complexity(0.1),
            f"{ALONE}, though between them they are about all of it (completeness 0.90, where 0.80 is enough).",
        ),
        (
            _complexity(0.1, 0.2),
            f"{ALONE}, nor are they about all of it (completeness 0.20, where 0.80 is enough).",
        ),
        (
            replace(_complexity(0.1, 0.2), constraints="answerability", is_complex=True),
            f"{ALONE}.",
        ),
        (
            replace(_complexity(0.1, 0.2), constraints="completeness", is_complex=False),
            "The passages are not about all of it (completeness 0.20, where 0.80 is enough), which alone decides here.",
        ),
        (replace(_complexity(0.1), max_answer_probability=None), "Nothing was retrieved, so nothing answers it."),
    ],
)
def test_a_question_s_standing_is_said_with_the_figures_that_decided_it(complexity: Complexity, said: str) -> None:
    assert standing_sentence(complexity) == said


def test_the_page_shows_what_each_passage_says_of_the_question(
    page_of: Callable[..., str], measured: list[TraceResult]
) -> None:
    page = page_of(measured)

    evidence = page.partition('<section class="evidence">')[2].partition("</section>")[0]
    assert "P(complex) = 0.75 · judged without references" in evidence
    assert '<span class="word w0" title="0.10"><bdi>mother</bdi></span>' in evidence
    assert '<span class="word w3" title="0.90"><bdi>director</bdi></span>' in evidence
    assert "not judged: <bdi>timeout: no reply</bdi>" in evidence
    assert 'href="#q1-p1"' in evidence


def test_relevance_that_is_no_probability_is_shaded_by_the_greatest(page_of: Callable[..., str]) -> None:
    documents = (DocumentEvidence(FILM.key, 0.1, (40.0, 4.0)),)

    page = page_of([_result(replace(_complexity(0.1), tokens=("most", "less"), documents=documents))])

    assert 'class="word w3" title="40.00"' in page
    assert 'class="word w0" title="4.00"' in page


def test_a_page_about_complexity_alone_opens_with_it_and_lists_the_hardest_first(
    page_of: Callable[..., str], measured: list[TraceResult]
) -> None:
    page = page_of(measured)

    assert "A single passage answers <strong>50%</strong> of the questions" in page
    assert "3 traces, hardest first." in page
    assert page.index(f"<bdi>{ASKED}</bdi>") < page.index("<bdi>Who directed Jaws?</bdi>") < page.index("<bdi>What?</bdi>")
    assert "Core answered" not in page


def test_a_page_about_coverage_has_a_tile_and_a_card_on_complexity(
    page_of: Callable[..., str], make_result: Callable[..., TraceResult]
) -> None:
    covered = make_result()
    both = TraceResult(covered.trace, {**covered.outcomes, "complexity": _complexity(0.9)})

    page = page_of([both])

    assert "Questions a single passage answers" in page.partition('class="tiles"')[2].partition("</ul>")[0]
    assert "How hard the questions are for this retrieval" in page
    assert "How hard it is for this retrieval" in page


def test_a_page_without_complexity_does_not_speak_of_it(
    page_of: Callable[..., str], make_result: Callable[..., TraceResult]
) -> None:
    assert "how hard" not in page_of([make_result()]).lower()


def test_foreign_texts_add_no_markup(page_of: Callable[..., str]) -> None:
    documents = (
        DocumentEvidence(FILM.key, 0.1, (0.5,)),
        DocumentEvidence(LEAH.key, None, failure=Failure("<b>x</b>", "<script>y</script>")),
    )
    hostile = replace(_complexity(0.1), tokens=("<img src=x>",), documents=documents, calibration="<i>mine</i>")

    page = page_of([_result(hostile)])

    assert not [tag for tag in ("<img src=x>", "<script>y", "<b>x</b>", "<i>mine</i>") if tag in page]
    assert "&lt;img src=x&gt;" in page
