"""Our own models pass the suites that we publish."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence

import pytest
from pydantic import BaseModel

from rag_cover.backends import (
    AbstentionDetector,
    Embedder,
    Entailer,
    Generation,
    Locator,
    Prompt,
    Receiver,
    Sampling,
    Scorer,
    ScoringItem,
)
from rag_cover.llm.judge import PromptedJudge
from rag_cover.testing import KeywordEntailer, KeywordLocator, KeywordScorer, ScriptedReceiver
from rag_cover.testing.conformance import (
    AbstentionDetectorTests,
    EmbedderTests,
    EntailerTests,
    LocatorTests,
    ReceiverTests,
    ScorerTests,
)
from rag_cover.traces import Sample
from rag_cover_embedded.judge import EmbeddedJudge
from rag_cover_embedded.reader import EmbeddedReader

by_words = pytest.mark.xfail(reason="it goes by words, and does not understand them", strict=True)

_ROUNDING = 1e-5  # a batch is added up in another order than one text


class WordReader:
    """Reads a judge's sheet as a language model does, and judges by words."""

    name = fingerprint = "word-reader"

    def generate(
        self,
        prompts: Sequence[Prompt],
        sampling: Sampling = Sampling(),  # noqa: B008  # frozen
        *,
        schema: type[BaseModel] | None = None,
        purpose: str = "other",
    ) -> list[Generation]:
        assert (sampling.n, schema is not None, purpose) == (1, True, "judge")
        return [Generation((Sample(_verdicts(prompt)),)) for prompt in prompts]


def _verdicts(prompt: Prompt) -> str:
    sheet = prompt[-1].content if isinstance(prompt, tuple) else prompt
    (text,) = (html.unescape(found) for found in re.findall(r"(?s)<text>\n(.*)\n</text>", sheet))
    asked = [html.unescape(found) for found in re.findall(r'(?s)<question number="\d+">\n(.*?)\n</question>', sheet)]
    items = [ScoringItem(question, text) for question in asked]
    fragments = [span.of(text) if span else None for span in KeywordLocator().locate(items)]
    scores = [
        float(score) if fragment else 0.0 for score, fragment in zip(KeywordScorer().correctness(items), fragments, strict=True)
    ]
    verdicts = [
        {"question": number, "answered": score >= 0.5, "fragment": fragment if score >= 0.5 else None, "probability": score}
        for number, (score, fragment) in enumerate(zip(scores, fragments, strict=True), 1)
    ]
    return json.dumps({"verdicts": verdicts})


class TestEmbeddedScorer(ScorerTests):
    tolerance = _ROUNDING

    @pytest.fixture
    def model(self, embedded_judge: EmbeddedJudge) -> Scorer:
        return embedded_judge


class TestEmbeddedEntailer(EntailerTests):
    tolerance = _ROUNDING

    @pytest.fixture
    def model(self, embedded_judge: EmbeddedJudge) -> Entailer:
        return embedded_judge


class TestEmbeddedLocator(LocatorTests):
    @pytest.fixture
    def model(self, embedded_judge: EmbeddedJudge) -> Locator:
        return embedded_judge


class TestEmbeddedEmbedder(EmbedderTests):
    tolerance = _ROUNDING

    @pytest.fixture
    def model(self, embedded_judge: EmbeddedJudge) -> Embedder:
        return embedded_judge


class TestEmbeddedAbstentionDetector(AbstentionDetectorTests):
    @pytest.fixture
    def model(self, embedded_judge: EmbeddedJudge) -> AbstentionDetector:
        return embedded_judge


class TestEmbeddedReader(ReceiverTests):
    @pytest.fixture
    def model(self, embedded_reader: EmbeddedReader) -> Receiver:
        return embedded_reader


class TestKeywordScorer(ScorerTests):
    @pytest.fixture
    def model(self) -> Scorer:
        return KeywordScorer()

    @by_words
    def test_its_threshold_tells_answers_from_other_texts(self, model: Scorer) -> None:
        super().test_its_threshold_tells_answers_from_other_texts(model)

    @by_words
    def test_references_decide(self, model: Scorer) -> None:
        super().test_references_decide(model)


class TestKeywordEntailer(EntailerTests):
    @pytest.fixture
    def model(self) -> Entailer:
        return KeywordEntailer()

    @by_words
    def test_its_labels_are_in_order(self, model: Entailer) -> None:
        super().test_its_labels_are_in_order(model)


class TestKeywordLocator(LocatorTests):
    @pytest.fixture
    def model(self) -> Locator:
        return KeywordLocator()


class TestPromptedScorer(ScorerTests):
    @pytest.fixture
    def model(self) -> Scorer:
        return PromptedJudge(WordReader(), longest=4_000)

    @by_words
    def test_its_threshold_tells_answers_from_other_texts(self, model: Scorer) -> None:
        super().test_its_threshold_tells_answers_from_other_texts(model)

    @by_words
    def test_references_decide(self, model: Scorer) -> None:
        super().test_references_decide(model)


class TestPromptedLocator(LocatorTests):
    @pytest.fixture
    def model(self) -> Locator:
        return PromptedJudge(WordReader(), longest=4_000)


class TestScriptedReceiver(ReceiverTests):
    @pytest.fixture
    def model(self) -> Receiver:
        return ScriptedReceiver({"1904": ["It was in 1904."], "Torrin": ["Torrin"], "Fenwick": ["Ada Fenwick"], "12": ["12"]})
