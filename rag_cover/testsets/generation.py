"""A test set made from a corpus: candidates are written, then filtered by what the judge and the retriever say of them.

A candidate is left out where its own words answer it (*leaking*), where the judge does not find the answer in its passage
(*not answered*), where the judge is certain that another passage answers it as well (*answered elsewhere*; one that says it in
the same words is another gold passage), where a search does not find the passage (*not found*), as of most questions that name
nothing, and where it means what another one does (*duplicate*). Questions over two passages join two such questions whose
passages retrieval links. Unanswerable ones ask of one thing what the corpus says of another, and are kept where none of the
nearest passages answers them.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, islice, product, takewhile, zip_longest
from pathlib import PurePath

import numpy as np
from numpy.typing import NDArray

from rag_cover.argument_checks import refuse_below
from rag_cover.backends import Embedder, Retriever, Scorer, ScoringItem, certain_cuts_of
from rag_cover.decomposition.nuggets.statements import StatementSource, statements_in
from rag_cover.english.lexicon import FUNCTION_WORDS
from rag_cover.english.noun_phrases import is_plural
from rag_cover.english.words import content_words
from rag_cover.errors import InvalidValueError
from rag_cover.model_calls import ask_probabilities
from rag_cover.questions import Passage, prepend_title
from rag_cover.testsets.documents import HEADINGS
from rag_cover.testsets.named_things import points_back
from rag_cover.testsets.question_rules import ask_about
from rag_cover.testsets.questions import GoldStatement, TestsetQuestion

__all__ = ["Shares", "Testset", "TestsetMaker", "candidates_by_rules"]

DEPTH = 8
_SAME = 0.9
_TWICE = 0.8
"""The least cosine of two questions that ask for one thing."""
_COPIED = 0.9
_BLOCK = 48
_ATTEMPTS = 40
_MORE = 2
"""How many times as many questions as are needed are made at most, to find two that go together."""
_UNSUPPORTED = 0.5
"""How far below the judge's cut every nearest passage of an unanswerable question lies."""
_SWAPPED = frozenset({"what does", "purpose", "cost"})
"""Rules whose questions make sense of another thing, too: most things have a price, and few can be founded."""
_ALIKE = 0.25
"""The least cosine of two things of which one is asked what is said of the other."""
_NAME = re.compile(r"(?<![.!?:] )(?<!^)(?<!\n)\b[A-Z][a-z]+\b")
_NO_SOURCE = re.compile(r"HISTORY|NEWS|(?i:change(?:s|[ _-]?log)|release[ _-]?notes|authors|contributors|licen[cs]es?)")
_COMMON_WORD = re.compile(r"(?<![.!?:] )(?<!^)\b[a-z]+\b")


@dataclass(frozen=True, slots=True)
class Shares:
    """Which share of the questions takes two passages, and which the corpus does not answer; the rest takes one.

    Raises:
        InvalidValueError: a share outside [0, 1], or both together above 1.
    """

    multi: float = 0.2
    unanswerable: float = 0.1

    def __post_init__(self) -> None:
        """Refuse what are no shares."""
        if min(self.multi, self.unanswerable) < 0 or not self.multi + self.unanswerable <= 1:
            message = (
                f"the shares are multi {self.multi} and unanswerable {self.unanswerable}; each is at least 0, both at most 1"
            )
            raise InvalidValueError(message)

    def counts(self, n: int) -> tuple[int, int, int]:
        """Return how many of n questions are single, multi and unanswerable.

        >>> Shares(multi=0.2, unanswerable=0.1).counts(50)
        (35, 10, 5)
        """
        multi = round(n * self.multi)
        unanswerable = min(round(n * self.unanswerable), n - multi)
        return n - multi - unanswerable, multi, unanswerable


@dataclass(frozen=True, slots=True)
class Testset:
    """The questions that were made, and why candidates were left out, by how many."""

    __test__ = False  # for pytest, this is no test

    questions: tuple[TestsetQuestion, ...]
    rejected: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QuestionCandidate:
    """A question that may become one of the test set; ``about`` is what it is about, where a rule knows."""

    gold: GoldStatement
    made_by: str
    about: str | None = None

    @property
    def question(self) -> str:
        """Return what is asked."""
        return self.gold.question


@dataclass(frozen=True, slots=True)
class _Accepted:
    candidate: QuestionCandidate
    near: tuple[Passage, ...]
    vector: NDArray[np.float32]

    @property
    def rank(self) -> int:
        return [passage.key for passage in self.near].index(self.candidate.gold.passage.key) + 1


def is_passed_over(document: str) -> bool:
    """Return whether rules ask nothing of a document, as of change logs and licences: it is out of date, or off the subject.

    >>> is_passed_over("docs/CHANGELOG.md"), is_passed_over("HISTORY.txt"), is_passed_over("history.html")
    (True, True, False)
    """
    return _NO_SOURCE.fullmatch(PurePath(document).stem) is not None


def candidates_by_rules(passages: Sequence[Passage], *, seed: int = 0) -> Iterator[QuestionCandidate]:
    """Yield what rules can ask about the passages, the rules by turns, each at random over the corpus."""
    small = Counter(word for passage in passages for word in _COMMON_WORD.findall(passage.text))
    capital = Counter(word for passage in passages for word in _NAME.findall(passage.text))
    common = frozenset(word for word, count in small.items() if count >= capital[word.capitalize()])
    names = frozenset(word for word, count in capital.items() if count > small[word.lower()])
    by_rule: dict[str, list[QuestionCandidate]] = {}
    for passage in passages:
        if is_passed_over(_document(passage)):
            continue
        for said in statements_in(StatementSource("passage", passage.key, passage.text, passage.key)):
            before = passage.text[: said.start]
            for asked in ask_about(said.text, common=common, names=names):
                if points_back(asked.question, asked.about, before):
                    continue
                gold = GoldStatement(asked.question, said.text, passage, said.fragment)
                by_rule.setdefault(asked.rule, []).append(QuestionCandidate(gold, f"rule:{asked.rule}", asked.about))
    rng = random.Random(seed)  # noqa: S311  # a sample, not a secret
    for found in by_rule.values():
        rng.shuffle(found)
    yield from (each for turn in zip_longest(*by_rule.values()) for each in turn if each is not None)


class TestsetMaker:
    """Chooses questions among candidates.

    Args:
        passages: the corpus.
        retriever: searches it.
        scorer: judges whether a passage answers a question.
        embedder: tells questions that mean the same.
        depth: how many passages are searched for each question.
    """

    __test__ = False  # for pytest, this is no test

    def __init__(
        self, passages: Sequence[Passage], retriever: Retriever, scorer: Scorer, embedder: Embedder, *, depth: int = DEPTH
    ) -> None:
        self._passages, self._retriever, self._scorer, self._embedder = passages, retriever, scorer, embedder
        self._depth = depth
        self._certain = max(scorer.threshold, certain_cuts_of(scorer).get("passage", (0.0, 0.0))[1])
        self._rejected: Counter[str] = Counter()
        self._vectors: list[NDArray[np.float32]] = []
        self._named: list[QuestionCandidate] = []
        self._asked: set[str] = set()

    def make(self, candidates: Iterable[QuestionCandidate], n: int, *, shares: Shares | None = None, seed: int = 0) -> Testset:
        """Make n questions, or as many as the candidates give.

        Raises:
            InvalidValueError: n below 1.
            ModelFailedError: the judge failed.
        """
        refuse_below(1, n=n)
        singles, multis, unanswerables = (shares or Shares()).counts(n)
        wanted = singles + 2 * multis
        swappable = _MORE * unanswerables if unanswerables > singles + multis else 0
        accepted: list[_Accepted] = []
        left = iter(candidates)
        sizes = Counter(map(_document, self._passages))
        joined: list[tuple[_Accepted, _Accepted]] = []
        while (
            len(accepted) < wanted
            or (len(joined) < multis and len(accepted) < _MORE * wanted)
            or sum(map(_is_swappable, accepted)) < swappable
        ):
            if not (block := list(islice(left, _BLOCK))):
                break
            accepted += self._accept(block)
            fair = multis if len(accepted) >= wanted else round(len(accepted) * multis / max(1, wanted))
            joined = _join_linked(accepted, fair, sizes)
        used = {id(each) for pair in joined for each in pair}
        rest = [each for each in accepted if id(each) not in used][:singles]
        swapped = self._swap(accepted, unanswerables, random.Random(seed))  # noqa: S311  # a sample, not a secret
        questions = [*map(_single, rest), *(_multi(*pair) for pair in joined), *swapped]
        return Testset(tuple(questions), dict(self._rejected))

    def _accept(self, block: Sequence[QuestionCandidate]) -> list[_Accepted]:
        """Keep the candidates that pass every filter."""
        new = [each for each in block if self._is_new(each.question)]
        self._named += [each for each in new if each.about]
        answered = self._filter_by_passage(new)
        near = [tuple(self._retriever.retrieve(each.question, k=self._depth)) for each in answered]
        return [each for each in self._filter_by_others(answered, near) if not self._means_the_same(each.vector)]

    def _is_new(self, question: str) -> bool:
        key = " ".join(question.casefold().split())
        if key in self._asked:
            self._rejected["duplicate"] += 1
            return False
        self._asked.add(key)
        return True

    def _filter_by_passage(self, candidates: Sequence[QuestionCandidate]) -> list[QuestionCandidate]:
        sources = [ScoringItem(each.question, _text(each.gold.passage)) for each in candidates]
        echoes = [ScoringItem(each.question, each.question) for each in candidates]
        said = ask_probabilities(self._scorer, [*sources, *echoes])
        kept = []
        for each, source, echo in zip(candidates, sources, echoes, strict=True):
            if said[source] < self._scorer.threshold:
                self._rejected["not answered"] += 1
            elif said[echo] >= self._scorer.threshold:
                self._rejected["leaking"] += 1
            else:
                kept.append(each)
        return kept

    def _filter_by_others(
        self, candidates: Sequence[QuestionCandidate], near: Sequence[tuple[Passage, ...]]
    ) -> list[_Accepted]:
        others = [
            {passage: ScoringItem(each.question, _text(passage)) for passage in found if not _says(passage, each.gold)}
            for each, found in zip(candidates, near, strict=True)
        ]
        said = ask_probabilities(self._scorer, chain.from_iterable(each.values() for each in others))
        vectors = np.asarray(self._embedder.embed([each.question for each in candidates]))
        kept = []
        for each, found, items, vector in zip(candidates, near, others, vectors, strict=True):
            if each.gold.passage.key not in {passage.key for passage in found}:
                self._rejected["not found"] += 1
            elif any(said[item] >= self._certain for item in items.values()):
                self._rejected["answered elsewhere"] += 1
            else:
                copies = tuple(passage for passage in found if passage not in items and passage.key != each.gold.passage.key)
                kept.append(_Accepted(replace(each, gold=replace(each.gold, copies=copies)), found, vector))
        return kept

    def _means_the_same(self, vector: NDArray[np.float32]) -> bool:
        if self._vectors and float((np.stack(self._vectors) @ vector).max()) >= _SAME:
            self._rejected["duplicate"] += 1
            return True
        self._vectors.append(vector)
        return False

    def _swap(self, accepted: Sequence[_Accepted], n: int, rng: random.Random) -> list[TestsetQuestion]:
        """Ask of one thing what the corpus says of another, the most alike first; keep what no near passage answers."""
        if not n:
            return []
        asked = [each.candidate for each in accepted if _is_swappable(each)]
        named = rng.sample(self._named, len(self._named))
        mine, theirs = (np.asarray(self._embedder.embed([each.about or "" for each in some])) for some in (asked, named))
        alike = {
            (one, other): cosine
            for one, other in product(range(len(asked)), range(len(named)))
            if (cosine := float(mine[one] @ theirs[other])) >= _ALIKE and _can_swap(asked[one], named[other])
        }
        pairs = [(asked[one], named[other]) for one, other in sorted(alike, key=lambda pair: -alike[pair])]
        found: list[TestsetQuestion] = []
        taken: set[str] = set()
        for one, other in pairs[: _ATTEMPTS * n]:
            if len(found) == n:
                break
            text = one.question.replace(one.about or "", other.about or "")
            if one.question in taken or not self._is_new(text):
                continue
            if not self._nothing_answers(text):
                self._rejected["answerable"] += 1
                continue
            taken.add(one.question)
            found.append(TestsetQuestion(text, "unanswerable", (), f"{one.made_by} of another thing"))
        return found

    def _nothing_answers(self, question: str) -> bool:
        near = self._retriever.retrieve(question, k=2 * self._depth)
        said = ask_probabilities(self._scorer, [ScoringItem(question, _text(passage)) for passage in near])
        return all(value < _UNSUPPORTED * self._scorer.threshold for value in said.values())


def _text(passage: Passage) -> str:
    return prepend_title(passage.title, passage.text)


def _says(passage: Passage, gold: GoldStatement) -> bool:
    """Return whether a passage is the gold one, or has nearly all words of the statement."""
    wanted = content_words(gold.statement)
    return passage.key == gold.passage.key or len(wanted & content_words(passage.text)) >= _COPIED * len(wanted)


def _rule(candidate: QuestionCandidate) -> str:
    return candidate.made_by.removeprefix("rule:")


def _document(passage: Passage) -> str:
    return str(passage.metadata.get("document") or passage.title or "")


def _can_swap(one: QuestionCandidate, other: QuestionCandidate) -> bool:
    """Return whether two candidates are about things of two passages that a question can take in each other's place."""
    first, second = one.about or "", other.about or ""
    if first.casefold() == second.casefold() or one.question.count(first) != 1:
        return False
    elsewhere = one.gold.passage.key != other.gold.passage.key
    return elsewhere and is_plural(first) == is_plural(second) and first[:1].isupper() == second[:1].isupper()


def _join_linked(accepted: Sequence[_Accepted], n: int, sizes: Mapping[str, int]) -> list[tuple[_Accepted, _Accepted]]:
    """Pair questions about different passages, one of which retrieval finds for the other: of one document, if it has several.

    Those under the most headings together come first, then the most alike, but none that ask for one thing twice. Each
    question is in one pair at most. ``sizes`` are the numbers of passages of the documents.
    """
    found = [({passage.key for passage in each.near}, each.candidate.gold.passage) for each in accepted]
    linked = [
        (-_shared_headings(mine, theirs), -float(accepted[at].vector @ accepted[place].vector), at, place)
        for (at, (near, mine)), (place, (other_near, theirs)) in combinations(enumerate(found), 2)
        if mine.key != theirs.key and (theirs.key in near or mine.key in other_near) and _go_together(mine, theirs, sizes)
    ]
    joined: list[tuple[_Accepted, _Accepted]] = []
    used: set[int] = set()
    for _, opposite, at, place in sorted(linked):
        if -opposite > _TWICE:
            continue
        if len(joined) < n and not used & {at, place}:
            used |= {at, place}
            joined.append((accepted[at], accepted[place]))
    return joined


def _shared_headings(one: Passage, other: Passage) -> int:
    """Count the headings, from the first on, that two passages stand under.

    >>> _shared_headings(Passage("a", title=f"Guide{HEADINGS}Install{HEADINGS}Linux"), Passage("b", title="Guide"))
    1
    """
    pairs = zip((one.title or "").split(HEADINGS), (other.title or "").split(HEADINGS), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1] != "", pairs))


def _go_together(one: Passage, other: Passage, sizes: Mapping[str, int]) -> bool:
    first, second = _document(one), _document(other)
    return first == second or min(sizes[first], sizes[second]) == 1


def _is_swappable(accepted: _Accepted) -> bool:
    return bool(accepted.candidate.about) and _rule(accepted.candidate) in _SWAPPED


def _single(accepted: _Accepted) -> TestsetQuestion:
    each = accepted.candidate
    return TestsetQuestion(each.question, "single", (each.gold,), each.made_by, accepted.rank)


def _multi(one: _Accepted, other: _Accepted) -> TestsetQuestion:
    first, second = one.candidate, other.candidate
    opener, rest = second.question[:1], second.question[1:]
    begins = second.question.partition(" ")[0].lower() in FUNCTION_WORDS  # and is no name, which stays as it is
    text = f"{first.question.rstrip('?')}, and {opener.lower() if begins else opener}{rest}"
    return TestsetQuestion(
        text, "multi", (first.gold, second.gold), f"{first.made_by} and {second.made_by}", max(one.rank, other.rank)
    )
