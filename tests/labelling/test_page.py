"""The page in a real browser: keys, speed, accessibility, hostile texts. Skipped where there is no Chromium."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rag_cover.evaluation import Evaluation
from rag_cover.labelling import find_out
from rag_cover.labelling.views import findings_sentences
from rag_cover.stores import read_corrections, read_label_file
from tests.labelling.conftest import OpenPage, OpenSession, Page

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra dev)")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]

SCHEMES = ("light", "dark")
WIDTHS = (1000, 360)
OpenTab = Callable[..., Any]

_TIMED = """async (key) => {
  const before = document.getElementById("progress").textContent;
  const start = performance.now();
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  while (document.getElementById("progress").textContent === before) await new Promise(requestAnimationFrame);
  return performance.now() - start;
}"""


@pytest.fixture
def open_tab(browser: Any) -> Iterator[OpenTab]:
    """Open the page's address in a window of its own; what goes wrong in it, or leaves the machine, fails the test."""
    contexts, problems = [], []

    def opened(page: Page, **options: Any) -> Any:
        context = browser.new_context(**options)
        contexts.append(context)
        tab = context.new_page()
        tab.set_default_timeout(10_000)
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        home = f"http://127.0.0.1:{page.port}/"
        tab.on("request", lambda request: None if request.url.startswith(home) else problems.append(request.url))
        tab.goto(page.address)
        tab.wait_for_selector("#verdict:not([hidden])")
        return tab

    yield opened
    for context in contexts:
        context.close()
    assert problems == []


def _press(tab: Any, key: str) -> None:
    """Press a key and wait until the page has answered."""
    before = tab.text_content("#progress")
    tab.keyboard.press(key)
    tab.wait_for_function("before => document.getElementById('progress').textContent !== before", arg=before)


def test_the_address_in_the_browser_does_not_keep_the_token(page: Page, open_tab: OpenTab) -> None:
    tab = open_tab(page)

    assert tab.url == f"http://127.0.0.1:{page.port}/"
    assert tab.evaluate("document.cookie") == ""


def test_verdicts_are_labelled_by_keys_alone(page: Page, open_tab: OpenTab) -> None:
    tab = open_tab(page)

    for key in "ynps":
        _press(tab, key)
    _press(tab, "u")
    _press(tab, "y")

    said = [(label.label, label.partly, label.skipped) for label in read_label_file(page.labels)]
    plain = [(True, False, False), (False, False, False), (False, True, False), (None, False, True)]
    assert [each for each in said if each[0] is not None or each[2]][:4] == plain
    assert said[-1] == (True, False, False)
    assert tab.text_content("#progress").startswith("ada: 4 labels")
    assert "Saved: yes." in tab.text_content("#status")


def test_a_key_leads_to_the_next_verdict_within_150_ms(page: Page, open_tab: OpenTab) -> None:
    tab = open_tab(page)

    times = [tab.evaluate(_TIMED, "ynp"[number % 3]) for number in range(25)]

    assert statistics.median(times) <= 150, times


def test_a_sub_question_is_corrected_without_a_mouse(page: Page, open_tab: OpenTab) -> None:
    tab = open_tab(page)

    tab.keyboard.press("e")
    tab.keyboard.press("ControlOrMeta+A")
    tab.keyboard.type("you and no key labels?")
    tab.keyboard.press("Tab")
    tab.keyboard.press("f")  # follow-up
    tab.keyboard.press("Control+Enter")
    tab.wait_for_function("() => document.getElementById('facet').textContent === 'you and no key labels?'")

    (correction,) = read_corrections(page.labels)
    assert (correction.text, correction.role) == ("you and no key labels?", "follow-up")
    assert read_label_file(page.labels) == ()
    tab.wait_for_function("() => document.activeElement.id === 'edit-open'")


def test_escape_leaves_the_correction_unsaved(page: Page, open_tab: OpenTab) -> None:
    tab = open_tab(page)

    tab.keyboard.press("e")
    tab.keyboard.type("nothing of this")
    tab.keyboard.press("Escape")

    assert not tab.is_visible("#edit")
    assert not page.labels.exists()


def test_single_keys_can_be_turned_off(page: Page, open_tab: OpenTab) -> None:
    tab = open_tab(page)

    tab.uncheck("#shortcuts")
    tab.keyboard.press("y")
    tab.click("[data-grade=no]")
    tab.wait_for_function("() => document.getElementById('progress').textContent.includes('1 label')")

    assert [label.label for label in read_label_file(page.labels)] == [False]


def test_hostile_texts_are_shown_as_text(page: Page, open_tab: OpenTab) -> None:
    tab = open_tab(page)

    tab.keyboard.press("m")

    assert "<script>document.title='owned'</script>" in tab.text_content("#verdict")
    assert tab.title() == "Label verdicts · rag_cover"
    assert tab.evaluate("document.querySelectorAll('article img, article script, article b').length") == 0


def test_after_ten_labels_it_says_what_they_tell(page: Page, open_tab: OpenTab) -> None:
    tab = open_tab(page)

    for _ in range(10):
        _press(tab, "y")
    tab.wait_for_function("() => document.getElementById('findings').textContent.includes('judge alone says')")

    assert "The judge agrees with" in tab.text_content("#findings")


def test_after_the_last_verdict_it_says_what_all_labels_tell(
    open_session: OpenSession, open_page: OpenPage, open_tab: OpenTab, evaluation: Evaluation
) -> None:
    session = open_session()
    while draw := session.next():
        session.say(draw.key, "yes" if session.answered else "skip")  # so that the last label is no tenth one
    session.undo()
    tab = open_tab(open_page(session.path))

    _press(tab, "n")

    assert session.counts()[0] % 10 != 9
    assert tab.text_content("#task") == "Every verdict worth a label has one."
    said = findings_sentences(find_out(evaluation, session.items.values(), session.path))
    shown = "said => [...document.querySelectorAll('#findings li')].map(each => each.textContent).join() === said"
    tab.wait_for_function(shown, arg=",".join(said))


def test_a_server_that_is_gone_is_told_and_nothing_is_pretended(page: Page, browser: Any) -> None:
    context = browser.new_context()
    tab = context.new_page()
    tab.goto(page.address)
    tab.wait_for_selector("#verdict:not([hidden])")

    page.kill()
    tab.keyboard.press("y")
    tab.wait_for_selector("#problem:not([hidden])")

    assert "Nothing was saved by this key." in tab.text_content("#problem")
    context.close()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_no_violation(open_page: OpenPage, open_tab: OpenTab, tmp_path: Path, scheme: str, width: int) -> None:
    axe_module = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python (extra dev)")
    labels = tmp_path / "run.labels.jsonl"
    ada, bob = open_page(labels), open_page(labels, "--annotator", "bob")
    looks = {"color_scheme": scheme, "viewport": {"width": width, "height": 800}, "bypass_csp": True}
    tabs = [open_tab(each, **looks) for each in (ada, bob)]
    for tab, keys in zip(tabs, ("yyyyyyyyyyy", "ynynynynyny"), strict=True):
        for key in keys:
            _press(tab, key)
    tab = tabs[0]
    tab.wait_for_function("() => document.getElementById('findings').textContent.includes('judge alone says')")
    axe = axe_module.Axe()

    found = {"label": axe.run(tab).response["violations"]}
    tab.keyboard.press("m")
    tab.keyboard.press("e")
    found["edit"] = axe.run(tab).response["violations"]
    tab.goto(f"http://127.0.0.1:{ada.port}/annotators")
    tab.wait_for_selector("#disagreements .card")
    found["annotators"] = axe.run(tab).response["violations"]

    assert [(where, each["id"]) for where, violations in found.items() for each in violations] == []
    assert tab.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


def test_disagreements_are_settled_by_keys(open_page: OpenPage, open_tab: OpenTab, tmp_path: Path) -> None:
    labels = tmp_path / "run.labels.jsonl"
    ada, bob = open_page(labels), open_page(labels, "--annotator", "bob")
    for each, keys in ((ada, "yyyy"), (bob, "nnyy")):
        tab = open_tab(each)
        for key in keys:
            _press(tab, key)
    tab = open_tab(ada)
    tab.goto(f"http://127.0.0.1:{ada.port}/annotators")
    tab.wait_for_selector("#disagreements .card")

    tab.keyboard.press("j")
    tab.keyboard.press("n")
    tab.wait_for_function("() => document.getElementById('left').textContent.startsWith('1 of 2')")

    assert [label.label for label in read_label_file(labels) if label.adjudicated] == [False]
    assert "ada and bob" in tab.text_content("#kappa")
