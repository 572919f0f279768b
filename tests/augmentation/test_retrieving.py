"""Retrieval goes on from answer to answer: what later sub-questions build on is read from what was found."""

from rag_cover.augmentation.chains import Chain
from rag_cover.augmentation.reading import Reader, reading_receiver
from rag_cover.augmentation.retrieving import Retrieval, search_and_answer, search_for_all
from rag_cover.backends import Failure
from rag_cover.questions import Passage
from rag_cover.searching import Searches
from rag_cover.testing import ScriptedReceiver, ScriptedRetriever

QUESTION = "When was the director of Jaws born?"
WHO, BORN, SPIELBERG = "Who directed Jaws?", "When was #1 born?", "When was Steven Spielberg born?"
FILM, LIFE = Passage("Jaws was directed by Steven Spielberg."), Passage("Spielberg was born in 1946.")
SCRIPT: dict[str, list[Passage | str]] = {QUESTION: ["Jaws is a film."], WHO: [FILM], SPIELBERG: [LIFE]}
ANSWERS = {"directed by": ("Steven Spielberg",), "born in": ("1946",)}


def retrieval(retriever: ScriptedRetriever, *texts: str, reader: Reader | None = None, most: int | None = None) -> Retrieval:
    return Retrieval(QUESTION, Chain(texts), Searches(retriever, k=3, most=most, workers=1), reader)


def test_a_later_sub_question_is_searched_for_with_the_answer_to_an_earlier_one() -> None:
    retriever = ScriptedRetriever(SCRIPT)
    under_way = retrieval(retriever, WHO, BORN, reader=reading_receiver(ScriptedReceiver(ANSWERS)))

    search_for_all(under_way)

    assert retriever.queries == [QUESTION, WHO, SPIELBERG]
    assert under_way.rounds == 1
    assert [passage.text for passage in under_way.passages] == ["Jaws is a film.", FILM.text, LIFE.text]


def test_without_a_reader_slots_are_left_out_and_all_is_searched_for_at_once() -> None:
    retriever = ScriptedRetriever(SCRIPT)
    under_way = retrieval(retriever, WHO, BORN)

    search_for_all(under_way)

    assert retriever.queries == [QUESTION, WHO, "When was born?"]
    assert under_way.rounds == 0


def test_nobody_reads_where_nothing_was_found() -> None:
    receiver = ScriptedReceiver(prior=("Somebody it believes in",))
    under_way = retrieval(
        ScriptedRetriever({WHO: [Passage(" ")]}), WHO, BORN, "Where did #2 end?", reader=reading_receiver(receiver)
    )

    search_for_all(under_way)

    assert receiver.asked.calls == 0
    assert under_way.chain.answers == {1: None, 2: None}


def test_where_a_sub_question_found_nothing_the_question_s_passages_are_read() -> None:
    retriever = ScriptedRetriever({QUESTION: [FILM], SPIELBERG: [LIFE]})
    under_way = retrieval(retriever, WHO, BORN, reader=reading_receiver(ScriptedReceiver(ANSWERS)))

    search_for_all(under_way)

    assert retriever.queries == [QUESTION, WHO, SPIELBERG]


def test_a_reader_that_fails_is_named_and_leaves_the_place_empty() -> None:
    retriever = ScriptedRetriever(SCRIPT)
    under_way = retrieval(retriever, WHO, BORN, reader=lambda asked: dict.fromkeys(asked, Failure("timeout", "60 s")))

    search_for_all(under_way)

    assert retriever.queries[-1] == "When was born?"
    assert under_way.failures == [Failure("timeout", "no answer to 'Who directed Jaws?': 60 s")]


def test_a_reader_that_forgets_a_question_has_no_answer_to_it() -> None:
    under_way = retrieval(ScriptedRetriever(SCRIPT), WHO, BORN, reader=lambda _: {})

    search_and_answer(under_way)

    assert under_way.chain.answers == {1: None, 2: None}


def test_nobody_is_asked_what_asks_nothing() -> None:
    receiver = ScriptedReceiver(ANSWERS)
    under_way = retrieval(ScriptedRetriever(default=[FILM]), "?", "#1", reader=reading_receiver(receiver))

    search_and_answer(under_way)

    assert receiver.asked.calls == 0
    assert under_way.searches.steps == []


def test_every_sub_question_is_answered_and_the_question_itself_not_searched_for() -> None:
    retriever = ScriptedRetriever(SCRIPT)
    under_way = retrieval(retriever, WHO, BORN, reader=reading_receiver(ScriptedReceiver(ANSWERS)))

    search_and_answer(under_way)

    assert retriever.queries == [WHO, SPIELBERG]
    assert under_way.chain.answers == {1: "Steven Spielberg", 2: "1946"}


def test_one_budget_holds_for_all_steps_of_a_chain() -> None:
    retriever = ScriptedRetriever(SCRIPT)
    under_way = retrieval(retriever, WHO, BORN, reader=reading_receiver(ScriptedReceiver(ANSWERS)), most=2)

    search_for_all(under_way)

    assert retriever.queries == [QUESTION, WHO]
    assert under_way.searches.unasked == [SPIELBERG]
