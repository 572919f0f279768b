"""The command in this process, with judges that need no weights; and as a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from typer.testing import CliRunner

from rag_cover.backends import Backend, ScoringItem, TokenRelevance
from rag_cover.cli import app
from rag_cover.errors import ModelFailedError
from rag_cover.hooks import hook
from rag_cover.plugin_manager import plugins
from rag_cover.questions import Passage
from rag_cover.testing import KeywordEntailer, KeywordLocator, KeywordScorer, ScriptedReceiver

BELIEFS = {"mirrors": ("the sea mirrors it",), "scatters": ("air scatters light",)}


@dataclass(frozen=True)
class MoodyScorer:
    """Judges like a KeywordScorer, until a text holds a word that makes it fail or plays the impatient user."""

    words: KeywordScorer = field(default_factory=KeywordScorer)
    threshold: float = 0.5
    fingerprint: str = "moody"

    def correctness(self, items: Sequence[ScoringItem]) -> NDArray[np.float32]:
        if any("earthquake" in item.text for item in items):
            message = "the judge fell over"
            raise ModelFailedError(message)
        if any("ctrl-c" in item.text for item in items):
            raise KeyboardInterrupt
        return self.words.correctness(items)


@dataclass(frozen=True)
class WordRelevance:
    """Finds a text to be about the words of a question that it holds."""

    fingerprint: str = "word-relevance"

    def token_relevance(self, question: str, texts: Sequence[str]) -> TokenRelevance:
        words = tuple(question.lower().strip("?").split())
        return TokenRelevance(words, np.array([[float(word in text.lower()) for word in words] for text in texts]))


@dataclass(frozen=True)
class WordRetriever:
    """Finds the passages that hold most of the query's words, and none that hold no word."""

    passages: tuple[Passage, ...]

    def retrieve(self, query: str, *, k: int) -> tuple[Passage, ...]:
        words = query.lower().strip("?").split()
        scored = [(sum(word in passage.text.lower() for word in words), passage) for passage in self.passages]
        found = sorted((each for each in scored if each[0]), key=lambda each: -each[0])
        return tuple(passage for _, passage in found[:k])


@dataclass(frozen=True)
class _Plugin:
    moody: MoodyScorer = field(default_factory=MoodyScorer)

    @hook
    def backends(self) -> list[Backend]:
        return [
            Backend(
                "words",
                "judges by words",
                scorer=lambda _model: KeywordScorer(),
                locator=lambda _model: KeywordLocator(),
                relevance=lambda _model: WordRelevance(),
                entailer=lambda _model: KeywordEntailer(),
                receiver=lambda _model: ScriptedReceiver(BELIEFS, prior=("nobody knows",)),
                retriever=lambda corpus, _index: WordRetriever(tuple(corpus)),
            ),
            Backend("moody", "fails on purpose", scorer=lambda _model: self.moody),
        ]

    @hook
    def commands(self) -> Mapping[str, str]:
        return {
            "hello": "hello_app:app",
            "broken": "no_such_module:app",
            "evaluate": "hello_app:app",
            "greet kindly": "hello_app:app",
            "greet oddly": "no_such_module:app",
        }


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    exit_code: int
    stdout: str
    stderr: str


Command = Callable[..., Ended]


@pytest.fixture
def moody() -> MoodyScorer:
    return MoodyScorer()


@pytest.fixture(autouse=True)
def _testing_judges(moody: MoodyScorer) -> Iterator[None]:
    plugin = _Plugin(moody)
    plugins().register(plugin, "testing-judges")
    yield
    plugins().unregister(plugin)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    return tmp_path


@pytest.fixture
def command() -> Command:
    def run(*words: str | Path) -> Ended:
        result = CliRunner().invoke(app, [str(word) for word in words])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Ended(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def process(folder: Path) -> Command:
    """Run the command in a process, with a plugin registered before it by the test's own lines."""

    def run(*words: str, before: str = "", **options: Any) -> Ended:
        script = folder / "command.py"
        script.write_text(f"{before}\nfrom rag_cover.cli import main\nmain()\n", encoding="utf-8")
        done = subprocess.run(
            [sys.executable, script, *words], capture_output=True, text=True, check=False, cwd=folder, **options
        )
        return Ended(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def traces(folder: Path) -> Path:
    """Write four traces: three cover half of their core sub-questions, one covers all."""
    return write(folder / "traces.jsonl", [trace(number) for number in range(4)])


def trace(number: int, answer: str = "", **fields: Any) -> dict[str, Any]:
    default = f"The sky {number} is blue" + (" because air scatters light" if number == 0 else "")
    return {
        "question": f"Why is sky {number} blue?",
        "answer": answer or default,
        "steps": [{"query": "sky", "passages": [f"sky {number} is blue", "air scatters light"]}],
        "sub_questions": [
            {"text": f"is sky {number} blue", "role": "core"},
            {"text": "does air scatter light", "role": "core"},
        ],
        **fields,
    }


def write(path: Path, lines: Sequence[Mapping[str, Any] | str]) -> Path:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text(f"{text}\n", encoding="utf-8")
    return path


@pytest.fixture
def make() -> Callable[[Path, Sequence[Mapping[str, Any] | str]], Path]:
    return write


@pytest.fixture
def one() -> Callable[..., dict[str, Any]]:
    return trace


@pytest.fixture(scope="session")
def embedded_judge() -> str:
    spec = find_spec("rag_cover_embedded")
    folder = Path(spec.origin).parent if spec and spec.origin else Path()
    if not any(folder.rglob("*.onnx")):
        pytest.skip("needs the weights of the embedded judge")
    return "embedded"
