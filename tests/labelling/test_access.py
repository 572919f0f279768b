"""Who may use the page, over real HTTP: everybody else is refused, whatever they send."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_cover.labelling.access import LARGEST_BODY, MOST_GUESSES, Access
from tests.labelling.conftest import HOSTILE, OpenPage, Page


@pytest.fixture(scope="module")
def shared(open_page: OpenPage) -> Iterator[Page]:
    """Start one page for the tests that change nothing."""
    started = open_page()
    started.sign_in()
    yield started
    started.close()


def test_the_token_is_exchanged_for_a_cookie_that_no_script_and_no_other_site_can_use(shared: Page) -> None:
    reply = shared.get(f"/?token={shared.token}", cookie=None)

    assert (reply.status, reply.headers["location"]) == (303, "/")
    assert "; HttpOnly; SameSite=Strict; Path=/" in reply.headers["set-cookie"]
    assert shared.token not in reply.headers["set-cookie"]
    assert shared.get("/").status == 200


@pytest.mark.parametrize("path", ["/", "/annotators", "/api/next", "/static/label.js", "/export/labels.csv", "/no/such"])
def test_nothing_is_shown_without_the_cookie(shared: Page, path: str) -> None:
    for cookie in (None, "", f"rag_cover_label_{shared.port}=guess", "rag_cover_label_1=x", "a;;=b\x7f"):
        reply = shared.get(path, cookie=cookie)

        assert reply.status == 403
        assert b"sky" not in reply.body


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "[::1]:80", "127.0.0.1.evil.example", "", None])
def test_another_host_name_is_refused(shared: Page, host: str | None) -> None:
    for path in ("/", "/api/next", f"/?token={shared.token}"):
        reply = shared.get(path, host=host)

        assert reply.status in (400, 403)
        assert b"sky" not in reply.body
        assert "set-cookie" not in reply.headers


def test_the_page_answers_to_localhost_as_well(shared: Page) -> None:
    assert shared.get("/", host=f"localhost:{shared.port}").status == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1", "", None])
def test_a_change_that_another_site_asks_for_is_refused(shared: Page, origin: str | None) -> None:
    said = origin and origin.format(port=shared.port)

    for path in ("/api/label", "/api/undo", "/api/correct", "/api/adjudicate"):
        assert shared.post(path, {"key": "x", "grade": "yes"}, origin=said).status == 403
    assert not shared.labels.exists()


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_another_site_embeds_is_refused(shared: Page, site: str) -> None:
    assert shared.get("/api/next", sec_fetch_site=site, sec_fetch_mode="no-cors").status == 403
    assert shared.get("/api/next", origin="http://evil.example").status == 403
    assert shared.post("/api/undo", {}, sec_fetch_site=site, sec_fetch_mode="navigate").status == 403


def test_a_form_of_another_kind_than_json_is_refused(shared: Page) -> None:
    assert shared.post("/api/undo", {}, content_type="text/plain").status == 415


@pytest.mark.parametrize(
    "path",
    [
        "/static/../access.py",
        "/static/%2e%2e/%2e%2e/errors.py",
        "/static/..%2f..%2ferrors.py",
        "//etc/passwd",
        "/static//etc/passwd",
        "/export/../../etc/passwd",
        "/export/..%2f..%2fetc%2fpasswd",
        "/export/labels.jsonl%00.csv",
        "/static/label.html",
    ],
)
def test_a_path_out_of_the_page_leads_nowhere(shared: Page, path: str) -> None:
    reply = shared.get(path)

    assert reply.status == 404
    assert b"import" not in reply.body


def test_a_body_that_is_too_large_is_refused_whatever_it_says_of_its_length(shared: Page) -> None:
    large = b'{"key": "' + b"x" * (2 * LARGEST_BODY) + b'"}'

    assert shared.request("POST", "/api/label", body=large).status == 413
    assert shared.request("POST", "/api/label", body=b"", content_length="99999999999999999999").status == 413
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(large), large)
    assert shared.request("POST", "/api/label", body=chunked, transfer_encoding="chunked").status == 413
    assert shared.get("/api/next").status == 200


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[" * 60_000, "not JSON"),
        (b"[1]", "no JSON object"),
        (b'{"grade": "yes"}', "'key' must be a text"),
        (b'{"key": "nobody", "grade": "yes"}', "no such verdict"),
        (b'{"key": "nobody", "grade": "maybe"}', "'maybe' is no grade"),
        (b'{"key": 4, "grade": "yes"}', "'key' must be a text"),
    ],
)
def test_a_label_that_is_none_is_refused_with_the_reason(shared: Page, body: bytes, why: str) -> None:
    reply = shared.request("POST", "/api/label", body=body)

    assert reply.status == 400
    assert why in reply.json["error"]


def test_every_answer_forbids_what_the_page_does_not_need(shared: Page) -> None:
    for reply in (shared.get("/"), shared.get("/api/next"), shared.get("/no/such"), shared.get("/", cookie=None)):
        policy = reply.headers["content-security-policy"]

        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert reply.headers["x-frame-options"] == "DENY"
        assert reply.headers["cache-control"] == "no-store"
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert "server" not in reply.headers


@pytest.mark.parametrize("path", ["/", "/annotators", "/static/label.css", "/static/label.js", "/static/annotators.js"])
def test_no_file_of_the_page_names_another_address_or_makes_html_of_texts(shared: Page, path: str) -> None:
    text = shared.get(path).body.decode()

    assert "http:" not in text
    assert "https:" not in text
    assert "innerHTML" not in text
    assert "insertAdjacentHTML" not in text
    assert " on" + "click=" not in text


def test_texts_of_traces_are_sent_as_data_in_which_nothing_hides(shared: Page) -> None:
    reply = shared.get("/api/next")

    shown = json.dumps(reply.json["item"], ensure_ascii=False)
    assert reply.headers["content-type"] == "application/json"
    assert "<script>" in shown
    assert "\u202e" not in shown
    assert HOSTILE not in shared.get("/").body.decode()


def test_after_many_wrong_tokens_no_token_is_taken(open_page: OpenPage) -> None:
    page = open_page()
    page.sign_in()

    answers = [page.get(f"/?token={'x' * number}", cookie=None).status for number in range(MOST_GUESSES)]

    assert answers == [403] * (MOST_GUESSES - 1) + [429]
    assert page.get(f"/?token={page.token}", cookie=None).status == 429
    assert page.get("/api/next").status == 200  # who is in stays in


def test_a_token_cannot_be_guessed() -> None:
    tokens = {Access(1).token for _ in range(100)}

    assert len(tokens) == 100
    assert min(map(len, tokens)) >= 43  # 32 bytes


def test_the_page_listens_to_this_machine_alone(shared: Page) -> None:
    listening = Path(f"/proc/{shared.process.pid}/net/tcp")
    if not listening.exists():
        pytest.skip("needs /proc")
    local = [line.split()[1] for line in listening.read_text().splitlines() if line.split()[1].endswith(f":{shared.port:04X}")]

    assert "0100007F" in {address.partition(":")[0] for address in local}
    assert "00000000" not in {address.partition(":")[0] for address in local}


@pytest.mark.slow
def test_an_ended_page_says_what_comes_next(open_page: OpenPage) -> None:
    page = open_page()
    page.sign_in()
    page.post("/api/label", {"key": page.get("/api/next").json["item"]["key"], "grade": "yes"})

    page.process.terminate()
    said, _ = page.process.communicate(timeout=20)

    assert page.process.returncode == 0
    assert "1 label of ada" in said
    assert f"--labels {page.labels}" in said
    assert stat.S_ISREG(page.labels.stat().st_mode)
