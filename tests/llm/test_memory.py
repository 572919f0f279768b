"""What was made of a text is made once; what failed is made again, but not within one run."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from rag_cover.backends import Failure
from rag_cover.llm.memory import Memory
from rag_cover.llm.session import LLMSession


@dataclass
class Shelf:
    """A cache of answers in memory."""

    answers: dict[str, bytes] = field(default_factory=dict)

    def get(self, keys: Sequence[str]) -> Mapping[str, bytes]:
        return {key: self.answers[key] for key in keys if key in self.answers}

    def put(self, answers: Mapping[str, bytes]) -> None:
        self.answers |= answers


def counting(made: list[str], run: LLMSession | None = None) -> Memory[int]:
    """Remember how long texts are; a blank one fails, and ``made`` says what was counted."""

    def lengths(texts: Sequence[str]) -> list[int | Failure]:
        made.extend(texts)
        return [len(text) if text.strip() else Failure("blank", "nothing to count") for text in texts]

    return Memory(lengths, "length of {}".format, _written, _read, run)


def _written(length: int) -> bytes:
    return str(length).encode()


def _read(answer: bytes) -> int | None:
    return int(answer) if answer else None


def test_each_text_is_made_once_and_order_and_repetition_stay() -> None:
    made: list[str] = []
    memory = counting(made)

    found = memory.make_all(["to", "be", "to"]) + memory.make_all(["or", "be"])

    assert found == [2, 2, 2, 2, 2]
    assert made == ["to", "be", "or"]


def test_a_failure_is_forgotten_outside_a_run_and_remembered_within_one() -> None:
    alone: list[str] = []
    within: list[str] = []

    for memory in (counting(alone), counting(within, LLMSession())):
        failures = [memory.make_all([" "]) for _ in range(2)]
        assert all(isinstance(each, Failure) for (each,) in failures)

    assert (alone, within) == ([" ", " "], [" "])


def test_runs_that_share_a_cache_make_a_text_once_and_keep_no_failure() -> None:
    made: list[str] = []
    shelf = Shelf()

    for _ in range(2):
        counting(made, LLMSession(shelf)).make_all(["be", " "])

    assert made == ["be", " ", " "]
    assert list(shelf.answers) == ["length of be"]


def test_what_cannot_be_read_back_is_made_again() -> None:
    made: list[str] = []
    shelf = Shelf({"length of be": b""})

    assert counting(made, LLMSession(shelf)).make_all(["be"]) == [2]
    assert made == ["be"]


def test_nothing_new_asks_nobody() -> None:
    def refuse(texts: Sequence[str]) -> list[int | Failure]:
        raise AssertionError(texts)

    assert Memory(refuse, str, _written, _read).make_all([]) == []


def test_many_threads_make_a_text_once() -> None:
    made: list[str] = []
    memory = counting(made)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: memory.make_all(["be"])[0], range(64)))

    assert set(found) == {2}
    assert made == ["be"]
