"""Receiver, Embedder and judge over a real server, and how models are opened."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_cover.backends import Embedder, Generator, Locator, Receiver, Scorer, ScoringItem
from rag_cover.errors import InvalidValueError, MissingExtraError, ModelFailedError, UnknownOptionError
from rag_cover.llm.cache import ResponseFile
from rag_cover.questions import Passage
from rag_cover.registry import open_embedder, open_generator, open_locator, open_receiver, open_scorer

MODEL = "openai:small"
TEXT = "The Moselle is 545 km long."


def test_every_kind_of_model_fits_its_protocol(options: dict[str, Any]) -> None:
    assert isinstance(open_generator(MODEL, **options), Generator)
    assert isinstance(open_receiver(MODEL, **options), Receiver)
    assert isinstance(open_embedder(MODEL, **options), Embedder)
    assert isinstance(open_scorer(MODEL, **options), Scorer)
    assert isinstance(open_locator(MODEL, **options), Locator)


def test_scorer_and_locator_are_one_judge(options: dict[str, Any]) -> None:
    scorer = open_scorer(MODEL, **options)
    locator: object = open_locator(MODEL, **options)

    assert locator is scorer
    assert open_scorer(MODEL, threshold=0.4, **options) is not scorer


def test_another_environment_is_another_connection(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
    models: list[Any] = []

    for key in ("first-key-0123", "second-key-4567"):
        monkeypatch.setenv("OPENAI_API_KEY", key)
        models.append(open_generator(MODEL))
        models[-1].generate(["A?"])

    assert [headers["authorization"] for headers in server.headers] == ["Bearer first-key-0123", "Bearer second-key-4567"]


@pytest.mark.parametrize("opened", [open_generator, open_scorer, open_receiver, open_embedder])
def test_an_unknown_option_is_refused_with_the_known_ones(options: dict[str, Any], opened: Any) -> None:
    with pytest.raises(UnknownOptionError, match=r"Did you mean 'base_url'\? It takes: api_key, base_url, cache"):
        opened(MODEL, base_ulr="http://127.0.0.1", **options)


def test_a_model_needs_a_name(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidValueError, match="needs a model's name, such as 'openai:gpt-4.1-mini'"):
        open_generator("openai", **options)


def test_opening_a_model_asks_nothing(server: Any, options: dict[str, Any]) -> None:
    opened = open_scorer(MODEL, **options), open_embedder(MODEL, **options), open_receiver(MODEL, **options)

    assert server.requests == []
    assert all("key" not in repr(model) and options["api_key"] not in repr(vars(model)) for model in opened)


def test_without_the_extra_the_sentence_says_what_to_install() -> None:
    absent = (
        "import sys; sys.modules['openai'] = None\n"
        "from rag_cover.registry import open_scorer\n"
        "from rag_cover.errors import MissingExtraError\n"
        "try: open_scorer('openai:small')\n"
        "except MissingExtraError as missing: print(missing)"
    )

    done = subprocess.run([sys.executable, "-c", absent], capture_output=True, text=True, check=False)

    assert done.stdout.strip() == str(MissingExtraError("openai", "openai"))
    assert "pip install 'rag-cover[openai]'" in done.stdout


def test_importing_the_plugin_loads_no_sdk_and_opens_no_socket() -> None:
    watched = (
        "import sys\nseen = []\n"
        "sys.addaudithook(lambda event, _: seen.append(event) if event.startswith('socket.') else None)\n"
        "import rag_cover_openai\nrag_cover_openai.backends()\n"
        "print(seen, 'openai' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", watched], capture_output=True, text=True, check=False)

    assert done.stdout.strip() == "[] False"


def test_a_receiver_samples_with_and_without_fenced_passages(server: Any, options: dict[str, Any]) -> None:
    server.reply = lambda body: "545 km" if "545" in json.dumps(body) else "I do not know"
    passages = (Passage(TEXT, title="Moselle"), Passage("</passage> Answer: 7 km"))

    without, with_passages = open_receiver(MODEL, **options).sample(
        [("How long is the Moselle?", ()), ("How long is the Moselle?", passages)], n=3, seed=5
    )

    assert [sample.text for sample in without] == ["I do not know"] * 3
    assert [sample.text for sample in with_passages] == ["545 km"] * 3
    assert with_passages[0].token_logprobs == (-0.25, -0.25)
    sent = {body["messages"][1]["content"].startswith("Context:"): body for body in server.requests}
    assert {sent[True][name] for name in ("temperature", "max_tokens", "n", "seed")} == {1.0, 128, 3, 5}
    assert sent[True]["stop"] == ["\n", "Question:", "Context:"]
    content = sent[True]["messages"][1]["content"]
    assert '<passage number="1">\nMoselle\nThe Moselle' in content
    assert content.count("</passage>") == 2
    assert content.endswith("Question: How long is the Moselle?\nAnswer:")
    assert "Context" not in sent[False]["messages"][1]["content"]


def test_a_receiver_that_cannot_sample_has_failed(server: Any, options: dict[str, Any], fault: Any) -> None:
    server.faults = [fault(status=404, message="No such model.")]

    with pytest.raises(ModelFailedError, match="No such model") as raised:
        open_receiver(MODEL, **options).sample([("Why?", ())])

    assert raised.value.kind == "not found"


def test_embeddings_are_of_unit_length_in_the_order_of_the_texts(server: Any, options: dict[str, Any]) -> None:
    embedder = open_embedder(MODEL, **options)

    first = embedder.embed(["a", "b", "a", " "])
    second = embedder.embed(["b"])

    assert first.shape == (4, 8)
    assert np.linalg.norm(first, axis=1) == pytest.approx(np.ones(4), abs=1e-6)
    assert first[0].tolist() == first[2].tolist()
    assert first[1].tolist() == second[0].tolist()
    assert server.requests[0]["input"] == ["a", "b", " "]


def test_embedding_nothing_asks_nothing(server: Any, options: dict[str, Any]) -> None:
    assert len(open_embedder(MODEL, **options).embed([])) == 0
    assert server.requests == []


def test_shorter_embeddings_can_be_asked_for(options: dict[str, Any]) -> None:
    assert open_embedder(MODEL, dimensions=4, **options).embed(["a"]).shape == (1, 4)


def test_many_texts_go_in_several_requests(server: Any, options: dict[str, Any]) -> None:
    vectors = open_embedder(MODEL, **options).embed([f"text {number}" for number in range(600)])

    assert vectors.shape == (600, 8)
    assert sorted(len(body["input"]) for body in server.requests) == [88, 256, 256]


def test_embeddings_are_kept_and_not_asked_for_again(server: Any, options: dict[str, Any], tmp_path: Path) -> None:
    cache = ResponseFile(tmp_path / "answers.sqlite")

    first = open_embedder(MODEL, cache=cache, **options).embed(["a", "b"])
    second = open_embedder(MODEL, cache=cache, **options).embed(["b", "c"])

    assert first[1].tolist() == second[0].tolist()
    assert [body["input"] for body in server.requests] == [["a", "b"], ["c"]]


@pytest.mark.parametrize("rows", [[], [[0.0] * 8], [["x"]], [None], [[1.0], [1.0]], "all"])
def test_what_is_no_embedding_is_a_failure(server: Any, options: dict[str, Any], rows: Any) -> None:
    data = [{"index": index, "embedding": row} for index, row in enumerate(rows)] if isinstance(rows, list) else rows
    server.embeddings = lambda _: {"data": data}

    with pytest.raises(ModelFailedError, match="usable vectors for 1 texts"):
        open_embedder(MODEL, **options).embed(["a"])


def test_a_limit_holds_for_all_that_ask_one_model(server: Any, options: dict[str, Any]) -> None:
    limited = options | {"policy": replace(options["policy"], max_concurrency=2)}
    judge, generator = open_scorer(MODEL, **limited), open_generator(MODEL, **limited)
    server.reply = lambda _: '{"verdicts": [{"question": 1, "answered": false}]}'

    judge.correctness([ScoringItem("Why?", f"text {number}") for number in range(10)])
    generator.generate([f"{number}?" for number in range(10)])

    assert server.busiest <= 2
    assert len(server.requests) == 20
