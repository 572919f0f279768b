"""What set queries found, on 80 characters: nothing is cut unseen, nothing is empty without words, foreign texts do nothing."""

from __future__ import annotations

import io
from collections.abc import Sequence

import pytest
from rich.console import Console, RenderableType

from rag_cover.backends import Failure
from rag_cover.questions import Passage
from rag_cover.reports.cards import card_of
from rag_cover.reports.set_queries import reading_panel, set_answer_report, set_answers_table, verdict_sentence
from rag_cover.setqueries import AtomEvidence, Candidate, ParsedQuery, SetAnswer, SetQuery
from rag_cover.traces import RetrievalStep

BIRDS = SetQuery.atom("Birds of Chile") & "Birds of Peru"


def parsed(query: SetQuery = BIRDS, confidence: float = 0.9, *others: tuple[SetQuery, float]) -> ParsedQuery:
    return ParsedQuery("Which birds live in Chile and Peru?", query, confidence, "grammar", others)


def candidate(name: str, *probabilities: float | None, query: SetQuery = BIRDS, fragment: str | None = None) -> Candidate:
    evidence = [
        AtomEvidence(atom, probability, atom not in query.sources, fragment=fragment)
        for atom, probability in zip(query.atoms, probabilities, strict=True)
    ]
    whole = None if None in probabilities else min(each or 0.0 for each in probabilities)
    return Candidate(name, (Passage(name),), whole, tuple(evidence), f"why {name} is what it is")


def answer(
    kept: Sequence[Candidate] = (),
    others: Sequence[Candidate] = (),
    *,
    read: ParsedQuery | None = None,
    failures: Sequence[Failure] = (),
    notes: Sequence[str] = (),
    searched: bool = True,
) -> SetAnswer:
    read = read or parsed()
    steps = tuple(RetrievalStep(id=atom, query=atom) for atom in read.atoms) if searched else ()
    return SetAnswer(
        read, tuple(kept), tuple(others), steps, 0.5, "product", judged=9, failures=tuple(failures), notes=tuple(notes)
    )


def printed(renderable: RenderableType, *, width: int = 80) -> str:
    out = io.StringIO()
    Console(file=out, width=width, no_color=True).print(renderable)
    return out.getvalue()


def shown(made: SetAnswer, *, limit: int = 20, left_out: int = 5, width: int = 80) -> str:
    return printed(set_answer_report(made, judge="words", limit=limit, shown=left_out), width=width)


def words(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


def test_an_entity_has_a_probability_for_each_atom_and_the_words_that_tell() -> None:
    made = answer([candidate("Inca tern", 0.999, 0.7, fragment="breeds in Chile and Peru")])

    text = words(shown(made))

    assert "Entity, and what tells P A B" in text
    assert "Inca tern 0.70 0.99 0.70 A “breeds in Chile and Peru” B “breeds in Chile and Peru”" in text


def test_words_that_tell_go_on_beneath_themselves() -> None:
    lines = shown(answer([candidate("Inca tern", 0.9, 0.8, fragment="word " * 30)])).splitlines()

    started = next(place for place, line in enumerate(lines) if "A “word" in line)
    assert lines[started + 1].startswith("     word")


@pytest.mark.parametrize("atoms", [1, 5, 6, 20])
@pytest.mark.parametrize("width", [80, 140])
def test_any_number_of_atoms_fits_the_screen_with_every_probability(atoms: int, width: int) -> None:
    query = SetQuery.union(*(f"birds of island {number}" for number in range(atoms)))
    tern = candidate("tern", *(number / 100 for number in range(10, 10 + atoms)), query=query, fragment="breeds there")

    text = shown(answer([tern], read=parsed(query)), width=width)

    assert max(map(len, text.splitlines())) <= width
    assert all(f"0.{number}" in text for number in range(10, 10 + atoms))
    assert text.count("“breeds there”") == atoms


def test_what_could_not_be_judged_is_no_zero() -> None:
    text = words(shown(answer([], [candidate("Ruin", None, 0.2)])))

    assert "? Ruin: why Ruin is what it is" in text
    assert "0.00" not in text


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (answer([candidate("tern", 0.9, 0.8)], [candidate("hen", 0.1, 0.2)]), "1 entity belongs to it, of 2 candidates"),
        (answer([], [candidate("hen", 0.1, 0.2)]), "as far as the judge can tell of the one candidate."),
        (answer([], [candidate("hen", 0.1, 0.2), candidate("cock", 0.1, 0.2)]), "can tell of any of 2 candidates."),
        (answer(), "Nothing belongs to it: the searches found no candidate."),
        (answer(searched=False), "Nothing can belong to it: it contradicts itself."),
    ],
)
def test_an_answer_is_summed_up_in_a_sentence(made: SetAnswer, said: str) -> None:
    assert said in verdict_sentence(made)
    assert said in words(shown(made))


def test_what_nobody_could_judge_is_not_said_not_to_belong() -> None:
    made = answer((), [candidate("hen", None, 0.2), candidate("tern", 0.9, None)])

    assert verdict_sentence(made) == "Nothing is known of it: the judge failed on all of 2 candidates."


def test_what_is_not_shown_is_counted() -> None:
    hens = [candidate(f"hen {number}", 0.1, 0.2) for number in range(7)]
    terns = [candidate(f"tern {number}", 0.9, 0.8) for number in range(3)]

    some, none = shown(answer(terns, hens), limit=2, left_out=6), shown(answer(terns, hens), limit=0, left_out=0)

    assert ("tern 1" in some, "tern 2" in some, "hen 5" in some, "hen 6" in some) == (True, False, True, False)
    assert "… 1 more belongs; --show 3 lists all" in some
    assert "… 1 more was left out; --show-left-out 7 lists all" in some
    assert "… 3 more belong; --show 3 lists all" in none
    assert "… 7 more were left out; --show-left-out 7 lists all" in none
    assert "tern" not in none


def test_an_unsure_reading_is_shown_with_its_rivals_and_a_sure_one_without() -> None:
    rival = (SetQuery.atom("Birds of Chile") | "Birds of Peru", 0.35)

    unsure, sure = (
        words(printed(reading_panel(parsed(BIRDS, 0.6, rival)))),
        words(printed(reading_panel(parsed(BIRDS, 0.9, rival)))),
    )

    assert 'It may also mean: 35% "Birds of Chile" ∪ "Birds of Peru"' in unsure
    assert "60% sure, by grammar" in unsure
    assert "may also mean" not in sure


def test_an_atom_that_was_renamed_shows_the_words_that_are_searched_for() -> None:
    renamed = ParsedQuery("from 1988", BIRDS, 0.9, "grammar", words={"Birds of Chile": "birds from Chile"})

    text = words(printed(reading_panel(renamed)))

    assert "A Birds of Chile asked for as “birds from Chile” B Birds of Peru" in text


def test_what_is_taken_away_is_told() -> None:
    assert "A Birds of Chile B pets taken away" in words(
        printed(reading_panel(parsed(SetQuery.atom("Birds of Chile") - "pets")))
    )


def test_notes_and_failures_are_told_once_and_the_rest_is_counted() -> None:
    failures = [Failure("search", f"no line to {number}") for number in range(12)] * 2

    text = words(shown(answer(failures=failures, notes=["nothing matches 'Birds of Peru'"])))

    assert text.count("Failed: search: no line to") == 10
    assert "… and 2 more" in text
    assert "· nothing matches 'Birds of Peru'" in text


def test_many_answers_are_listed_with_what_failed() -> None:
    answers: list[tuple[str, SetAnswer | Failure]] = [
        ("Which birds?", answer([candidate("tern", 0.9, 0.8)])),
        ("unicorns", Failure("timeout", "60 s")),
        ("Why?", answer()),
    ]

    text = words(printed(set_answers_table(answers, limit=2)))

    assert "1 A ∩ B Which birds? failed – unicorns timeout: 60 s … and 1 more question" in text
    assert "… and 3 more questions" in printed(set_answers_table(answers, limit=0))


def test_foreign_texts_are_shown_and_do_nothing() -> None:
    evil = "[red]Tern\x1b[31m\u202e"
    query = SetQuery.atom(evil) - f"{evil} pets"
    read = ParsedQuery(evil, query, 0.5, evil, ((query, 0.4),), (evil,), {evil: f"{evil} itself"})
    one = candidate(evil, 0.9, 0.1, query=query, fragment=evil)

    report = shown(answer([one], [one], read=read, failures=[Failure(evil, evil)], notes=[evil]))
    others = printed(reading_panel(read)) + printed(set_answers_table([(evil, answer()), (evil, Failure(evil, evil))], limit=5))

    for text in (report, others):
        assert not {"\x1b", "\u202e"} & {*text}
        assert "[red]Tern␛[31m⟦RLO⟧" in text


def test_a_notebook_shows_what_belongs_and_why_and_foreign_names_add_no_markup() -> None:
    hostile = "<script>alert(1)</script>"

    page = card_of(answer([candidate(hostile, 0.9, 0.8)], failures=[Failure("timeout", hostile)]))

    assert "80%" in page
    assert "<script>alert" not in page
    assert "timeout: &lt;script&gt;" in page
