"""Which sentences count as claims, what they are held against, and what that says."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from rag_cover.backends import Abstention, ScoringItem
from rag_cover.coverage import groundedness
from rag_cover.errors import InvalidValueError, ModelFailedError
from rag_cover.grounding.result import GroundednessResult
from rag_cover.questions import Passage, Question
from rag_cover.testing import KeywordEntailer, ScriptedEntailer
from rag_cover.traces import RetrievalStep, Trace

BLUE = "The sky is blue because air scatters short waves."
GRASS = "Grass is green because of chlorophyll in its cells."


def trace(answer: str | None, *prompt: str | Passage, question: str = "Why is the sky blue?") -> Trace:
    passages = tuple(each if isinstance(each, Passage) else Passage(text=each) for each in prompt)
    return Trace(question=Question(text=question), prompt=passages, answer=answer)


def texts_of(result: GroundednessResult, answer: str) -> list[str]:
    return [answer[sentence.start : sentence.end] for sentence in result.sentences]


def test_a_sentence_is_supported_by_the_passage_that_entails_it() -> None:
    longer = f"As everybody knows, {BLUE}"
    grounded = trace(f"{BLUE} {GRASS}", "Clouds are white.", longer)

    (result,) = groundedness([grounded], ScriptedEntailer({(longer, BLUE): 0.9}))

    assert [(sentence.supported, sentence.probability) for sentence in result.sentences] == [(True, 0.9), (False, 0.0)]
    assert result.sentences[0].passage == 1
    assert result.share == 0.5


@pytest.mark.parametrize("answer", [BLUE, f"- {BLUE.upper()}", f"**{BLUE}** [1]"])
def test_a_sentence_that_a_passage_has_word_for_word_is_supported_without_asking(answer: str) -> None:
    entailer = ScriptedEntailer()

    (result,) = groundedness([trace(answer, GRASS, f"First of all. {BLUE} And so on.")], entailer)

    assert [(each.supported, each.probability, each.passage) for each in result.sentences] == [(True, 1.0, 1)]
    assert entailer.asked.items == 0


def test_no_pair_is_judged_twice_and_a_call_asks_about_all_traces() -> None:
    entailer = ScriptedEntailer()
    longer = f"As everybody knows, {BLUE}"

    groundedness([trace(BLUE, longer, GRASS), trace(BLUE, longer), trace(GRASS, longer, BLUE)], entailer)

    assert entailer.asked.calls == 2  # the nearest passages, then the others
    assert entailer.asked.items == 4


def test_a_supported_sentence_is_held_against_no_further_window() -> None:
    longer = f"As everybody knows, {BLUE}"
    entailer = ScriptedEntailer({(longer, BLUE): 0.6, ("Clouds are white.", BLUE): 0.9})

    (result,) = groundedness([trace(BLUE, "Clouds are white.", longer)], entailer)

    assert entailer.asked.items == 1
    assert [(each.probability, each.passage) for each in result.sentences] == [(0.6, 1)]


PASSAGES = [f"Passage {number} says something else." for number in range(9)]


@given(st.lists(st.sampled_from([0.1, 0.4, 0.5, 0.8]), min_size=9, max_size=9), st.integers(1, 9))
def test_rounds_give_the_verdict_of_all_windows(probabilities: list[float], count: int) -> None:
    entailer = ScriptedEntailer({(text, BLUE): value for text, value in zip(PASSAGES, probabilities, strict=True)})

    (result,) = groundedness([trace(BLUE, *PASSAGES[:count])], entailer)

    (sentence,) = result.sentences
    assert sentence.supported == (max(probabilities[:count]) >= 0.5)
    assert sentence.supported or sentence.probability == max(probabilities[:count])


def test_what_is_no_claim_is_left_out() -> None:
    claims = f"- {BLUE} [1]\n- **{GRASS}**[2, 3]"
    answer = f"Sure!\n\n# The sky\n\nHere are the reasons:\n{claims}\n\nDoes that help you with it?\n---\nLet me know."
    entailer = ScriptedEntailer({(BLUE, BLUE): 1.0, (BLUE, GRASS): 0.75})

    (result,) = groundedness([trace(answer, BLUE)], entailer)

    assert [sentence.probability for sentence in result.sentences] == [1.0, 0.75]
    assert [BLUE in texts_of(result, answer)[0], GRASS in texts_of(result, answer)[1]] == [True, True]


def test_an_answer_of_a_few_words_is_read_after_its_question() -> None:
    short = trace("Paris.", "Paris is the capital.", question="What is the capital of France?")

    (result,) = groundedness(
        [short], ScriptedEntailer({("Paris is the capital.", "What is the capital of France? Paris."): 0.8})
    )

    assert result.share == 1.0


@pytest.mark.parametrize("answer", ["1906.", "42", "$5.99", "14:30"])
def test_a_bare_number_is_a_claim(answer: str) -> None:
    (result,) = groundedness([trace(answer, BLUE, question="When was it opened?")], KeywordEntailer())

    assert len(result.sentences) == 1


@pytest.mark.parametrize("answer", ["1.", "(2)", "## Reasons", "|---|:--:|", "---", "***"])
def test_numbers_of_items_headings_and_rules_are_no_claims(answer: str) -> None:
    (result,) = groundedness([trace(answer, BLUE)], KeywordEntailer())

    assert result.share is None


def test_a_refusal_is_no_claim_where_somebody_can_tell() -> None:
    class Refuser:
        def abstains(self, items: Sequence[ScoringItem]) -> list[Abstention]:
            return ["wholly" if item.text == "I don't know why." else "no" for item in items]

    (result,) = groundedness([trace(f"I don't know why. {BLUE}", BLUE)], KeywordEntailer(), abstention=Refuser())

    assert [sentence.start for sentence in result.sentences] == [18]


def test_clauses_may_be_supported_by_different_passages() -> None:
    first, second = "The bridge was sold in 1990", "the county paid for the repairs."
    entailer = ScriptedEntailer({(BLUE, first): 0.9, (GRASS, second): 0.8})

    (result,) = groundedness([trace(f"{first}, and {second}", BLUE, GRASS)], entailer)

    assert [(each.supported, each.probability) for each in result.sentences] == [(True, 0.8)]


def test_a_supported_sentence_does_not_speak_for_one_that_begins_with_a_pronoun() -> None:
    made, closed = "Acme made large church bells.", "It was closed in 1990."
    entailer = ScriptedEntailer({(BLUE, made): 0.9, (BLUE, closed): 0.1, (BLUE, f"{made} {closed}"): 0.7})

    (result,) = groundedness([trace(f"{made} {closed}", BLUE)], entailer)

    assert [each.supported for each in result.sentences] == [True, False]


def test_what_is_contradicted_is_told_from_what_is_not_found() -> None:
    class Contrary:
        def entail(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
            rows = [[0.1, 0.2, 0.7] if "blue" in hypothesis else [0.1, 0.8, 0.1] for _, hypothesis in pairs]
            return np.array(rows, dtype=np.float32)

    (result,) = groundedness([trace(f"{BLUE} {GRASS}", "The sky is green.")], Contrary())

    assert [each.finding for each in result.sentences] == ["contradicted", "not found"]


def test_long_passages_are_cut_into_windows_that_lose_nothing() -> None:
    filler = [f"Number {n} is a number that follows another number in the list." for n in range(60)]
    long = Passage(text=" ".join([*filler, BLUE]), title="Sky")

    (result,) = groundedness([trace(BLUE, long)], KeywordEntailer())

    assert result.share == 1.0


def test_premises_carry_their_title() -> None:
    titled = Passage(text="It is blue.", title="Sky")

    (result,) = groundedness([trace(BLUE, titled)], ScriptedEntailer({("Sky\nIt is blue.", BLUE): 0.6}))

    assert result.share == 1.0


def test_a_sentence_is_held_against_the_windows_that_share_most_words() -> None:
    passages = [f"Passage {n} about nothing in particular." for n in range(20)]
    entailer = ScriptedEntailer({(longer := f"As everybody knows, {BLUE}", BLUE): 0.4})

    (result,) = groundedness([trace(BLUE, *passages, longer)], entailer, max_windows=3)

    assert entailer.asked.items == 3
    assert result.sentences[0].passage == 20


def test_an_answer_without_sentences_has_no_share() -> None:
    answers = ["", "  ", "# Sky", "Why?"]

    results = groundedness([trace(answer, BLUE) for answer in answers], KeywordEntailer())

    assert [(result.sentences, result.share) for result in results] == [((), None)] * 4


def test_without_an_answer_or_a_known_prompt_there_is_nothing_to_say() -> None:
    bare = Trace(question=Question(text="Why?"), answer=BLUE)

    results = groundedness([trace(None, BLUE), bare], KeywordEntailer())

    assert [result.share for result in results] == [None, None]


def test_an_empty_prompt_supports_nothing() -> None:
    entailer = KeywordEntailer()

    (result,) = groundedness([trace(BLUE)], entailer)

    assert entailer.asked.calls == 0
    assert result.share == 0.0
    assert result.sentences[0].passage is None


def test_the_last_context_stands_in_for_an_unknown_prompt() -> None:
    step = RetrievalStep(passages=(Passage(text=BLUE),))
    assumed = Trace(question=Question(text="Why?"), steps=(step,), answer=BLUE)

    (result,) = groundedness([assumed], KeywordEntailer())

    assert result.prompt_assumed
    assert result.share == 1.0


def test_senseless_parameters_are_refused() -> None:
    entailer = KeywordEntailer()

    with pytest.raises(InvalidValueError, match="threshold is nan"):
        groundedness([], entailer, threshold=float("nan"))
    with pytest.raises(InvalidValueError, match="max_windows is 0"):
        groundedness([], entailer, max_windows=0)


def test_an_entailer_that_returns_no_probabilities_has_failed() -> None:
    entailer = ScriptedEntailer(default=float("nan"))

    with pytest.raises(ModelFailedError, match=r"ScriptedEntailer.*entail returned nan"):
        groundedness([trace(BLUE, GRASS)], entailer)


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=3))
def test_any_answer_gets_a_share_of_its_sentences(answer: str, prompt: list[str]) -> None:
    (result,) = groundedness([trace(answer, *prompt)], KeywordEntailer())

    assert (result.share is None) == (not result.sentences)
    assert result.share is None or result.share == sum(s.supported for s in result.sentences) / len(result.sentences)
    assert all(0 <= s.start < s.end <= len(answer) for s in result.sentences)
    assert GroundednessResult.from_dict(result.to_dict()) == result


def test_a_sentence_without_a_word_of_refusal_is_a_claim_whatever_a_detector_says() -> None:
    class Refuser:
        fingerprint = "refuser"

        def abstains(self, items: Sequence[ScoringItem]) -> list[Abstention]:
            return ["wholly"] * len(items)

    answer = "Plutarch wrote about the testudo. The sources do not say more about it."
    asked = trace(answer, "Plutarch wrote about the testudo.", question="Who described the testudo?")

    (found,) = groundedness([asked], KeywordEntailer(), abstention=Refuser())

    assert texts_of(found, answer) == ["Plutarch wrote about the testudo."]


@pytest.mark.parametrize(
    ("answer", "stated"),
    [
        ("**Costs.** A day pass is 4 euros. Bring cash.", ["**Costs.** A day pass is 4 euros.", "Bring cash."]),
        (
            "2. Health. Bone tumours are frequent.\n3. Age. Ten years.",
            ["2. Health. Bone tumours are frequent.", "3. Age. Ten years."],
        ),
        ("- __Opening hours.__ From 9 to 5.", ["- __Opening hours.__ From 9 to 5."]),
        ("**Paris**", ["**Paris**"]),
        ("**Costs**\nA day pass is 4 euros.", ["**Costs**\nA day pass is 4 euros."]),
        ("**It is free.**\nBring cash.", ["**It is free.**", "Bring cash."]),
        ("| Ticket | Price |\n|---|---|\n| Day | 4 euros |", ["| Day | 4 euros |"]),
        ("It opens at nine.\n|---|---|\n| Day | 4 euros |", ["It opens at nine.", "| Day | 4 euros |"]),
        ("Thanks for asking. It opens at nine. Good luck with your trip.", ["It opens at nine."]),
        ("*Prices rose.*\nThey fell again.", ["*Prices rose.*", "They fell again."]),
        ("The sky is blue. It is high.", ["The sky is blue.", "It is high."]),
        ("What a nice invitation! The hall opens at nine. Enjoy your visit!", ["The hall opens at nine."]),
    ],
)
def test_a_heading_in_a_paragraph_is_read_with_the_sentence_after_it(answer: str, stated: list[str]) -> None:
    (result,) = groundedness([trace(answer, BLUE)], ScriptedEntailer({}))

    assert texts_of(result, answer) == stated


def test_a_passage_of_150_words_is_read_whole() -> None:
    sentence = "This is a sentence of exactly ten words in all."
    asked: list[str] = []

    class Keeping:
        def entail(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.float32]:
            asked.extend(premise for premise, _ in pairs)
            return np.tile(np.array([[0.1, 0.8, 0.1]], dtype=np.float32), (len(pairs), 1))

    groundedness([trace("Acme made large church bells.", " ".join(15 * [sentence]), " ".join(16 * [sentence]))], Keeping())

    assert sorted({len(premise.split()) for premise in asked}) == [40, 130, 150]


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("Children under six travel free and need no ticket.", 1),
        ("Guide dogs do not need a leash.", 1),
        ("The passages do not mention a price.", 0),
        ("I cannot help with that.", 0),
    ],
)
def test_a_sentence_that_says_no_is_no_refusal(answer: str, claims: int) -> None:
    class Refusing:
        def abstains(self, items: Sequence[ScoringItem]) -> list[Abstention]:
            return ["wholly" for _ in items]

    (result,) = groundedness([trace(answer, BLUE)], ScriptedEntailer({}), abstention=Refusing())

    assert len(result.sentences) == claims
