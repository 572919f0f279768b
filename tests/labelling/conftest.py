"""A store of an evaluation with hostile texts in it, the page served by a process of its own, and a client that can lie."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from rag_cover.evaluation import Evaluation, evaluate
from rag_cover.labelling import LabelItem, LabelSampling, LabelSession, list_items
from rag_cover.registry import Models
from rag_cover.testing import KeywordScorer

HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> \"'><b>\u202e bold"


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tests talk to this machine alone, in place of the suite's rule that they talk to nobody."""
    connect = socket.socket.connect

    def to_this_machine(own: socket.socket, address: Any) -> None:
        is_local = isinstance(address, str | bytes) or address[0] in ("127.0.0.1", "localhost")
        assert is_local, f"a test tried to connect to {address}"
        connect(own, address)

    monkeypatch.setattr(socket.socket, "connect", to_this_machine)


def traces(count: int = 30) -> list[dict[str, Any]]:
    """Make traces of which the judge finds half of the sub-questions answered."""
    return [
        {
            "id": f"t{number}",
            "question": {"text": f"Why is sky {number} blue, and what scatters its light?", "id": f"q{number}"},
            "answer": f"Sky {number} is blue since {'air scatters light' if number % 2 else 'it is so'}. {HOSTILE}",
            "steps": [
                {"query": "sky", "passages": [{"text": f"sky {number} is blue", "title": HOSTILE}, "air scatters light"]}
            ],
            "sub_questions": [
                {"text": f"is sky {number} blue", "role": "core"},
                {"text": f"does air scatter light of sky {number}", "role": "core"},
                {"text": f"who looks at sky {number}", "role": "background"},
            ],
        }
        for number in range(count)
    ]


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("label") / "run.sqlite"
    evaluate(traces(), measures=["coverage"], models=Models(judge=KeywordScorer()), store=path)
    return path


@pytest.fixture
def evaluation(store: Path) -> Evaluation:
    return Evaluation.open(store)


@pytest.fixture
def items(evaluation: Evaluation) -> list[LabelItem]:
    return list_items(evaluation.results)


OpenSession = Callable[..., LabelSession]


@pytest.fixture
def open_session(items: list[LabelItem], tmp_path: Path) -> OpenSession:
    def opened(annotator: str = "ada", name: str = "run.labels.jsonl", random_share: float = 0.5) -> LabelSession:
        plan = LabelSampling(items, random_share=random_share)
        return LabelSession(items, tmp_path / name, annotator=annotator, plan=plan)

    return opened


@dataclass
class Reply:
    """What the server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Page:
    """A label page in a process of its own, and who asks it; headers of a request stand in place of an honest browser's."""

    process: subprocess.Popen[str]
    port: int
    token: str
    labels: Path
    cookie: str = field(default="", repr=False)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    def request(self, method: str, path: str, *, body: bytes | None = None, **headers: str | None) -> Reply:
        honest = {"host": f"127.0.0.1:{self.port}", "cookie": self.cookie or None}
        if method != "GET":
            honest |= {"origin": f"http://127.0.0.1:{self.port}", "content-type": "application/json"}
        given = honest | {name.replace("_", "-"): value for name, value in headers.items()}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in given.items():
            if value is not None:
                connection.putheader(name, value)
        if body is not None and "content-length" not in given and "transfer-encoding" not in given:
            connection.putheader("content-length", str(len(body)))
        connection.endheaders()
        try:
            if body is not None:
                connection.send(body)
        except OSError:
            pass  # refused while it was sent; the answer is what counts
        response = connection.getresponse()
        found = Reply(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())
        connection.close()
        return found

    def get(self, path: str, **headers: str | None) -> Reply:
        return self.request("GET", path, body=None, **headers)

    def post(self, path: str, body: Any, **headers: str | None) -> Reply:
        return self.request("POST", path, body=json.dumps(body).encode(), **headers)

    def sign_in(self) -> None:
        reply = self.get(f"/?token={self.token}")
        assert (reply.status, reply.headers["location"]) == (303, "/")
        self.cookie = reply.headers["set-cookie"].partition(";")[0]

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.close()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


OpenPage = Callable[..., Page]


@pytest.fixture(scope="module")
def open_page(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenPage]:
    """Start pages; all are ended when the tests of the module are."""
    pytest.importorskip("starlette", reason="needs the extra label")
    pytest.importorskip("uvicorn", reason="needs the extra label")
    opened: list[Page] = []

    def start(labels: Path | None = None, *options: str) -> Page:
        out = labels or tmp_path_factory.mktemp("page") / "run.labels.jsonl"
        words = ["label", str(store), "--out", str(out), "--no-browser", *options]
        if "--annotator" not in options:
            words += ["--annotator", "ada"]
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-c", "from rag_cover.cli import main; main()", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        assert process.stdout is not None
        said = ""
        for line in process.stdout:
            said += line
            if found := re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", line):
                page = Page(process, int(found[1]), found[2], out)
                opened.append(page)
                return page
        message = f"the page did not start: {said}"
        raise AssertionError(message)

    yield start
    for page in opened:
        page.close()


@pytest.fixture
def page(open_page: OpenPage) -> Iterator[Page]:
    started = open_page()
    started.sign_in()
    yield started
    started.close()
