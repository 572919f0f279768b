"""Chat completions as they go over the wire: the request's body, and what is read out of the answer, whoever wrote it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from pydantic import BaseModel

from rag_cover.backends import Message, Prompt, Sampling
from rag_cover.errors import MalformedReplyError, ModelFailedError
from rag_cover.texts import encodable
from rag_cover.traces import Sample, content_hash
from rag_cover_openai.server_quirks import Dialect, Format

__all__ = ["Request", "ServerReply", "parse_completion", "request_of"]

_CHARACTERS_PER_TOKEN = 4
_EXCERPT = 2_000
_WARM, _OTHER_SEED = 0.7, 7_919  # of a reply that is asked for afresh
_FINISHED = {"stop": "stop", "length": "length", "content_filter": "filter"}


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked, before it is known what the server will do of it."""

    messages: tuple[Message, ...]
    sampling: Sampling
    schema: type[BaseModel] | None

    def keys(self, base_url: str, model: str) -> list[str]:
        """Name the answers by all they depend on: one for each sample."""
        parameters = {name: value for name, value in asdict(self.sampling).items() if name != "n"}
        around = {
            "kind": "chat",
            "base_url": base_url,
            "model": model,
            "messages": [[message.role, message.content] for message in self.messages],
            "parameters": parameters,
            "schema": self.schema.model_json_schema() if self.schema else None,
        }
        return [content_hash({**around, "sample": index}) for index in range(self.sampling.n)]

    def tokens(self, n: int) -> int:
        """Estimate the tokens that n samples use."""
        written = sum(len(message.content) for message in self.messages)
        return written // _CHARACTERS_PER_TOKEN + n * self.sampling.max_tokens

    def body(self, dialect: Dialect, *, n: int, index: int, thinking_tokens: int) -> dict[str, Any]:
        """Write the body, as the server takes it; ``index`` is the first sample's, so that no two have one seed."""
        sampling = self.sampling
        limit = sampling.max_tokens + (thinking_tokens if dialect.counts_thoughts else 0)
        parameters: dict[str, Any] = {"temperature": sampling.temperature, "max_tokens": limit}
        if dialect.renames_limit:
            parameters["max_completion_tokens"] = limit
        optional = {
            "n": n if n > 1 else None,
            "top_p": sampling.top_p if sampling.top_p < 1 else None,
            "top_k": sampling.top_k,
            "stop": list(sampling.stop) or None,
            "logprobs": sampling.logprobs or None,
            "seed": None if sampling.seed is None else sampling.seed + index,
            "response_format": _response_format(self.schema, dialect.format) if self.schema else None,
        }
        parameters |= {name: value for name, value in optional.items() if value is not None}
        return {"messages": _messages(self, dialect.format), **dialect.adapt_parameters(parameters)}

    @property
    def attempts(self) -> tuple[Callable[[str, str], Request], ...]:
        """Return how to ask again, and again, after a reply that cannot be used and what is wrong with it."""
        return (self._repairing, self._afresh) if self.schema else (self._ask_again,)

    def _repairing(self, reply: str, problem: str) -> Request:
        asked = f"That reply cannot be read: {problem}. Reply again, with complete and valid JSON and nothing else."
        turns = (Message("assistant", reply[:_EXCERPT] or "(nothing)"), Message("user", asked))
        return replace(self, messages=(*self.messages, *turns), sampling=replace(self.sampling, n=1))

    def _afresh(self, _reply: str, _problem: str) -> Request:
        """Ask as at first, and let chance take another way."""
        warm, seed = max(self.sampling.temperature, _WARM), (self.sampling.seed or 0) + _OTHER_SEED
        return replace(self, sampling=replace(self.sampling, n=1, temperature=warm, seed=seed))

    def _ask_again(self, _reply: str, _problem: str) -> Request:
        """Ask for another sample of the same distribution."""
        return replace(self, sampling=replace(self.sampling, n=1))


@dataclass(frozen=True, slots=True)
class ServerReply:
    """What the server sent: samples, and how many tokens they took where it says."""

    samples: tuple[Sample, ...]
    prompt_tokens: int | None
    completion_tokens: int | None


def request_of(prompt: Prompt, sampling: Sampling, schema: type[BaseModel] | None) -> Request:
    """Make a prompt a request; a plain string is the user's message."""
    messages = (Message("user", prompt),) if isinstance(prompt, str) else tuple(prompt)
    clean = tuple(Message(message.role, encodable(message.content)) for message in messages)
    return Request(clean, sampling, schema)


def parse_completion(data: object, sampling: Sampling) -> ServerReply:
    """Read an answer.

    Raises:
        MalformedReplyError: it is not of the protocol's shape.
        ModelFailedError: it holds no choices.
    """
    choices = data.get("choices") if isinstance(data, Mapping) else None
    if not isinstance(data, Mapping) or not isinstance(choices, list):
        message = "the server's answer has no list of choices"
        raise MalformedReplyError(message, raw=json.dumps(data)[:_EXCERPT])
    if not choices:
        message = "the server's answer has no choices"
        raise ModelFailedError(message, kind="empty", raw=json.dumps(data)[:_EXCERPT])
    usage = data.get("usage")
    told: Mapping[str, Any] = usage if isinstance(usage, Mapping) else {}
    samples = tuple(_sample(choice, sampling.stop) for choice in choices)
    return ServerReply(samples, _count(told.get("prompt_tokens")), _count(told.get("completion_tokens")))


def _sample(choice: object, stop: Sequence[str]) -> Sample:
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        problem = "a choice of the server's answer has no message"
        raise MalformedReplyError(problem, raw=json.dumps(choice)[:_EXCERPT])
    text = _text(message.get("content")) or _text(message.get("refusal"))
    kept = text[: min((place for mark in stop if (place := text.find(mark)) >= 0), default=len(text))]
    finish = _FINISHED.get(str(choice.get("finish_reason"))) if len(kept) == len(text) else "stop"
    logprobs = _logprobs(choice.get("logprobs"), kept)
    return Sample.model_validate({"text": kept, "token_logprobs": logprobs, "finish_reason": finish})


def _text(content: object) -> str:
    """Read a message's content: a text, or a list of parts with texts."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, Mapping))
    return encodable(content) if isinstance(content, str) else ""


def _logprobs(given: object, text: str) -> tuple[float, ...] | None:
    """Read the log-probabilities of the tokens that the text is made of; None where they are not all there.

    Of an empty text the first token's is kept: the stop's own. Tokens beyond the text (a stop, an end) are left out.
    """
    content = given.get("content") if isinstance(given, Mapping) else None
    if not isinstance(content, list) or not content:
        return None
    kept: list[float] = []
    length, whole = 0, len(text.encode())
    for token in content:
        if kept and length >= whole:
            break
        value = token.get("logprob") if isinstance(token, Mapping) else None
        if (logprob := _logprob(value)) is None:
            return None
        kept.append(logprob)
        length += _bytes(token)
    return tuple(kept)


def _logprob(value: object) -> float | None:
    """Read a log-probability; None where it is none, such as an integer beyond all floats."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return None if math.isnan(number) or number > _ROUNDING else min(0.0, number)


def _bytes(token: Mapping[str, Any]) -> int:
    """Measure a token: a part of a character has no text of its own, but bytes."""
    given = token.get("bytes")
    return len(given) if isinstance(given, list) else len(_text(token.get("token")).encode("utf-8", "replace"))


_ROUNDING = 1e-3  # servers round log-probabilities of certain tokens to a hair above 0


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _messages(request: Request, wanted: Format) -> list[dict[str, str]]:
    messages = [{"role": message.role, "content": message.content} for message in request.messages]
    if request.schema is not None and wanted != "json_schema":
        schema = json.dumps(request.schema.model_json_schema(), ensure_ascii=False)
        rule = f"Reply with JSON and nothing else. It must fit this JSON schema: {schema}"
        if messages[0]["role"] == "system":  # many chat templates allow one system message alone
            messages[0]["content"] += f"\n\n{rule}"
        else:
            messages.insert(0, {"role": "system", "content": rule})
    return messages


def _response_format(schema: type[BaseModel], wanted: Format) -> dict[str, Any] | None:
    match wanted:
        case "json_schema":
            described = {"name": schema.__name__.strip("_"), "schema": _strict(schema.model_json_schema()), "strict": True}
            return {"type": "json_schema", "json_schema": described}
        case "json_object":
            return {"type": "json_object"}
        case _:
            return None


def _strict(schema: Any) -> Any:
    """Make a JSON schema one that servers take as strict: every property required, no others, no defaults."""
    if isinstance(schema, list):
        return [_strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    strict = {name: _strict(part) for name, part in schema.items() if name not in ("default", "title")}
    if "properties" in schema:
        strict["properties"] = {name: _strict(part) for name, part in schema["properties"].items()}
        strict |= {"required": list(schema["properties"]), "additionalProperties": False}
    return strict
