"""Calls that begin and end in any order, on any thread, become one draft for each outermost question."""

from __future__ import annotations

import gc
import random
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.recording.calls import Call, QuestionContext, TraceDraft
from rag_cover.recording.collector import CallCollector
from rag_cover.spans.model import SpanKind

STARTS = {"question", "retriever", "reranker", "postprocessor", "tool"}
KINDS: tuple[SpanKind | None, ...] = (None, *get_args(SpanKind))


@dataclass(frozen=True)
class Spoken:
    """A call tree: each call's kind, None where it says nothing, and the position of the one around it."""

    name: str
    kinds: tuple[SpanKind | None, ...]
    around: tuple[int | None, ...]

    def id(self, position: int) -> str:
        return f"{self.name}/{position}"

    def parent(self, position: int) -> str | None:
        above = self.around[position]
        return None if above is None else self.id(above)

    def path(self, position: int) -> list[int]:
        """From the outermost to this one."""
        above = self.around[position]
        return [*([] if above is None else self.path(above)), position]

    def below(self, position: int) -> list[int]:
        """All that hangs under this one, at any depth."""
        return [each for each in range(len(self.kinds)) if each != position and position in self.path(each)]

    def belongs_to(self, position: int) -> int | None:
        """The outermost on its path that may begin a draft."""
        return next((each for each in self.path(position) if self.kinds[each] in STARTS), None)

    def drafts(self) -> dict[str, dict[str, str | None]]:
        """Each draft's calls, with the nearest call above each that says something."""
        drafts: dict[str, dict[str, str | None]] = {}
        for position, kind in enumerate(self.kinds):
            root = self.belongs_to(position)
            if root is None or kind is None:
                continue
            within = [each for each in self.path(position)[:-1] if each >= root and self.kinds[each] is not None]
            within = [each for each in within if self.belongs_to(each) is not None]
            drafts.setdefault(self.id(root), {})[self.id(position)] = self.id(within[-1]) if within else None
        return drafts


@st.composite
def trees(draw: st.DrawFn, name: str = "q") -> Spoken:
    size = draw(st.integers(1, 9))
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=size, max_size=size))
    around = [None, *(draw(st.integers(0, position - 1)) for position in range(1, size))]
    return Spoken(name, tuple(kinds), tuple(around))


draws = st.integers(0, 2**32).map(random.Random)


@st.composite
def forests(draw: st.DrawFn) -> list[Spoken]:
    return [draw(trees(f"q{number}")) for number in range(draw(st.integers(1, 5)))]


@dataclass
class Interleaving:
    """The beginnings and ends of several trees in a random order in which every call begins within its parent.

    With ``late``, a call may end after those around it.
    """

    forest: Sequence[Spoken]
    draw: random.Random
    late: bool = False
    open: set[tuple[int, int]] = field(default_factory=set)
    ended: set[tuple[int, int]] = field(default_factory=set)

    def __iter__(self) -> Iterator[tuple[str, Spoken, int]]:
        while events := [*self._beginnings(), *self._ends()]:
            what, number, position = self.draw.choice(sorted(events))
            (self.open.add if what == "begin" else self.ended.add)((number, position))
            if what == "end":
                self.open.discard((number, position))
            yield what, self.forest[number], position

    def _beginnings(self) -> Iterator[tuple[str, int, int]]:
        for number, tree in enumerate(self.forest):
            for position, above in enumerate(tree.around):
                new = (number, position) not in self.open | self.ended
                if new and (above is None or (number, above) in self.open):
                    yield "begin", number, position

    def _ends(self) -> Iterator[tuple[str, int, int]]:
        for number, position in self.open:
            below = {(number, each) for each in self.forest[number].below(position)}
            if below <= (self.ended | self.open if self.late else self.ended):
                yield "end", number, position


def play(gathering: CallCollector, events: Iterator[tuple[str, Spoken, int]]) -> None:
    for what, tree, position in events:
        id_, kind = tree.id(position), tree.kinds[position]
        if what == "begin":
            gathering.begin(id_, tree.parent(position), None if kind is None else Call(id_, kind))
        else:
            gathering.settle(id_)


def told(drafts: Sequence[TraceDraft]) -> dict[str, dict[str, str | None]]:
    return {draft.root.id: {call.id: call.parent for call in draft.calls} for draft in drafts}


def expected(forest: Sequence[Spoken]) -> dict[str, dict[str, str | None]]:
    return {root: calls for tree in forest for root, calls in tree.drafts().items()}


def is_empty(gathering: CallCollector) -> bool:
    return not gathering._open and not gathering._drafts and not gathering.under_way


@given(forest=forests(), draw=draws, late=st.booleans())
def test_each_draft_holds_its_own_calls_under_the_nearest_that_says_something(
    forest: list[Spoken], draw: random.Random, *, late: bool
) -> None:
    drafts: list[TraceDraft] = []
    gathering = CallCollector(drafts.append)

    play(gathering, iter(Interleaving(forest, draw, late)))

    assert told(drafts) == expected(forest)
    assert gathering.begun == len(drafts)
    assert is_empty(gathering)


@given(forests(), draws)
def test_a_draft_is_handed_over_once_and_complete_but_for_what_ends_late(forest: list[Spoken], draw: random.Random) -> None:
    drafts: list[TraceDraft] = []
    gathering = CallCollector(drafts.append)

    play(gathering, iter(Interleaving(forest, draw)))

    assert len({draft.root.id for draft in drafts}) == len(drafts)
    assert all(call.ended_at is not None for draft in drafts for call in draft.calls)
    assert all(draft.calls[0] is draft.root and draft.over and draft.taken and not draft.broken for draft in drafts)


@given(forests(), draws, st.sampled_from([0.0, 0.3, 0.7]))
def test_an_unsampled_question_leaves_nothing(forest: list[Spoken], draw: random.Random, share: float) -> None:
    drafts: list[TraceDraft] = []
    gathering = CallCollector(drafts.append, sampling=share)

    play(gathering, iter(Interleaving(forest, draw, late=True)))

    whole = expected(forest)
    assert all(calls == whole[root] for root, calls in told(drafts).items())
    assert gathering.begun == len(whole) == gathering.unsampled + len(drafts)
    assert is_empty(gathering)
    assert share or not drafts


@given(forests(), draws, st.integers(1, 3))
def test_questions_beyond_the_most_are_refused_and_counted(forest: list[Spoken], draw: random.Random, most: int) -> None:
    drafts: list[TraceDraft] = []
    gathering = CallCollector(drafts.append, most_drafts=most)
    under_way = []

    for event in Interleaving(forest, draw, late=True):
        play(gathering, iter([event]))
        under_way.append(len(gathering.under_way))

    assert max(under_way) <= most
    assert gathering.begun == gathering.refused + len(drafts) == len(expected(forest))
    assert is_empty(gathering)


def test_a_question_that_is_under_way_for_hours_makes_room_and_is_counted() -> None:
    drafts: list[TraceDraft] = []
    gathering = CallCollector(drafts.append, most_drafts=1)
    forgotten = Call("forgotten", "question", begun_s=time.monotonic() - 7200)
    gathering.begin("forgotten", None, forgotten)
    gathering.begin("inside", "forgotten", Call("inside", "retriever"))

    gathering.begin("new", None, Call("new", "question"))
    gathering.begin("refused", None, Call("refused", "question"))
    for call_id in ("inside", "forgotten", "refused", "new"):
        gathering.settle(call_id)

    assert [draft.root.id for draft in drafts] == ["new"]
    assert (gathering.begun, gathering.refused) == (3, 2)
    assert is_empty(gathering)


@given(trees(), draws, st.integers(1, 4))
def test_a_draft_of_more_calls_than_are_kept_is_broken(tree: Spoken, draw: random.Random, most: int) -> None:
    drafts: list[TraceDraft] = []
    gathering = CallCollector(drafts.append, most_calls=most)

    play(gathering, iter(Interleaving([tree], draw)))

    whole = expected([tree])
    assert {draft.root.id: draft.broken for draft in drafts} == {root: len(calls) > most for root, calls in whole.items()}
    assert all(len(draft.calls) <= most for draft in drafts)
    assert is_empty(gathering)


def test_sixteen_threads_keep_their_questions_apart() -> None:
    forests_ = [[_random_tree(f"t{thread}-{number}") for number in range(6)] for thread in range(16)]
    drafts: list[TraceDraft] = []
    gathering = CallCollector(drafts.append)

    threads = [
        threading.Thread(target=play, args=(gathering, iter(Interleaving(forest, random.Random(number), late=True))))
        for number, forest in enumerate(forests_)
    ]
    _run(threads)

    assert told(drafts) == expected([tree for forest in forests_ for tree in forest])
    assert is_empty(gathering)


def test_calls_of_one_question_may_come_from_many_threads() -> None:
    drafts: list[TraceDraft] = []
    gathering = CallCollector(drafts.append)
    gathering.begin("q", None, Call("q", "question"))

    def retrieve(number: int) -> None:
        for each in range(50):
            id_ = f"r{number}-{each}"
            gathering.begin(id_, "q", Call(id_, "retriever"))
            gathering.settle(id_)

    _run([threading.Thread(target=retrieve, args=(number,)) for number in range(16)])
    gathering.settle("q")

    assert len(drafts[0].calls) == 1 + 16 * 50
    assert is_empty(gathering)


def test_what_begins_inside_a_question_that_is_over_is_left_out() -> None:
    drafts: list[TraceDraft] = []
    gathering = CallCollector(drafts.append)
    gathering.begin("q", None, Call("q", "question"))
    gathering.begin("r", "q", Call("r", "retriever"))
    gathering.settle("q")

    begun = gathering.begin("late", "r", Call("late", "retriever"))

    assert begun is None
    for id_ in ("late", "r"):
        gathering.settle(id_)
    assert [[call.id for call in draft.calls] for draft in drafts] == [["q", "r"]]
    assert (gathering.begun, is_empty(gathering)) == (1, True)


def test_calls_that_never_end_hold_nothing_of_their_question() -> None:
    drafts: list[TraceDraft] = []
    gathering = CallCollector(drafts.append)
    gathering.begin("q", None, Call("q", "question"))
    gathering.begin("hangs", "q", Call("hangs", "retriever"))

    gathering.settle("q")

    assert gathering._open == {"hangs": (None, None)}
    assert (gathering.knows("hangs"), gathering.find("hangs"), gathering.knows("q")) == (True, None, False)
    assert gathering.begin("below", "hangs", Call("below", "retriever")) is None
    for id_ in ("below", "hangs"):
        gathering.settle(id_)
    assert ([call.ended_at for call in drafts[0].calls[1:]], is_empty(gathering)) == ([None], True)


def test_of_calls_that_never_end_the_latest_names_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rag_cover.recording.collector._MOST_LEFT", 3)
    gathering = CallCollector(lambda _: None)

    for number in range(5):
        gathering.begin(f"q{number}", None, Call(f"q{number}", "question"))
        gathering.begin(f"hangs{number}", f"q{number}", Call(f"hangs{number}", "retriever"))
        gathering.settle(f"q{number}")

    assert set(gathering._open) == {"hangs2", "hangs3", "hangs4"}


def test_an_answer_that_is_written_later_is_waited_for_and_what_writes_it_belongs_to_its_question() -> None:
    drafts: list[TraceDraft] = []
    gathering = CallCollector(drafts.append)
    question = Call("q", "question")
    gathering.begin("q", None, question)
    gathering.await_answer("q")
    gathering.settle("q")

    gathering.begin("w", "q", Call("w", "llm"))
    gathering.settle("w")
    (waiting,) = gathering.under_way
    gathering.set_answer(waiting, "Air scatters light.")

    assert [(draft.root.answer, len(draft.calls)) for draft in drafts] == [("Air scatters light.", 2)]
    assert is_empty(gathering)


def test_an_answer_may_be_there_before_its_call_is_over() -> None:
    drafts: list[TraceDraft] = []
    gathering = CallCollector(drafts.append)
    gathering.begin("q", None, Call("q", "question"))
    draft = gathering.draft_of("q")
    assert draft is not None

    gathering.set_answer(draft, "Quick.")
    gathering.await_answer("q")
    gathering.settle("q")

    assert [each.root.answer for each in drafts] == ["Quick."]


def test_an_answer_that_nobody_read_is_none_and_not_empty() -> None:
    drafts: list[TraceDraft] = []
    gathering = CallCollector(drafts.append)
    gathering.begin("q", None, Call("q", "question"))
    gathering.await_answer("q")
    gathering.settle("q")

    gathering.set_answer(gathering.under_way[0], None)

    assert [each.root.answer for each in drafts] == [None]


def test_what_is_under_way_is_forgotten_and_what_waits_for_its_reader_is_returned() -> None:
    drafts: list[TraceDraft] = []
    gathering = CallCollector(drafts.append)
    for id_ in ("over", "open"):
        gathering.begin(id_, None, Call(id_, "question"))
    gathering.await_answer("over")
    gathering.settle("over")
    (over, _) = gathering.under_way

    left = gathering.abandon()
    gathering.settle("open")
    gathering.set_answer(over, "Too late.")

    assert ([draft.root.id for draft in left], drafts) == (["over"], [])
    assert (gathering.begun, gathering.refused, is_empty(gathering)) == (2, 1, True)


def test_what_was_said_of_a_question_is_kept_with_its_draft() -> None:
    drafts: list[TraceDraft] = []
    gathering = CallCollector(drafts.append)
    asked = QuestionContext("Why?", references=("Air.",))

    gathering.begin("q", None, Call("q", "question"), asked)
    gathering.settle("q")

    assert drafts[0].asked is asked


def test_which_questions_are_sampled_is_told_by_the_seed() -> None:
    def sampled(seed: int) -> list[str]:
        drafts: list[TraceDraft] = []
        gathering = CallCollector(drafts.append, sampling=0.5, seed=seed)
        for number in range(200):
            gathering.begin(f"q{number}", None, Call(f"q{number}", "question"))
            gathering.settle(f"q{number}")
        return [draft.root.id for draft in drafts]

    first = sampled(1)

    assert first == sampled(1) != sampled(2)
    assert 60 < len(first) < 140


def test_a_stream_that_is_collected_while_another_question_begins_does_not_deadlock() -> None:
    drafts: list[TraceDraft] = []
    gathering = CallCollector(drafts.append, sampling=0.5)
    abandoned = _draft_that_waits(gathering)

    class Draw:
        def random(self) -> float:  # under the lock, where any allocation may collect garbage
            gc.collect()
            gathering.set_answer(abandoned, None)
            return 0.0

    gathering._draw = Draw()  # type: ignore[assignment]  # all that is asked of it
    asking = threading.Thread(target=gathering.begin, args=("q", None, Call("q", "question")), daemon=True)
    asking.start()
    asking.join(5)

    assert not asking.is_alive()
    assert drafts == [abandoned]


@pytest.mark.parametrize("kind", sorted({"llm", "synthesis", "other"}))
def test_a_call_that_neither_asks_nor_retrieves_begins_nothing(kind: SpanKind) -> None:
    drafts: list[TraceDraft] = []
    gathering = CallCollector(drafts.append)

    assert gathering.begin("c", None, Call("c", kind)) is None
    gathering.settle("c")

    assert (drafts, gathering.begun, is_empty(gathering)) == ([], 0, True)


def _draft_that_waits(gathering: CallCollector) -> TraceDraft:
    gathering._sampling = 1.0
    gathering.begin("streamed", None, Call("streamed", "question"))
    gathering._sampling = 0.5
    gathering.await_answer("streamed")
    gathering.settle("streamed")
    return gathering.under_way[0]


def _random_tree(name: str) -> Spoken:
    draw = random.Random(name)
    size = draw.randint(1, 9)
    around = [None, *(draw.randrange(position) for position in range(1, size))]
    return Spoken(name, tuple(draw.choice(KINDS) for _ in range(size)), tuple(around))


def _run(threads: Sequence[threading.Thread]) -> None:
    often = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(often)
    assert not any(thread.is_alive() for thread in threads)
