"""Any OpenAI-compatible chat model as a Generator: samples, log-probabilities, structured replies, failures counted."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Self

from pydantic import BaseModel

from rag_cover.backends import Failure, Generation, Prompt, Sampling
from rag_cover.errors import MalformedReplyError, ModelFailedError, TransientError
from rag_cover.llm.json_replies import parse_reply, without_thoughts
from rag_cover.llm.retry import Called
from rag_cover.llm.session import LLMSession, ResponseCache
from rag_cover.llm.usage import Usage, UsageReport
from rag_cover.traces import Sample
from rag_cover_openai.client import Client
from rag_cover_openai.completions import Request, ServerReply, parse_completion, request_of
from rag_cover_openai.errors import RefusedError

__all__ = ["OpenAIGenerator"]

_SAMPLING = Sampling()
_SHUT_OUT = ("authentication", "quota")  # what every further call would meet too
_AGAIN = "\n--- asked again ---\n"


@dataclass(slots=True)
class _Told:
    """The tokens of a generation's calls, None from the first call that does not tell."""

    prompt: int | None = 0
    completion: int | None = 0

    def add(self, answer: ServerReply) -> None:
        self.prompt = _sum(self.prompt, answer.prompt_tokens)
        self.completion = _sum(self.completion, answer.completion_tokens)


def _sum(before: int | None, now: int | None) -> int | None:
    return None if before is None or now is None else before + now


@dataclass(frozen=True, slots=True)
class _Task:
    """One prompt under way."""

    request: Request
    purpose: str
    told: _Told = field(default_factory=_Told)


class OpenAIGenerator:
    """Writes text by asking an OpenAI-compatible server (`rag_cover.backends.Generator`).

    Thread-safe; prompts are sent side by side, as many as the policy allows. With a schema, every sample is JSON that fits
    it: what does not is asked for once more with what is wrong with it, then once afresh, and is a failure after that. What
    was sampled before is taken from the cache, sample by sample; token counts are those of the calls made now.

    Within a run, a server that refused the key or has none of the quota left is not asked again, nor is one that no call has
    reached, with all its attempts, or that failed as many calls in a row as the run allows (`LLMSession.gives_up_after`).

    Args:
        client: the model and its connection.
        thinking_tokens: room for a reasoning model's hidden thoughts, where the server counts them in the limit.
        cache: where answers are kept; a run's own cache where None.
        run: the run it is bound to (`for_run`).
    """

    def __init__(
        self,
        client: Client,
        *,
        thinking_tokens: int = 4096,
        cache: ResponseCache | None = None,
        run: LLMSession | None = None,
    ) -> None:
        self._client, self._thinking_tokens, self._cache = client, thinking_tokens, cache
        self._run = LLMSession.over(run, cache)
        self._bound = run is not None
        self._shut_out: ModelFailedError | None = None
        self._failed_calls, self._lock = 0, threading.Lock()
        self._is_reached = False

    @property
    def name(self) -> str:
        """Return the name that opens it; its usage is counted under this name."""
        return self._client.name

    @property
    def fingerprint(self) -> str:
        """Return what names this model in caches: its name and its server's address."""
        return f"{self.name}@{self._client.base_url}"

    @property
    def spending(self) -> UsageReport:
        """Return what it, and all that share its run, have used so far."""
        return self._run.ledger.spending

    def for_run(self, run: LLMSession) -> Self:
        """Return the same model, going by this run's cache, ledger and clock."""
        return type(self)(self._client, thinking_tokens=self._thinking_tokens, cache=self._cache, run=run)

    def generate(
        self,
        prompts: Sequence[Prompt],
        sampling: Sampling = _SAMPLING,
        *,
        schema: type[BaseModel] | None = None,
        purpose: str = "other",
    ) -> list[Generation]:
        """Return one Generation for each prompt; one that failed carries its failure, with the raw text where that is why."""
        if not prompts:
            return []
        requests = [request_of(prompt, sampling, schema) for prompt in prompts]
        workers = min(self._client.caller.policy.max_concurrency, len(requests))
        with ThreadPoolExecutor(workers, thread_name_prefix="rag-cover-openai") as pool:
            return list(pool.map(partial(self._generation, purpose=purpose), requests))

    def _generation(self, request: Request, *, purpose: str) -> Generation:
        task = _Task(request, purpose)
        try:
            samples = self._samples(task)
        except ModelFailedError as failed:
            self._run.ledger.add(Usage(self.name, purpose, failures=1))
            return Generation((), task.told.prompt, task.told.completion, Failure.of(failed))
        finally:
            for note in self._client.dialect.notes:
                self._run.ledger.note(note)
        return Generation(samples, task.told.prompt, task.told.completion)

    def _samples(self, task: _Task) -> tuple[Sample, ...]:
        """Recall what is known, ask for the rest, and keep each sample as soon as it is there."""
        keys = task.request.keys(self._client.base_url, self._client.model)
        samples = self._recall_samples(task, keys)
        if samples:
            self._run.ledger.add(Usage(self.name, task.purpose, cache_hits=len(samples)))
        dialect = self._client.dialect
        while missing := [index for index in range(len(keys)) if index not in samples]:
            wanted = 1 if dialect.one_at_a_time else len(missing)
            given = self._answer(task, task.request, wanted, missing[0]).samples[:wanted]
            if len(given) < wanted:
                dialect.learn_one_at_a_time()
            for index, sample in zip(missing, given, strict=False):
                samples[index] = self._usable(task, sample, index)
                self._run.keep({keys[index]: _pack_sample(samples[index])})
        return tuple(samples[index] for index in range(len(keys)))

    def _recall_samples(self, task: _Task, keys: Sequence[str]) -> dict[int, Sample]:
        known = self._run.recall(keys)
        read = {index: _unpack_sample(known[key], task.request.schema) for index, key in enumerate(keys) if key in known}
        return {index: sample for index, sample in read.items() if sample is not None}

    def _answer(self, task: _Task, request: Request, n: int, index: int) -> ServerReply:
        """Ask until the server takes the request as it is put."""
        tokens = request.tokens(n)
        called, refusals = self._send_adapting(task, request, n, index)
        try:
            answer = parse_completion(called.value, request.sampling)
        except ModelFailedError as unreadable:
            unreadable.attempts = called.attempts
            self._count(task, called, refusals, ServerReply((), None, None))
            raise
        self._count(task, called, refusals, answer)
        task.told.add(answer)
        if answer.prompt_tokens is not None and answer.completion_tokens is not None:
            self._client.caller.settle(tokens, answer.prompt_tokens + answer.completion_tokens)
        return answer

    def _send_adapting(self, task: _Task, request: Request, n: int, index: int) -> tuple[Called[object], int]:
        """Send, put otherwise for as long as a refusal teaches how; return how many refusals it took."""
        if self._shut_out is not None:
            raise ModelFailedError(str(self._shut_out), kind=self._shut_out.kind)
        client, refusals = self._client, 0
        body = request.body(client.dialect, n=n, index=index, thinking_tokens=self._thinking_tokens)
        while True:
            try:
                called = client.chat(body, tokens=request.tokens(n), clock=self._run.clock)
            except ModelFailedError as failed:
                if isinstance(failed, RefusedError):
                    client.dialect.learn(failed, body)
                    put = request.body(client.dialect, n=n, index=index, thinking_tokens=self._thinking_tokens)
                    if put != body:
                        body, refusals = put, refusals + 1
                        continue
                self._learn_outage(failed)
                retries = refusals + failed.attempts - 1
                self._run.ledger.add(Usage(self.name, task.purpose, calls=1, retries=retries))
                raise
            self._failed_calls, self._is_reached = 0, True
            return called, refusals

    def _learn_outage(self, failed: ModelFailedError) -> None:
        """Ask no more within a run where every further call would fail as well, or is taken to."""
        with self._lock:
            self._failed_calls += isinstance(failed, TransientError)
            limit = self._run.gives_up_after
            self._is_reached = self._is_reached or failed.kind != "connection"
            if self._bound and failed.kind in _SHUT_OUT:
                self._shut_out = failed
            elif self._bound and not self._is_reached and self._shut_out is None:
                message = f"{failed}; no call reached the server, so it is not asked again"
                self._shut_out = ModelFailedError(message, kind=failed.kind)
            elif limit is not None and self._failed_calls >= limit and self._shut_out is None:
                message = f"{failed}; after {limit} such calls in a row it is not asked again"
                self._shut_out = ModelFailedError(message, kind=failed.kind)

    def _count(self, task: _Task, called: Called[object], refusals: int, answer: ServerReply) -> None:
        untold = answer.prompt_tokens is None or answer.completion_tokens is None
        usage = Usage(
            self.name,
            task.purpose,
            calls=1,
            retries=called.attempts - 1 + refusals,
            prompt_tokens=answer.prompt_tokens or 0,
            completion_tokens=answer.completion_tokens or 0,
            untold=int(untold),
            seconds=called.seconds,
        )
        self._run.ledger.add(usage)

    def _usable(self, task: _Task, sample: Sample, index: int) -> Sample:
        """Hold a sample to what was asked for; where it falls short, ask for another."""
        tried = [sample]
        for again in () if self._run.asks_once else task.request.attempts:
            try:
                return _check_sample(self.name, tried[-1], task.request.schema)
            except MalformedReplyError as malformed:
                if _is_cut_thought(tried[-1]):
                    self._client.dialect.learn_thoughts()
                request = again(tried[-1].text, str(malformed))
                tried += self._answer(task, request, 1, index).samples[:1]
        try:
            return _check_sample(self.name, tried[-1], task.request.schema)
        except MalformedReplyError as malformed:
            cut = "; it was cut off, allow it more tokens" if any(each.finish_reason == "length" for each in tried) else ""
            message = f"{self.name}: {malformed}, asked {len(tried)} times{cut}"
            failed = MalformedReplyError(message, raw=_AGAIN.join(each.text for each in tried))
            failed.attempts = len(tried)
            raise failed from None


def _check_sample(name: str, sample: Sample, schema: type[BaseModel] | None) -> Sample:
    """Return a sample that is what was asked for; what fits a schema is written as plain JSON.

    Raises:
        MalformedReplyError: it is something else, or thoughts that never came to a reply.
        ModelFailedError: the server's filter cut it.
    """
    if sample.finish_reason == "filter":
        message = f"{name}: the server's content filter cut the reply"
        raise ModelFailedError(message, kind="filtered", raw=sample.text)
    if schema is not None:
        return sample.model_copy(update={"text": parse_reply(sample.text, schema).model_dump_json()})
    if _is_cut_thought(sample):
        message = "the reply holds thoughts alone"
        raise MalformedReplyError(message, raw=sample.text)
    return sample


def _is_cut_thought(sample: Sample) -> bool:
    """Return whether the model was stopped before it came to a reply; an empty reply that it ended itself is one."""
    return not without_thoughts(sample.text) and (sample.finish_reason == "length" or bool(sample.text.strip()))


def _pack_sample(sample: Sample) -> bytes:
    return json.dumps(sample.model_dump(), ensure_ascii=False).encode("utf-8", "replace")


def _unpack_sample(packed: bytes, schema: type[BaseModel] | None) -> Sample | None:
    """Read a kept sample; None where it cannot be read, or does not fit."""
    try:
        sample = Sample.model_validate(json.loads(packed))
        if schema is not None:
            schema.model_validate_json(sample.text)
    except ValueError:  # of JSON or of pydantic
        return None
    return sample
