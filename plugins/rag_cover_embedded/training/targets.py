"""Examples as the network sees them: token ids, and which tokens their labels are about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokenizers import Tokenizer

from rag_cover.backends import ScoringItem
from rag_cover.texts import flatten
from rag_cover_embedded.features import FEATURES
from rag_cover_embedded.inputs import Encoded, Task, encode_pairs, join, reply_question
from rag_cover_embedded.relevance import find_content_words, words_of_tokens
from rag_cover_embedded.segments import segment_texts
from rag_cover_embedded.training.example import Example
from rag_cover_embedded.training.sources import stems
from rag_cover_embedded.verdicts import correctness_inputs

NO_TARGET = -100
_RECALL = FEATURES.index("best share of a reference's words found")


@dataclass(frozen=True, slots=True)
class Target:
    """One encoded example with its label and answer tokens (0, 0 for *none*, ``NO_TARGET`` where unknown).

    ``touched`` says of each token of the question whether the text speaks of it: 1, 0, or ``NO_TARGET``. ``abstains`` is the
    class of abstention or ``NO_TARGET``; a label of None trains no head but that one.
    """

    encoded: Encoded
    task: Task
    label: float | None
    start: int = NO_TARGET
    end: int = NO_TARGET
    touched: tuple[int, ...] = ()
    abstains: int = NO_TARGET
    weight: float = 1.0


def encode_targets(tokenizer: Tokenizer, examples: Sequence[Example]) -> list[Target]:
    """Encode examples, as the judge encodes its own inputs, and find the tokens their labels are about."""
    targets = []
    for task in (Task.ENTAILMENT, Task.ANSWERS):
        chosen = [example for example in examples if example.task is task]
        pairs = [
            (flatten(example.first) if task is Task.ENTAILMENT else example.first, flatten(example.second))
            for example in chosen
        ]
        encoded = encode_pairs(tokenizer, task, pairs)
        targets += [
            Target(
                code,
                task,
                example.label,
                *_answer_tokens(code, example.span),
                _label_question_tokens(tokenizer, code, example),
                weight=example.weight,
            )
            for code, example in zip(encoded, chosen, strict=True)
        ]
    targets += [_reply(tokenizer, example) for example in examples if example.task is Task.REPLIES]
    return targets + [
        target for example in examples if example.task is Task.CORRECT for target in _verdicts(tokenizer, example)
    ]


def _reply(tokenizer: Tokenizer, example: Example) -> Target:
    text = tokenizer.encode(flatten(example.second), add_special_tokens=False)
    code = join(Task.REPLIES, reply_question(tokenizer, example.first, example.user_question), text.ids, text.offsets)
    return Target(
        code,
        Task.REPLIES,
        example.label,
        *_answer_tokens(code, example.span),
        abstains=NO_TARGET if example.abstains is None else example.abstains,
        weight=example.weight,
    )


def _verdicts(tokenizer: Tokenizer, example: Example) -> list[Target]:
    """Take, of the pairs the judge would make, the likeliest for a right answer and up to two for a wrong one."""
    item = ScoringItem(example.first, example.second, example.references)
    (text,) = segment_texts(tokenizer, [example.second])
    inputs = correctness_inputs(tokenizer, item, text)
    inputs.sort(key=lambda encoded: -encoded.features[_RECALL])
    return [Target(code, Task.CORRECT, example.label, weight=example.weight) for code in inputs[: 1 if example.label else 2]]


def _label_question_tokens(tokenizer: Tokenizer, encoded: Encoded, example: Example) -> tuple[int, ...]:
    """Label the question's tokens: function words are left out."""
    if example.touched is None:
        return ()
    offsets = tokenizer.encode(example.first, add_special_tokens=False).offsets[: encoded.start - 2]
    words = find_content_words(example.first)
    spoken = stems(f"{example.second} {example.touched}")
    labels = [int(not spoken.isdisjoint(stems(word.of(example.first)))) for word in words]
    return tuple(labels[word] if word >= 0 else NO_TARGET for word in words_of_tokens(words, offsets))


def _answer_tokens(encoded: Encoded, span: tuple[int, int] | None) -> tuple[int, int]:
    if span is None:
        return NO_TARGET, NO_TARGET
    if span[0] < 0:
        return 0, 0
    inside = [i for i, (start, end) in enumerate(encoded.offsets) if start < span[1] and end > span[0]]
    return (encoded.start + inside[0], encoded.start + inside[-1]) if inside else (NO_TARGET, NO_TARGET)
