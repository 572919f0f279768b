"""An embedding model behind an OpenAI-compatible server as an Embedder: unit vectors, each text embedded once."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rag_cover.errors import MalformedReplyError, ModelFailedError
from rag_cover.llm.retry import Called
from rag_cover.llm.session import LLMSession, ResponseCache
from rag_cover.llm.usage import Usage
from rag_cover.texts import encodable
from rag_cover.traces import content_hash
from rag_cover_openai.client import Client

__all__ = ["OpenAIEmbedder"]

_TEXTS = 256  # of one request; OpenAI takes 2,048
_CHARACTERS = 200_000  # of one request; OpenAI takes 300,000 tokens
_PURPOSE = "embed"
_EXCERPT = 300

Vector = NDArray[np.float32]


class OpenAIEmbedder:
    """Maps texts to unit vectors (`rag_cover.backends.Embedder`). Thread-safe; a blank text is embedded as one space."""

    def __init__(
        self,
        client: Client,
        *,
        dimensions: int | None = None,
        cache: ResponseCache | None = None,
        run: LLMSession | None = None,
    ) -> None:
        self._client, self._dimensions, self._cache = client, dimensions, cache
        self._run = LLMSession.over(run, cache)

    @property
    def name(self) -> str:
        """Return the name that opens it; its usage is counted under this name."""
        return self._client.name

    @property
    def fingerprint(self) -> str:
        """Return what names this model in caches."""
        return f"{self.name}@{self._client.base_url}:{self._dimensions or 'all'}"

    def for_run(self, run: LLMSession) -> Self:
        """Return the same model, going by this run's cache, ledger and clock."""
        return type(self)(self._client, dimensions=self._dimensions, cache=self._cache, run=run)

    def embed(self, texts: Sequence[str]) -> Vector:
        """Return (n, d) vectors of unit length.

        Raises:
            ModelFailedError: the server gave something else, after its retries.
        """
        readable = [encodable(text) if text.strip() else " " for text in texts]
        keys = {text: self._key(text) for text in dict.fromkeys(readable)}
        vectors = self._recall_vectors(keys)
        batches = list(_batches([text for text in keys if text not in vectors]))
        if batches:
            workers = min(self._client.caller.policy.max_concurrency, len(batches))
            with ThreadPoolExecutor(workers, thread_name_prefix="rag-cover-openai") as pool:
                for new in pool.map(self._request_vectors, batches):
                    vectors |= new
        if len({len(vector) for vector in vectors.values()}) > 1:
            message = f"{self.name}: the server gave vectors of different lengths"
            raise ModelFailedError(message, kind="malformed")
        return np.array([vectors[text] for text in readable], dtype=np.float32).reshape(len(texts), -1 if texts else 0)

    def _recall_vectors(self, keys: Mapping[str, str]) -> dict[str, Vector]:
        kept = self._run.recall(list(keys.values()))
        if kept:
            self._run.ledger.add(Usage(self.name, _PURPOSE, cache_hits=len(kept)))
        return {text: np.frombuffer(kept[key], dtype="<f4") for text, key in keys.items() if key in kept}

    def _key(self, text: str) -> str:
        around = {"kind": "embedding", "base_url": self._client.base_url, "model": self._client.model}
        return content_hash({**around, "dimensions": self._dimensions, "text": text})

    def _request_vectors(self, texts: Sequence[str]) -> dict[str, Vector]:
        body: dict[str, Any] = {"input": list(texts), "encoding_format": "float"}
        if self._dimensions:
            body["dimensions"] = self._dimensions
        tokens = sum(map(len, texts)) // 4
        try:
            called = self._client.embeddings(body, tokens=tokens, clock=self._run.clock)
        except ModelFailedError as failed:
            self._run.ledger.add(Usage(self.name, _PURPOSE, calls=1, retries=failed.attempts - 1, failures=len(texts)))
            raise
        self._count(called, tokens)
        vectors = dict(zip(texts, _vectors(called.value, len(texts), self.name), strict=True))
        self._run.keep({self._key(text): vector.astype("<f4").tobytes() for text, vector in vectors.items()})
        return vectors

    def _count(self, called: Called[object], estimated: int) -> None:
        told = _tokens(called.value)
        if told is not None:
            self._client.caller.settle(estimated, told)
        usage = Usage(
            self.name,
            _PURPOSE,
            calls=1,
            retries=called.attempts - 1,
            prompt_tokens=told or 0,
            untold=int(told is None),
            seconds=called.seconds,
        )
        self._run.ledger.add(usage)


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        if batch and (len(batch) == _TEXTS or size + len(text) > _CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield batch


def _tokens(data: object) -> int | None:
    usage = data.get("usage") if isinstance(data, Mapping) else None
    told = usage.get("prompt_tokens") if isinstance(usage, Mapping) else None
    return told if isinstance(told, int) and told >= 0 else None


def _vectors(data: object, expected: int, name: str) -> list[Vector]:
    """Read the vectors in the order of the texts, and make their length 1.

    Raises:
        MalformedReplyError: they are not all there, or one of them points nowhere.
    """
    listed = data.get("data") if isinstance(data, Mapping) else None
    rows = listed if isinstance(listed, list) else []
    by_index = {_place(row, place): row.get("embedding") for place, row in enumerate(rows) if isinstance(row, Mapping)}
    vectors = [_vector(by_index.get(index)) for index in range(expected)]
    found = [vector for vector in vectors if vector is not None]
    if len(rows) != expected or len(found) != expected:
        message = f"{name}: the server gave {len(found)} usable vectors for {expected} texts"
        raise MalformedReplyError(message, raw=json.dumps(data)[:_EXCERPT])
    return found


def _place(row: Mapping[str, object], place: int) -> int:
    index = row.get("index", place)
    return index if isinstance(index, int) else place


@np.errstate(over="ignore")  # what is too large is infinite, and refused
def _vector(given: object) -> Vector | None:
    try:
        if isinstance(given, str):  # base64, where a server knows no other format
            values = np.frombuffer(base64.b64decode(given, validate=True), dtype="<f4")
        else:
            values = np.array(given, dtype=np.float32)
    except (ValueError, TypeError, OverflowError, binascii.Error):
        return None
    length = float(np.linalg.norm(values)) if values.ndim == 1 and values.size else 0.0
    return (values / length).astype(np.float32) if 0 < length < np.inf else None
