"""Parameters that a model's server refuses: learnt from its errors, remembered, and reported to the user.

A parameter that a server refuses is dropped once and for all (`max_tokens` is first sent under its newer name); structured
output falls back from a JSON schema to any JSON object to plain text.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from typing import Any, Literal

from rag_cover_openai.errors import RefusedError

__all__ = ["Dialect", "Format"]

Format = Literal["json_schema", "json_object", "text"]

_FORMATS: tuple[Format, ...] = ("json_schema", "json_object", "text")
_DROPPABLE = ("temperature", "top_p", "top_k", "logprobs", "max_tokens", "max_completion_tokens", "seed", "stop", "n")
_REFUSING = (400, 403, 422, 501)
_UNSUPPORTED = re.compile(
    r"unsupported|not (?:be |yet |currently )?(?:supported|allowed|permitted|available|implemented)|n[o']t support|only support"
    r"|unrecogni[sz]ed|unknown|unexpected|extra (?:inputs|fields)|only the default|invalid parameter|deprecated",
    re.IGNORECASE,
)
_ABOUT_FORMAT = re.compile(r"response_format|json_schema|json_object|structured output|guided|grammar", re.IGNORECASE)


class Dialect:
    """What is known of one model's server; shared by all threads that ask it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._dropped: set[str] = set()
        self._renamed = self._one_at_a_time = self._thinks = False
        self._format = 0
        self._notes: dict[str, None] = {}

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what was learnt, one sentence each."""
        with self._lock:
            return tuple(self._notes)

    @property
    def format(self) -> Format:
        """Return the strictest way of asking for JSON that the server has not refused."""
        return _FORMATS[self._format]

    @property
    def counts_thoughts(self) -> bool:
        """Return whether the limit of tokens also counts a reasoning model's thoughts."""
        return self._renamed or self._thinks

    @property
    def renames_limit(self) -> bool:
        """Return whether the limit of tokens goes by its newer name."""
        return self._renamed

    @property
    def one_at_a_time(self) -> bool:
        """Return whether several samples take several calls."""
        return self._one_at_a_time or "n" in self._dropped

    def adapt_parameters(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Leave out what the server refuses."""
        return {name: value for name, value in parameters.items() if name not in self._dropped}

    def learn_one_at_a_time(self) -> None:
        """Remember that the server gives fewer samples than it is asked for."""
        with self._lock:
            if not self.one_at_a_time:
                self._one_at_a_time = True
                self._note("ignores n; several samples take several calls")

    def learn_thoughts(self) -> None:
        """Remember that the model used up its limit before it came to a reply."""
        with self._lock:
            if not self._thinks:
                self._thinks = True
                self._note("thinks before it replies; it is given more tokens")

    def learn(self, refusal: RefusedError, sent: Mapping[str, Any]) -> None:
        """Learn what a refusal of this request says about the server; nothing, where it is about the request itself."""
        if refusal.status not in _REFUSING:
            return
        words = str(refusal)
        with self._lock:
            if "response_format" in sent and _is_about_format(refusal):
                self._fall_back(sent["response_format"]["type"])
            elif (name := _find_refused_parameter(refusal, sent)) is not None and name not in self._dropped:
                self._dropped.add(name)
                if name == "max_tokens" and "max_completion_tokens" in words:
                    self._renamed = True
                    self._note("refuses max_tokens; max_completion_tokens is sent in its place")
                else:
                    self._note(f"refuses {name}; it is no longer sent")

    def _fall_back(self, refused: Format) -> None:
        if refused == self.format:
            self._format += 1
            self._note(f"refuses the response format {refused}; {self.format} is asked for instead")

    def _note(self, what: str) -> None:
        self._notes[f"{self._name} {what}"] = None


def _is_about_format(refusal: RefusedError) -> bool:
    named = refusal.parameter or ""
    return named.startswith("response_format") or (named not in _DROPPABLE and bool(_ABOUT_FORMAT.search(str(refusal))))


def _find_refused_parameter(refusal: RefusedError, sent: Mapping[str, Any]) -> str | None:
    """Name the parameter that a refusal is about, where it is refused as such and not for its value."""
    words = str(refusal)
    if not _UNSUPPORTED.search(words):
        return "logprobs" if "logprobs" in sent and "logprobs" in words else None
    candidates = [name for name in _DROPPABLE if name in sent]
    if refusal.parameter in candidates:
        return refusal.parameter
    quoted = [name for name in candidates if re.search(rf"(?<![\w-]){name}(?![\w-])", words)]
    return quoted[0] if quoted else None
