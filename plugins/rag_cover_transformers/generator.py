"""Text from a causal language model: a Generator for prompts, and the Receiver whose belief ΔSePer measures."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel

from rag_cover.backends import Failure, Generation, Prompt, Sampling
from rag_cover.belief.receivers import STOPS
from rag_cover.errors import ModelFailedError
from rag_cover.questions import Passage
from rag_cover.traces import Sample
from rag_cover_transformers.prompts import INSTRUCTION, plain_receiver_prompt, with_schema
from rag_cover_transformers.sampling.endings import Drawn
from rag_cover_transformers.sampling.sampler import CausalSampler

__all__ = ["CausalGenerator", "SamplingReceiver"]


class CausalGenerator:
    """A Generator; thread-safe. A schema is asked for in words: the model is not held to it."""

    def __init__(self, sampler: CausalSampler) -> None:
        self._sampler = sampler
        self.fingerprint = sampler.fingerprint

    def generate(
        self,
        prompts: Sequence[Prompt],
        sampling: Sampling = Sampling(),  # noqa: B008  # frozen
        *,
        schema: type[BaseModel] | None = None,
        purpose: str = "other",  # noqa: ARG002  # a local model has no bill to be split by purpose
    ) -> list[Generation]:
        """Return one Generation for each prompt; one that is empty or leaves no room for an answer carries its failure."""
        encoded = [self._sampler.encoder.prompt(with_schema(prompt, schema)) for prompt in prompts]
        failures = {place: failure for place, ids in enumerate(encoded) if (failure := self._failure(len(ids), sampling))}
        asked = [place for place in range(len(prompts)) if place not in failures]
        drawn = dict(zip(asked, self._sampler.draw([encoded[place] for place in asked], sampling), strict=True))
        return [
            _generation(len(ids), drawn[place], logprobs=sampling.logprobs)
            if place in drawn
            else Generation((), len(ids), 0, failures[place])
            for place, ids in enumerate(encoded)
        ]

    def _failure(self, tokens: int, sampling: Sampling) -> Failure | None:
        if not tokens:
            return Failure("empty", "the prompt has no token, and this model puts none before it; say something")
        if tokens + sampling.max_tokens > self._sampler.longest:
            return Failure("too long", _too_long(tokens, sampling.max_tokens, self._sampler.longest))
        return None


class SamplingReceiver:
    """A Receiver; thread-safe: n samples a prompt from one prefill, with the log-probabilities of what was drawn.

    The same question with the same passages and seed gives the same samples, alone and in any batch: exactly in float32, in
    half precision but for draws on the edge between two tokens.
    """

    def __init__(self, sampler: CausalSampler, sampling: Sampling, *, instruction: str = INSTRUCTION) -> None:
        self._sampler, self._sampling, self._instruction = sampler, sampling, instruction
        shape = f"{sampling.temperature}:{sampling.top_p}:{sampling.top_k}:{sampling.max_tokens}"
        self.fingerprint = f"{sampler.fingerprint}:{shape}" + (f":{instruction}" if instruction != INSTRUCTION else "")

    def sample(
        self, items: Sequence[tuple[str, tuple[Passage, ...]]], *, n: int = 10, seed: int = 0
    ) -> list[tuple[Sample, ...]]:
        """Draw n answers to each (question, passages); a sample ends at a line's end, "Question:" or "Context:".

        Raises:
            ModelFailedError: a prompt that leaves no room for an answer.
        """
        written = [plain_receiver_prompt(question, passages, instruction=self._instruction) for question, passages in items]
        prompts = [self._sampler.encoder.text(text) for text in written]
        how = self._sampling
        for prompt in prompts:
            if len(prompt) + how.max_tokens > self._sampler.longest:
                raise ModelFailedError(_too_long(len(prompt), how.max_tokens, self._sampler.longest))
        asked = Sampling(n, how.temperature, how.top_p, how.top_k, how.max_tokens, STOPS, logprobs=True, seed=seed)
        return [tuple(one.sample(one.text.strip()) for one in several) for several in self._sampler.draw(prompts, asked)]


def _too_long(prompt: int, answer: int, longest: int) -> str:
    return (
        f"the prompt has {prompt} tokens and the answer may have {answer}, of {longest} that the model takes; "
        "give fewer passages, or allow a shorter answer"
    )


def _generation(prompt_tokens: int, drawn: Sequence[Drawn], *, logprobs: bool) -> Generation:
    samples = tuple(one.sample() if logprobs else Sample(one.text, finish_reason=one.finish) for one in drawn)
    return Generation(samples, prompt_tokens, sum(one.tokens for one in drawn))
