"""The page for people: complete, offline, deterministic, and honest about what is undefined."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from rag_cover.coverage import CoverageResult, Loss, SubQuestionCoverage, Verdict
from rag_cover.coverage.summary import AnswerCounts
from rag_cover.measures import TraceResult
from rag_cover.placeholder import Placeholder
from rag_cover.reports import html, write_comparison, write_report
from rag_cover.summaries import Comparison, Summary

Attributes = dict[str, str | None]


class Page(HTMLParser):
    """A page as a browser would read it: its tags, and its text without markup."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.source, self.tags, self.raw = source, list[tuple[str, Attributes]](), list[str]()
        self.feed(source)
        self.text = " ".join("".join(self.raw).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.raw.append(data)

    def all(self, name: str) -> list[str]:
        return [attributes[name] or "" for _, attributes in self.tags if name in attributes]

    def classed(self, css: str) -> list[Attributes]:
        return [attributes for _, attributes in self.tags if css in (attributes.get("class") or "").split()]


Render = Callable[..., Page]


@pytest.fixture
def render(tmp_path: Path, summary: Summary) -> Render:
    def rendered(results: list[TraceResult], of: Summary = summary, comparison: Comparison | None = None) -> Page:
        write_report(tmp_path / "report.html", results, of, comparison=comparison)
        return Page((tmp_path / "report.html").read_text(encoding="utf-8"))

    return rendered


def test_the_report_opens_with_core_coverage_in_words(render: Render, results: list[TraceResult]) -> None:
    page = render(results)

    assert "Answers cover 54% of the core sub-questions (95% interval 47–61, 18 questions)" in page.text


def test_answers_that_decline_are_told_under_the_losses(render: Render, results: list[TraceResult], summary: Summary) -> None:
    counts = AnswerCounts(20, 20, declined=1, declined_retrieved=1)

    page = render(results, of=replace(summary, answers=counts))

    assert "1 of 20 answers declines to answer: 1 where a retrieved passage covers a core sub-question." in page.text
    assert "to answer" not in render(results).text


def test_where_questions_are_whole_the_first_screen_says_how_to_get_sub_questions(
    render: Render, results: list[TraceResult], summary: Summary
) -> None:
    page = render(results, of=replace(summary, single_sub_questions=1.0))

    assert "Answered: 54% of the questions" in page.text
    assert page.text.index("--sub-questions FILE") < page.text.index("Where it was lost")
    assert not render(results).classed("hint")


def test_a_question_whose_answer_declines_says_so(render: Render, make_result: Callable[..., TraceResult]) -> None:
    result = make_result(answer="I cannot tell you that.")
    assert result.coverage is not None
    refused = tuple(
        replace(each, answer=Verdict(0.1, covered=False, refused=True)) if each.role == "core" else each
        for each in result.coverage.sub_questions
    )
    coverage = replace(result.coverage, sub_questions=refused, abstained="wholly")

    page = render([replace(result, outcomes={"coverage": coverage})])

    assert "declines to answer" in page.text
    assert "The answer declines to answer." in page.text
    assert "declined · 0.10" in page.text


@pytest.mark.parametrize(
    ("lost_by", "is_told"),
    [("heat", True), (None, False), (str(Placeholder("0" * 24, words=1, characters=4)), False)],
)
def test_a_loss_in_a_sub_answer_names_the_engine(
    render: Render, make_result: Callable[..., TraceResult], lost_by: str | None, *, is_told: bool
) -> None:
    result = make_result()
    assert result.coverage is not None
    rows = tuple(
        replace(row, loss=Loss.SUB_ANSWER, lost_by=lost_by) if row.loss is Loss.DROPPED else row
        for row in result.coverage.sub_questions
    )

    page = render([TraceResult(result.trace, {"coverage": replace(result.coverage, sub_questions=rows)})])

    assert "left out of a sub-answer" in page.text
    assert ("left out of a sub-answer by heat" in page.text) == is_told


def test_an_answer_that_repeats_its_question_says_so(render: Render, make_result: Callable[..., TraceResult]) -> None:
    result = make_result()
    assert result.coverage is not None

    page = render([replace(result, outcomes={"coverage": replace(result.coverage, repeats_question=True)})])

    assert "The answer only repeats the question." in page.text


def test_the_policy_allows_exactly_the_inline_style_and_script(render: Render, results: list[TraceResult]) -> None:
    page = render(results)

    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        blocks = re.findall(rf"<{tag}>(.*?)</{tag}>", page.source, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(blocks[0].encode()).digest()).decode()
        assert len(blocks) == 1
        assert f"{directive} 'sha256-{digest}'" in page.all("content")[0]
    assert "default-src 'none'" in page.all("content")[0]
    assert "unsafe" not in page.all("content")[0]


def test_nothing_in_the_report_is_fetched(render: Render, results: list[TraceResult], comparison: Comparison) -> None:
    page = render(results, comparison=comparison)

    assert not page.all("src") + page.all("srcset") + page.all("action") + page.all("data") + page.all("xlink:href")
    assert all(href.startswith("#") for href in page.all("href"))
    assert not {"link", "img", "iframe", "object", "embed", "base", "form"} & {tag for tag, _ in page.tags}
    assert "http:" not in page.source
    assert "https:" not in page.source
    assert "url(" not in page.source
    assert "@import" not in page.source


def test_no_element_carries_style_or_event_attributes(render: Render, results: list[TraceResult]) -> None:
    page = render(results)

    assert not [name for _, attributes in page.tags for name in attributes if name == "style" or name.startswith("on")]


HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)" x=\'',
    "' autofocus onfocus='alert(1)",
    "javascript:alert(1)",
    "<a href='javascript:alert(1)'>here</a>",
    "</title></bdi></details><svg onload=alert(1)>",
    "{{ 7 * 7 }}{% raw %}",
    "<!-- ]]> &lt;b&gt; &#60;script&#62;",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_untrusted_text_is_shown_as_it_is_and_adds_no_markup(
    text: str, render: Render, make_result: Callable[..., TraceResult]
) -> None:
    harmless = render([make_result()])

    page = render([make_result(text, passages=[text, text + ".", text + "!"], answer=f"{text} {text}", title=text)])

    assert {tag for tag, _ in page.tags} == {tag for tag, _ in harmless.tags}
    assert {name for _, given in page.tags for name in given} == {name for _, given in harmless.tags for name in given}
    assert sum(tag == "script" for tag, _ in page.tags) == 1
    assert all(href.startswith("#") for href in page.all("href"))
    assert " ".join(text.split()) in page.text


def test_text_that_reorders_is_shown_by_name_and_isolated(render: Render, make_result: Callable[..., TraceResult]) -> None:
    page = render([make_result("Is \u202egnp.exe safe?\u2069\u202e")])

    assert "<bdi>Is ⟦RLO⟧gnp.exe safe?⟦PDI⟧⟦RLO⟧</bdi>" in page.source
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", page.source)


@pytest.mark.parametrize(
    ("mark", "name"),
    [("\u061c", "ALM"), ("\u200b", "ZWSP"), ("\u200e", "LRM"), ("\u200f", "RLM"), ("\u2028", "U+2028"), ("\ufeff", "U+FEFF")],
)
def test_marks_that_nobody_sees_are_shown_by_name(
    mark: str, name: str, render: Render, make_result: Callable[..., TraceResult]
) -> None:
    page = render([make_result(f"Is pay{mark}pal safe?")])

    assert f"Is pay⟦{name}⟧pal safe?" in page.text
    assert mark not in page.source


def test_what_joins_letters_or_emoji_stays_as_it_is(render: Render, make_result: Callable[..., TraceResult]) -> None:
    joined = "Auf\u200clage 👨\u200d👩\u200d👧"

    assert joined in render([make_result(joined)]).text


def test_control_characters_are_shown_as_symbols(render: Render, make_result: Callable[..., TraceResult]) -> None:
    page = render([make_result("What\x00 is\x1b[31m red\x7f?\x85")])

    assert "What␀ is␛[31m red␡?⟦U+0085⟧" in page.text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", page.source)


def test_a_huge_passage_is_cut_to_its_start_and_the_cut_is_said(
    render: Render, make_result: Callable[..., TraceResult]
) -> None:
    page = render([make_result(passages=["x" * 5_000_000, "second", "third"])])

    assert len(page.source) < 200_000
    assert "[4,998,800 characters not shown]" in page.text


def test_undefined_metrics_give_their_reason_and_no_number(render: Render, results: list[TraceResult]) -> None:
    page = render(results)

    assert "undefined: no answer covers a follow-up sub-question" in page.text
    assert not re.search(r"\b(nan|NaN|None|inf)\b", page.text.split('"use strict"')[0])


def test_without_core_coverage_the_report_opens_with_the_reason(
    render: Render, results: list[TraceResult], summary: Summary
) -> None:
    page = render(results, of=_without(summary, "core_coverage"))

    assert "Core coverage is undefined: it was not measured" in page.text


def test_the_same_results_give_the_same_bytes(tmp_path: Path, results: list[TraceResult], summary: Summary) -> None:
    write_report(tmp_path / "one.html", results, summary)
    write_report(tmp_path / "two.html", results, summary)

    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_of_many_traces_the_worst_are_shown_and_the_report_says_so(
    render: Render, results: list[TraceResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(html, "SHOWN", 2)

    page = render(results)

    assert "Of 3 traces, the 2 with the lowest core coverage are shown, lowest first." in page.text
    assert len(page.classed("question")) == 2
    assert "What is rain?" not in page.text  # nothing was measured of it, so it comes last


def test_every_link_has_its_target_and_no_target_is_double(
    render: Render, results: list[TraceResult], comparison: Comparison
) -> None:
    page = render(results, comparison=comparison)
    targets = page.all("id")

    assert {href[1:] for href in page.all("href")} <= set(targets)
    assert len(targets) == len(set(targets))


def test_the_heat_map_links_one_named_square_per_sub_question(render: Render, make_result: Callable[..., TraceResult]) -> None:
    page = render([make_result()])
    squares = [square for square in page.classed("cell") if "href" in square]

    assert [square["href"] for square in squares] == [f"#q1-s{number}" for number in range(1, 7)]
    assert [(square["class"] or "").split()[1] for square in squares] == [
        "answered", "unused", "dropped", "missing", "memory", "missing",
    ]  # fmt: skip
    assert squares[2]["title"] == "Why is it not violet? — retrieved, then dropped"


def test_a_failed_retrieval_is_told_apart_in_the_heat_map_the_key_and_the_losses(
    render: Render, make_result: Callable[..., TraceResult], summary: Summary
) -> None:
    result = make_result()
    assert result.coverage is not None
    broken = _failed(result, result.coverage)

    page = render([broken], of=replace(summary, losses={Loss.FAILED: 1, **summary.losses}))

    squares = [square for square in page.classed("cell") if "href" in square]
    assert [(square["class"] or "").split()[1] for square in squares][3] == "failed"
    assert squares[3]["title"] == "What do eyes see? — its retrieval failed"
    assert "1 not used · 1 dropped · 1 with failed retrieval" in page.text
    assert any(label.startswith("core: 1 its retrieval failed, 3 not retrieved, 1 re") for label in page.all("aria-label"))
    assert len(page.classed("failed")) == 5  # in the losses' bar and key, the heat map and its key, the list


def test_without_a_failed_retrieval_the_page_is_as_if_there_were_no_such_thing(
    tmp_path: Path, results: list[TraceResult], summary: Summary, comparison: Comparison
) -> None:
    counted = replace(summary, losses={Loss.FAILED: 0, **summary.losses})
    both = replace(comparison, losses_a={Loss.FAILED: 0, **comparison.losses_a}, losses_b={Loss.FAILED: 0})

    write_report(tmp_path / "one.html", results, summary, comparison=comparison)
    write_report(tmp_path / "two.html", results, counted, comparison=both)

    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    assert not Page((tmp_path / "one.html").read_text(encoding="utf-8")).classed("failed")


def test_fragments_carry_the_numbers_of_their_sub_questions(render: Render, make_result: Callable[..., TraceResult]) -> None:
    page = render([make_result()])

    assert '<mark class="answered" data-of="1 5"><bdi>Rayleigh scattering</bdi></mark>' in page.source
    assert '<mark class="dropped" data-of="3"><bdi>Violet is absorbed higher up.</bdi></mark>' in page.source


def test_unsupported_sentences_are_marked_in_words(render: Render, make_result: Callable[..., TraceResult]) -> None:
    page = render([make_result()])

    assert "It was discovered on a Tuesday.unsupported" in page.text
    assert "1 of 2 sentences supported by the prompt (50%)" in page.text


def test_passages_say_what_became_of_them(render: Render, make_result: Callable[..., TraceResult]) -> None:
    page = render([make_result()])

    assert page.text.count("dropped by step-2 (rerank)") == 1
    assert len(page.classed("passage")) == 3  # each text once, by number afterwards
    assert len(page.classed("again")) == 4


def test_what_was_not_measured_is_said_with_its_reasons(render: Render, results: list[TraceResult]) -> None:
    page = render(results)

    assert "1 × timeout: no reply in 60 s" in page.text
    assert "groundedness: failed, timeout: no reply in 60 s" in page.text
    assert "coverage: not applicable, the trace has no answer and no steps" in page.text


def test_an_evaluation_without_traces_still_makes_a_report(render: Render, summary: Summary) -> None:
    page = render([], of=_without(summary, *summary.metrics))

    assert "0 traces" in page.text


def test_a_comparison_says_which_side_is_better_and_whether_that_is_clear(tmp_path: Path, comparison: Comparison) -> None:
    write_comparison(tmp_path / "comparison.html", comparison)
    page = Page((tmp_path / "comparison.html").read_text(encoding="utf-8"))

    assert "after covers 60% of the core sub-questions, before 40% (+20.0 points, p = 0.010, 9 questions)" in page.text
    assert [verdict["class"] for verdict in page.classed("verdict")] == [
        "verdict better", "verdict worse", "verdict unclear", "verdict undefined",
    ]  # fmt: skip
    assert "+ gained Why is the sunset red?" in page.text
    assert "1 only in before, left out" in page.text


def test_a_report_with_a_comparison_says_its_sentence_too(
    render: Render, results: list[TraceResult], comparison: Comparison
) -> None:
    page = render(results, comparison=comparison)

    assert "after covers 60% of the core sub-questions, before 40% (+20.0 points, p = 0.010, 9 questions)." in page.text


def test_the_key_of_a_comparison_explains_what_only_one_side_lost(tmp_path: Path, comparison: Comparison) -> None:
    one_sided = replace(comparison, losses_b={Loss.FAILED: 2, Loss.UNUSED: 1})

    write_comparison(tmp_path / "comparison.html", one_sided)

    page = Page((tmp_path / "comparison.html").read_text(encoding="utf-8"))
    swatches = [(swatch["class"] or "").split()[1] for swatch in page.classed("swatch")]
    assert swatches == ["failed", "missing", "dropped", "unused"]
    assert [segment["width"] for segment in page.classed("segment") if segment["class"] == "segment failed"] == [
        "0.00%", "66.67%",
    ]  # fmt: skip


def test_no_template_switches_escaping_off() -> None:
    templates = [path.read_text() for path in Path(html.__file__).parent.joinpath("templates").iterdir()]

    assert templates
    assert not [text for text in templates if re.search(r"\|\s*safe|autoescape", text)]


def _failed(result: TraceResult, coverage: CoverageResult) -> TraceResult:
    def broken(row: SubQuestionCoverage) -> SubQuestionCoverage:
        return replace(row, loss=Loss.FAILED) if row.text == "What do eyes see?" else row

    rows = tuple(map(broken, coverage.sub_questions))
    return replace(result, outcomes={**result.outcomes, "coverage": replace(coverage, sub_questions=rows)})


def _without(summary: Summary, *names: str) -> Summary:
    return Summary(
        traces=0,
        questions=0,
        pipelines=(),
        judge=summary.judge,
        metrics={name: metric for name, metric in summary.metrics.items() if name not in names},
        scenarios={},
        losses={},
        outcomes={},
        notes=(),
    )
