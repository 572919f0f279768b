"""A generator that calls a framework's language model once for each sample.

A framework passes on what it is asked for as its server's client takes it, and some refuse what others need. What is refused
as such is no longer sent, and noted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, Protocol
from urllib.parse import urlsplit

from pydantic import BaseModel

from rag_cover.argument_checks import refuse_below
from rag_cover.backends import Failure, Generation, Message, Prompt, Sampling
from rag_cover.errors import ModelFailedError
from rag_cover.integration.completions import Written
from rag_cover.traces import Sample

__all__ = ["CallableModel", "GeneratorByCalls", "identity_of"]

_SAMPLING = Sampling()
_UNSUPPORTED = re.compile(
    r"unsupported|not (?:be |yet |currently )?(?:supported|allowed|permitted|available|implemented)|n[o']t support"
    r"|only support|unrecogni[sz]ed|unknown|unexpected|multiple values|extra (?:inputs|fields)|only the default"
    r"|invalid parameter|deprecated",
    re.IGNORECASE,
)
_THOUGHT = ("<think>", "</think>")
_REFUSING = (400, 403, 422, 501)  # HTTP statuses


class CallableModel(Protocol):
    """A framework's language model, as far as a generator needs it."""

    @property
    def name(self) -> str:
        """Return the model's name, as failures and notes give it."""
        ...

    def write(self, prompt: Prompt, parameters: Mapping[str, Any], *, stop: Sequence[str]) -> Written:
        """Call the model once; the answer ends at ``stop``, whatever the server was told and made of it."""
        ...


class GeneratorByCalls:
    """Writes text by single calls of a model (`rag_cover.backends.Generator`).

    As thread-safe as the model is. Several samples take several calls; calls are made side by side, within the context of
    whoever asked, and are retried as the model itself retries them. A schema is asked for in words: the reply is plain text,
    which those that pass a schema read.

    Args:
        model: what is called.
        workers: how many calls are made at a time.

    Raises:
        InvalidValueError: ``workers`` is less than 1.
    """

    def __init__(self, model: CallableModel, *, workers: int = 4) -> None:
        refuse_below(1, workers=workers)
        self._model, self._workers = model, workers
        self._refused: dict[str, str] = {}  # parameter to note; assigning is atomic

    @property
    def notes(self) -> tuple[str, ...]:
        """Return one sentence for each parameter that the model refused."""
        return tuple(self._refused.values())

    def generate(
        self,
        prompts: Sequence[Prompt],
        sampling: Sampling = _SAMPLING,
        *,
        schema: type[BaseModel] | None = None,
        purpose: str = "other",  # noqa: ARG002  # the protocol's
    ) -> list[Generation]:
        """Return one Generation for each prompt; one of whose calls failed carries that failure and no sample."""
        asked = [_add_schema(prompt, schema) for prompt in prompts]
        tasks = [(prompt, sampling, index) for prompt in asked for index in range(sampling.n)]
        made = self._side_by_side(tasks)
        return [_generation(made[start : start + sampling.n]) for start in range(0, len(made), sampling.n)]

    def _side_by_side(self, tasks: Sequence[tuple[Prompt, Sampling, int]]) -> list[Written | Failure]:
        if len(tasks) < 2:  # noqa: PLR2004  # one needs no thread
            return [self._one(*task) for task in tasks]
        contexts = [copy_context() for _ in tasks]  # no two threads may be in one
        with ThreadPoolExecutor(min(self._workers, len(tasks)), thread_name_prefix="rag-cover-llm") as pool:
            return list(pool.map(lambda context, task: context.run(self._one, *task), contexts, tasks))

    def _one(self, prompt: Prompt, sampling: Sampling, index: int) -> Written | Failure:
        try:
            written = self._call_until_accepted(prompt, sampling, index)
        except ModelFailedError as failed:
            return Failure.of(failed)
        except Exception as broken:  # noqa: BLE001  # the plugin boundary: kept as the prompt's failure
            return Failure(type(broken).__name__, f"{self._model.name}: {broken}")
        return _cut(written.sample, self._model.name) or written

    def _call_until_accepted(self, prompt: Prompt, sampling: Sampling, index: int) -> Written:
        """Ask, without what is refused, until the model takes the request."""
        wanted = _parameters(sampling, index)
        while True:
            sent = {name: value for name, value in wanted.items() if name not in self._refused}
            try:
                return self._model.write(prompt, sent, stop=sampling.stop)
            except Exception as refusal:
                if (name := _find_refused_parameter(refusal, sent)) is None:
                    raise
                self._refused[name] = f"{self._model.name} refuses {name}; it is no longer sent"


def identity_of(model: object, name: str, *, framework: str, addresses: Sequence[str] = ()) -> str:
    """Return what names a framework's model in caches: its class, its name, and its server, without anything secret.

    The server's address is the first text among the attributes that ``addresses`` names.
    """
    known = (getattr(model, attribute, None) for attribute in addresses)
    address = next((each for each in known if isinstance(each, str)), "")
    server = f"@{_server(address)}" if address else ""
    return f"{framework}:{type(model).__module__}.{type(model).__qualname__}:{name}{server}"


def _server(address: str) -> str:
    """Return the host and port of an address, and nothing that may be a secret.

    >>> _server("https://user:secret@example.org:8443/v1?key=hidden"), _server("localhost:8000/v1")
    ('example.org:8443', 'localhost:8000')
    """
    return urlsplit(address if "://" in address else f"//{address}").netloc.rpartition("@")[2]


def _add_schema(prompt: Prompt, schema: type[BaseModel] | None) -> Prompt:
    """Ask for a JSON schema in the system message, which is extended where there is one: many models allow only one."""
    if schema is None:
        return prompt
    rule = f"It must fit this JSON schema: {json.dumps(schema.model_json_schema(), ensure_ascii=False)}"
    told = f"Reply with JSON and nothing else. {rule}"
    messages = (Message("user", prompt),) if isinstance(prompt, str) else prompt
    if messages and messages[0].role == "system":
        return Message("system", f"{messages[0].content}\n\n{told}"), *messages[1:]
    return Message("system", told), *messages


def _parameters(sampling: Sampling, index: int) -> dict[str, Any]:
    """Write what a call asks for; ``index`` is the sample's, so that no two have one seed."""
    optional = {
        "top_p": sampling.top_p if sampling.top_p < 1 else None,
        "top_k": sampling.top_k,
        "stop": list(sampling.stop) or None,
        "logprobs": sampling.logprobs or None,
        "seed": None if sampling.seed is None else sampling.seed + index,
    }
    always = {"temperature": sampling.temperature, "max_tokens": sampling.max_tokens}
    return always | {name: value for name, value in optional.items() if value is not None}


def _cut(sample: Sample, name: str) -> Failure | None:
    """Return the failure of an answer that was cut before it began, else None; an empty answer that was finished is valid."""
    text = sample.text.strip()
    if sample.finish_reason == "filter":
        return Failure("filtered", f"{name}: the server's content filter cut the reply", raw=text)
    if sample.finish_reason == "length" and (not text or (text.startswith(_THOUGHT[0]) and _THOUGHT[1] not in text)):
        message = f"{name} reached its limit of tokens before it wrote a reply; reasoning models think within that limit"
        return Failure("malformed", message, raw=text)
    return None


def _find_refused_parameter(error: Exception, sent: Mapping[str, Any]) -> str | None:
    """Name the parameter that an error is about, where it is refused as such and not for its value."""
    status = getattr(error, "status_code", None)
    if isinstance(error, OSError) or (isinstance(status, int) and status not in _REFUSING):
        return None
    words = str(error)
    if not _UNSUPPORTED.search(words):
        return None
    return next((name for name in sent if re.search(rf"(?<![\w-]){name}(?![\w-])", words)), None)


def _generation(made: Sequence[Written | Failure]) -> Generation:
    written = [each for each in made if isinstance(each, Written)]
    failure = next((each for each in made if isinstance(each, Failure)), None)
    return Generation(
        samples=() if failure else tuple(each.sample for each in written),
        prompt_tokens=_sum([each.prompt_tokens for each in written]),
        completion_tokens=_sum([each.completion_tokens for each in written]),
        failure=failure,
    )


def _sum(counts: Sequence[int | None]) -> int | None:
    """Add counts up; unknown where one is, or where there are none."""
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None
