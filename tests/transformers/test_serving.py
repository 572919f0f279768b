"""The plugin for OpenAI-compatible servers against one that others wrote: ``transformers serve``, with a tiny model by path."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from socket import socket
from typing import Any
from urllib.error import URLError

import pytest
from pydantic import BaseModel

from rag_cover.backends import Message, Sampling
from rag_cover.llm.retry import RetryPolicy
from rag_cover.registry import open_generator, open_receiver

MISSING = [name for name in ("openai", "fastapi", "uvicorn", "accelerate") if find_spec(name) is None]

pytestmark = pytest.mark.skipif(
    bool(MISSING), reason=f"the server needs {', '.join(MISSING)}: pip install 'transformers[serving]'"
)

PATIENCE_S = 180


class Parts(BaseModel):
    parts: list[str]


@pytest.fixture
def no_network() -> None:
    """Let these tests connect: the server listens on loopback, and knows no hub."""


@pytest.fixture(scope="module")
def sampled_folder(llama_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a model that samples: the server goes by that, and a temperature alone does not change it."""
    folder = tmp_path_factory.mktemp("served") / "tiny"
    shutil.copytree(llama_folder, folder)
    described = folder / "generation_config.json"
    described.write_text(json.dumps(json.loads(described.read_text()) | {"do_sample": True}))
    return folder


@pytest.fixture(scope="module")
def server(sampled_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the tiny model, and return the server's address."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("serve") / "log.txt"
    command = [sys.executable, "-m", "transformers.cli.transformers", "serve", str(sampled_folder)]
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_UPDATE_CHECK": "1", "OMP_NUM_THREADS": "1"}
    with (
        log.open("w") as out,
        subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"], stdout=out, stderr=out, env=environment
        ) as running,
    ):
        try:
            _wait(f"http://127.0.0.1:{port}/health", running, log)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            running.terminate()
            with suppress(subprocess.TimeoutExpired):
                running.wait(20)
            running.kill()


def _wait(url: str, running: subprocess.Popen[bytes], log: Path) -> None:
    ends = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends and running.poll() is None:
        with suppress(URLError, OSError), urllib.request.urlopen(url, timeout=5):  # noqa: S310  # of loopback
            return
        time.sleep(0.2)
    pytest.fail(f"the server did not come up:\n{log.read_text()[-4_000:]}")


@pytest.fixture
def options(server: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return {"base_url": server, "policy": RetryPolicy(timeout_s=120, deadline_s=600)}


def opened(folder: Path, options: dict[str, Any]) -> Any:
    """Open the model, which tells more than a Generator must."""
    return open_generator(f"openai:{folder}", **options)


def test_a_chat_is_answered_with_its_tokens(sampled_folder: Path, options: dict[str, Any]) -> None:
    generator = opened(sampled_folder, options)

    (generation,) = generator.generate([(Message("user", "What is the capital?"),)], Sampling(max_tokens=8))
    (again,) = generator.generate([(Message("user", "What is the capital?"),)], Sampling(max_tokens=8))

    assert generation.failure is None
    assert generation.samples == again.samples
    assert generation.completion_tokens == 8
    assert generation.prompt_tokens


def test_a_server_that_ignores_n_gives_n_different_samples(sampled_folder: Path, options: dict[str, Any]) -> None:
    generator = opened(sampled_folder, options)

    (generation,) = generator.generate(["Say a word."], Sampling(n=4, temperature=1.0, max_tokens=8, seed=1))

    assert generation.failure is None
    assert len({sample.text for sample in generation.samples}) == 4
    assert f"{generator.name} ignores n; several samples take several calls" in generator.spending.notes


def test_log_probabilities_that_it_does_not_give_are_none(sampled_folder: Path, options: dict[str, Any]) -> None:
    ((sample,),) = open_receiver(f"openai:{sampled_folder}", max_tokens=8, **options).sample([("Why?", ())], n=1)

    assert sample.token_logprobs is None


def test_a_parameter_that_it_does_not_know_is_dropped_and_told(sampled_folder: Path, options: dict[str, Any]) -> None:
    generator = opened(sampled_folder, options)

    (generation,) = generator.generate(["Say a word."], Sampling(max_tokens=8, top_k=5, temperature=1.0))

    assert generation.failure is None
    assert f"{generator.name} refuses top_k; it is no longer sent" in generator.spending.notes


def test_a_model_that_writes_no_json_has_failed_with_what_it_wrote(sampled_folder: Path, options: dict[str, Any]) -> None:
    (generation,) = opened(sampled_folder, options).generate(["Name the parts."], Sampling(max_tokens=8), schema=Parts)

    assert generation.samples == ()
    assert generation.failure is not None
    assert (generation.failure.kind, generation.failure.attempts) == ("malformed", 3)
    assert generation.failure.raw


def test_another_model_than_it_serves_is_refused_in_its_words(options: dict[str, Any]) -> None:
    (generation,) = open_generator("openai:another", **options).generate(["Why?"])

    assert generation.failure is not None
    assert generation.failure.kind == "bad request"
    assert "Server is pinned to" in generation.failure.message
