"""Writers for tests: a generator and a receiver that go by a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel

from rag_cover.backends import Failure, Generation, Prompt, Sampling
from rag_cover.questions import Passage
from rag_cover.testing.counters import Counter
from rag_cover.traces import Sample

__all__ = ["ScriptedGenerator", "ScriptedReceiver"]


@dataclass(frozen=True)
class ScriptedGenerator:
    """Replies by the first key of its script that the prompt holds, else with ``default``; a `Failure` fails.

    The prompt is read as one text that begins with its purpose, such as ``"purpose: type"``, so that a script can tell
    purposes, questions and a request to reply again apart.

    >>> generator = ScriptedGenerator({"sky": "Air scatters light.", "storm": Failure("timeout", "60 s")})
    >>> [generation.samples for generation in generator.generate(["Why is the sky blue?", "Why do storms form?"])]
    [(Sample(text='Air scatters light.', token_logprobs=None, finish_reason='stop'),), ()]
    """

    script: Mapping[str, str | Failure] = field(default_factory=dict)
    default: str | Failure = ""
    name: str = "scripted"
    asked: Counter = field(default_factory=Counter, compare=False, repr=False)

    @property
    def fingerprint(self) -> str:
        """Return what names this model in caches."""
        return f"testing:{self.name}-generator:{sorted(self.script.items(), key=str)}:{self.default}"

    def generate(
        self,
        prompts: Sequence[Prompt],
        sampling: Sampling = Sampling(),  # noqa: B008  # frozen
        *,
        schema: type[BaseModel] | None = None,  # noqa: ARG002  # the protocol's
        purpose: str = "other",
    ) -> list[Generation]:
        """Return each prompt's scripted reply, as often as samples are asked for."""
        self.asked.count(len(prompts))
        return [_generation(self._reply(f"purpose: {purpose}\n{_whole(prompt)}"), sampling.n) for prompt in prompts]

    def _reply(self, prompt: str) -> str | Failure:
        return next((reply for key, reply in self.script.items() if key in prompt), self.default)


@dataclass(frozen=True)
class ScriptedReceiver:
    """Answers by the first key of its script that a passage holds, else by ``prior``; in turn, beginning at the seed.

    >>> receiver = ScriptedReceiver({"Seine": ("Paris",)}, prior=("Rome", "Paris"))
    >>> [sample.text for sample in receiver.sample([("Where?", (Passage("On the Seine."),))], n=1)[0]]
    ['Paris']
    >>> [sample.text for sample in receiver.sample([("Where?", ())], n=3)[0]]
    ['Rome', 'Paris', 'Rome']
    """

    script: Mapping[str, Sequence[str | Sample]] = field(default_factory=dict)
    prior: Sequence[str | Sample] = ("I do not know.",)
    asked: Counter = field(default_factory=Counter, compare=False, repr=False)

    @property
    def fingerprint(self) -> str:
        """Return what names this model in caches."""
        return f"testing:scripted-receiver:{sorted(self.script.items(), key=str)}:{self.prior}"

    def sample(
        self, items: Sequence[tuple[str, tuple[Passage, ...]]], *, n: int = 10, seed: int = 0
    ) -> list[tuple[Sample, ...]]:
        """Draw n scripted answers for each (question, passages)."""
        self.asked.count(len(items))
        known = [self._answers(passages) for _, passages in items]
        return [tuple(_sample(answers[(seed + i) % len(answers)]) for i in range(n)) for answers in known]

    def _answers(self, passages: Sequence[Passage]) -> Sequence[str | Sample]:
        shown = "\n".join(passage.text for passage in passages)
        return next((answers for key, answers in self.script.items() if key in shown), self.prior)


def _sample(answer: str | Sample) -> Sample:
    return answer if isinstance(answer, Sample) else Sample(answer, finish_reason="stop")


def _whole(prompt: Prompt) -> str:
    return prompt if isinstance(prompt, str) else "\n".join(message.content for message in prompt)


def _generation(reply: str | Failure, n: int) -> Generation:
    if isinstance(reply, Failure):
        return Generation((), failure=reply)
    return Generation((Sample(reply, finish_reason="stop"),) * n)
