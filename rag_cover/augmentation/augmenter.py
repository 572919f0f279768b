"""One way of augmenting, set up once and used for many questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from rag_cover.argument_checks import refuse_below, refuse_outside, without_none
from rag_cover.augmentation.adaptive import confident_threshold, search_uncovered
from rag_cover.augmentation.chains import Chain
from rag_cover.augmentation.core import decompose_question
from rag_cover.augmentation.evidence import PassageEvidence
from rag_cover.augmentation.feedback import FEEDBACK
from rag_cover.augmentation.outcomes import Keeping, Outcome, failures_of, notes_on_retrieval, purchases, sub_question_results
from rag_cover.augmentation.prompts import combining, from_passages, with_definition, with_sub_questions
from rag_cover.augmentation.reading import SAMPLES, Reader, generate_texts, reading_receiver, writing_generator
from rag_cover.augmentation.result import Augmentation, AugmentationMode
from rag_cover.augmentation.retrieving import Retrieval, search_and_answer, search_for_all
from rag_cover.augmentation.selection import FAIR_SHARE
from rag_cover.augmentation.worth import worth_of
from rag_cover.backends import Entailer, Failure, Generator, Receiver, Retriever, Scorer
from rag_cover.belief import TraceUtility
from rag_cover.decomposition.multihop.slots import slots_in
from rag_cover.decomposition.strategies import Decomposer
from rag_cover.errors import InvalidValueError, nearest
from rag_cover.llm.prompts import Conversation
from rag_cover.questions import Passage, Question, SubQuestion, as_question, plain_query
from rag_cover.searching import Searches

__all__ = ["MODES", "ROUNDS", "Augmenter", "tokens_in", "unknown_mode"]

ROUNDS = 4
_CHARACTERS = 4  # of a token, as English texts have them on the average
MODES: Sequence[AugmentationMode] = get_args(AugmentationMode)


def tokens_in(text: str) -> int:
    """Estimate the tokens of a text: a quarter of its characters, rounded up."""
    return -(-len(text) // _CHARACTERS)


def unknown_mode(name: object) -> InvalidValueError:
    """Build the error for an unknown mode, which names the known ones."""
    return InvalidValueError(f"no augmentation is called {name!r}.{nearest(str(name), MODES)} There are: {', '.join(MODES)}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Augmenter:
    """Lets core sub-questions drive retrieval; as thread-safe as its models are. `augment` explains the fields.

    With ``writes`` False the answer is left to somebody else, who has the prompt; the generator does the rest.

    Raises:
        InvalidValueError: an unknown mode, one whose scorer or generator is missing, or a number that is none or out of range.
    """

    retriever: Retriever
    generator: Generator | None = None
    mode: AugmentationMode = "retrieval"
    scorer: Scorer | None = None
    decomposer: Decomposer | None = None
    receiver: Receiver | None = None
    entailer: Entailer | None = None
    k: int = 10
    depth: int | None = None
    max_tokens: int | None = None
    max_calls: int | None = None
    rounds: int = ROUNDS
    feedback: int = FEEDBACK
    fair_share: float = FAIR_SHARE
    threshold: float | None = None
    sure: float | None = None
    count_tokens: Callable[[str], int] = tokens_in
    workers: int = 8
    samples: int = SAMPLES
    seed: int = 0
    writes: bool = True

    def __post_init__(self) -> None:
        """Refuse what cannot work before anything is searched for."""
        if self.mode not in MODES:
            raise unknown_mode(self.mode)
        if self.scorer is None and self.mode in ("retrieval", "auto"):
            message = f"augmentation by {self.mode!r} judges coverage: give it a scorer, such as open_scorer('embedded')"
            raise InvalidValueError(message)
        if self.generator is None and self.mode == "end-to-end":
            message = "augmentation by 'end-to-end' writes answers: give it a generator, such as open_generator('openai:…')"
            raise InvalidValueError(message)
        refuse_below(1, k=self.k, rounds=self.rounds, workers=self.workers, samples=self.samples)
        refuse_below(1, **without_none(depth=self.depth, max_tokens=self.max_tokens, max_calls=self.max_calls))
        refuse_below(0, feedback=self.feedback)
        refuse_outside(0, 1, **without_none(fair_share=self.fair_share, threshold=self.threshold, sure=self.sure))

    def augment(self, question: Question | str, *, sub_questions: Sequence[SubQuestion | str] | None = None) -> Augmentation:
        """Augment one question, as `rag_cover.coverage.augment` does.

        Raises:
            InvalidValueError: a question or a sub-question that is blank, or a scorer's threshold outside [0, 1].
            ModelFailedError: every search failed, or the scorer did.
        """
        asked = as_question(question)
        reader = self._reader()
        given = decompose_question(
            asked, given=sub_questions, decomposer=self.decomposer, generator=self.generator, answers=reader is not None
        )
        searches = Searches(self.retriever, k=self.depth or self.k, most=self.max_calls, workers=self.workers)
        chain = Chain([each.text for each in given.core], literal=slots_in(asked.text, position=len(given.core)))
        retrieval = Retrieval(self._query(asked.text, chain), chain, searches, reader, self.feedback)
        evidence = None if self.scorer is None else PassageEvidence(self.scorer, self.threshold)
        self._search(retrieval, evidence)
        failures = (*given.failures, *failures_of(retrieval))
        keeping = Keeping(self.k, self.fair_share, self.max_tokens, self.count_tokens)
        sure = self._sure(evidence) if evidence is not None and self.mode == "auto" else None
        outcome = Outcome.of(retrieval, evidence, keeping, sure=sure)
        utility = worth_of(asked, searches.steps, receiver=self.receiver, entailer=self.entailer, seed=self.seed)
        worth = {} if utility is None or isinstance(utility, Failure) else _marginals(utility)
        prompt = self._prompt(asked.text, chain, outcome.passages)
        answer = self._answer(prompt)
        return Augmentation(
            question=asked,
            mode=self.mode,
            sub_questions=sub_question_results(outcome, given.core),
            steps=tuple(searches.steps),
            passages=outcome.passages,
            prompt=prompt,
            answer=None if isinstance(answer, Failure) else answer,
            bought=purchases(outcome, worth),
            others=given.others,
            rounds=retrieval.rounds,
            threshold=None if evidence is None else evidence.threshold,
            utility=None if isinstance(utility, Failure) else utility,
            failures=(*failures, *(each for each in (utility, answer) if isinstance(each, Failure))),
            notes=notes_on_retrieval(retrieval, outcome.passages),
        )

    def _reader(self) -> Reader | None:
        if self.mode == "end-to-end" or self.receiver is None:
            return None if self.generator is None else writing_generator(self.generator)
        return reading_receiver(self.receiver, samples=self.samples, seed=self.seed)

    def _query(self, question: str, chain: Chain) -> str:
        """Return what the question itself is searched for by: with `subquestions`, these go with it."""
        others = [text for text in chain.bare if plain_query(text) != plain_query(question)]
        return " ".join([question, *others]) if self.mode == "subquestions" else question

    def _search(self, retrieval: Retrieval, evidence: PassageEvidence | None) -> None:
        match self.mode:
            case "definition" | "subquestions":
                retrieval.searches.search([retrieval.query])
            case "end-to-end" if retrieval.chain.texts(retrieval.chain.numbers):
                search_and_answer(retrieval)
            case "auto" if evidence is not None:
                search_uncovered(retrieval, evidence, sure=self._sure(evidence), rounds=self.rounds)
            case _:
                search_for_all(retrieval)

    def _sure(self, evidence: PassageEvidence) -> float:
        return confident_threshold(evidence.threshold) if self.sure is None else self.sure

    def _prompt(self, question: str, chain: Chain, passages: Sequence[Passage]) -> Conversation:
        texts = chain.texts(chain.numbers)
        match self.mode:
            case "definition":
                return with_definition(question, passages)
            case "subquestions":
                return with_sub_questions(question, passages, texts)
            case "end-to-end" if texts:
                asked = [(chain.text(number), chain.answers.get(number)) for number in chain.numbers]
                return combining(question, [(text, answer) for text, answer in asked if text in texts])
            case _:
                return from_passages(question, passages)

    def _answer(self, prompt: Conversation) -> str | Failure | None:
        if self.generator is None or not self.writes:
            return None
        (answer,) = generate_texts(self.generator, [prompt], purpose="answer")
        return answer if isinstance(answer, str) else replace(answer, message=f"no answer to the question: {answer.message}")


def _marginals(utility: TraceUtility) -> dict[str, float]:
    return {step.step: step.marginal.value for step in utility.steps}
