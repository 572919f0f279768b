"""The four augmentations of the coverage paper, as `augment` does them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_cover.augmentation.result import Augmentation, AugmentationMode
from rag_cover.backends import Failure
from rag_cover.coverage import Augmenter, augment
from rag_cover.errors import ModelFailedError
from rag_cover.questions import Passage, Question, Role, SubQuestion
from rag_cover.testing import (
    KeywordEntailer,
    KeywordScorer,
    ScriptedGenerator,
    ScriptedReceiver,
    ScriptedRetriever,
    ScriptedScorer,
)

QUESTION = "Why is the sky blue and grass green?"
SKY, GRASS = "Why is the sky blue?", "Why is grass green?"
BACKGROUND = SubQuestion("What is light?", role=Role.BACKGROUND)
FOLLOW_UP = SubQuestion("Is the sky blue on Mars?", role=Role.FOLLOW_UP)
AIR, LEAF = Passage("Air scatters short waves most.", id="air"), Passage("Chlorophyll reflects green.", id="leaf")
CLOUD, RAIN, SNOW = Passage("Clouds are white.", id="cloud"), Passage("Rain is wet.", id="rain"), Passage("Snow.", id="snow")
SCORES = {(SKY, AIR.text): 0.9, (GRASS, LEAF.text): 0.8}
FOUND: dict[str, list[Passage | str]] = {QUESTION: [CLOUD, RAIN, SNOW], SKY: [RAIN, AIR], GRASS: [SNOW, LEAF]}
MODES: Sequence[AugmentationMode] = ("definition", "subquestions", "retrieval", "end-to-end", "auto")


def by_retrieval(
    retriever: ScriptedRetriever | None = None,
    *,
    sub_questions: Sequence[SubQuestion | str] = (SKY, GRASS),
    scorer: ScriptedScorer | None = None,
    k: int = 4,
    max_tokens: int | None = None,
    fair_share: float = 0.5,
) -> Augmentation:
    return augment(
        QUESTION,
        retriever or ScriptedRetriever(FOUND),
        scorer=scorer or ScriptedScorer(SCORES),
        sub_questions=sub_questions,
        k=k,
        max_tokens=max_tokens,
        fair_share=fair_share,
        workers=1,
    )


def test_m3_searches_for_the_question_and_every_core_sub_question() -> None:
    retriever = ScriptedRetriever(FOUND)

    found = by_retrieval(retriever, sub_questions=[SKY, BACKGROUND, SubQuestion(GRASS, role="core"), FOLLOW_UP])

    assert retriever.queries == [QUESTION, SKY, GRASS]
    assert found.others == (BACKGROUND, FOLLOW_UP)


def test_m3_judges_the_pool_in_one_call() -> None:
    scorer = ScriptedScorer(SCORES)

    by_retrieval(scorer=scorer)

    assert (scorer.asked.calls, scorer.asked.items) == (1, 2 * 5)


def test_m3_keeps_what_covers_most_and_a_share_for_the_question() -> None:
    found = by_retrieval(k=4)

    assert found.passages == (AIR, LEAF, CLOUD, RAIN)
    assert [(each.covered_at_first, each.covered, each.probability) for each in found.sub_questions] == [
        (False, True, 0.9),
        (False, True, 0.8),
    ]


def test_m3_gives_the_question_all_where_all_is_its_share() -> None:
    found = by_retrieval(k=3, fair_share=1.0)

    assert found.passages == (CLOUD, RAIN, SNOW)
    assert found.uncovered == (SKY, GRASS)


def test_m3_breaks_ties_by_the_best_place_in_any_search() -> None:
    found = by_retrieval(scorer=ScriptedScorer(), k=5)

    assert found.passages == (CLOUD, RAIN, SNOW, AIR, LEAF)


def test_m3_pools_a_passage_once_by_id_and_by_text() -> None:
    twin = Passage("AIR scatters short waves most!", id="twin")
    other = Passage("Another text by the same id.", id="air")

    found = by_retrieval(ScriptedRetriever({QUESTION: [AIR, CLOUD], SKY: [twin, RAIN], GRASS: [other, LEAF]}), k=9)

    assert found.passages == (AIR, LEAF, CLOUD, RAIN)
    assert found.sub_questions[0].covered_at_first


def test_m3_stays_within_the_tokens_with_titles() -> None:
    titled = Passage(AIR.text, title="x" * 400, id="titled")
    scorer = ScriptedScorer({(SKY, f"{titled.title}\n{titled.text}"): 0.9} | SCORES)

    found = by_retrieval(ScriptedRetriever({QUESTION: [CLOUD], SKY: [titled], GRASS: [LEAF]}), scorer=scorer, max_tokens=50)

    assert found.passages == (LEAF, CLOUD)
    assert found.uncovered == (SKY,)


def test_m3_says_where_no_passage_fits() -> None:
    found = by_retrieval(max_tokens=1)

    assert found.passages == ()
    assert found.notes == ("no passage fits the number of tokens that is allowed",)
    assert [(each.covered, each.probability) for each in found.sub_questions] == [(False, None)] * 2


class SlowRetriever:
    """Keeps the first ones waiting longest."""

    def retrieve(self, query: str, *, k: int) -> list[Passage]:
        time.sleep(0.02 if query == QUESTION else 0.01 if query == SKY else 0)
        return [each if isinstance(each, Passage) else Passage(each) for each in FOUND.get(query, ())][:k]


@pytest.mark.parametrize("mode", MODES)
def test_the_result_does_not_depend_on_who_is_quick(mode: AugmentationMode) -> None:
    generator = ScriptedGenerator(default="Because.")

    results = [
        augment(
            QUESTION,
            retriever,
            generator,
            mode=mode,
            scorer=ScriptedScorer(SCORES),
            sub_questions=[SKY, "What follows from #1?", GRASS],
            workers=workers,
        )
        for retriever in (ScriptedRetriever(FOUND), SlowRetriever())
        for workers in (1, 2, 8)
    ]

    assert all(each == results[0] for each in results)


def test_a_chain_is_filled_by_a_receiver() -> None:
    receiver = ScriptedReceiver({"Air": ("short waves.",)}, prior=("unanswerable",))

    found = augment(
        QUESTION,
        ScriptedRetriever(FOUND),
        scorer=KeywordScorer(),
        sub_questions=[SKY, "What are #1?"],
        receiver=receiver,
    )

    assert [(each.text, each.given, each.answer) for each in found.sub_questions] == [
        (SKY, SKY, "short waves"),
        ("What are short waves?", "What are #1?", None),
    ]
    assert found.steps[-1].query == "What are short waves?"


def test_a_chain_is_filled_by_a_generator_where_no_receiver_is() -> None:
    generator = ScriptedGenerator({"purpose: sub-answer": "short waves", "purpose: answer": "Because."})

    found = augment(QUESTION, ScriptedRetriever(FOUND), generator, scorer=KeywordScorer(), sub_questions=[SKY, "What are #1?"])

    assert found.sub_questions[1].text == "What are short waves?"
    assert found.answer == "Because."


def test_a_chain_without_a_reader_leaves_its_places_empty() -> None:
    found = augment(
        QUESTION, ScriptedRetriever(FOUND), scorer=KeywordScorer(), sub_questions=[SKY, "What are #1?", "Is #2 so?"]
    )

    assert [each.query for each in found.steps] == [QUESTION, SKY, "What are?", "Is so?"]
    assert [each.answer for each in found.sub_questions] == [None, None, None]


def test_a_number_in_the_question_itself_is_no_slot() -> None:
    question = "Who sang the #1 song of 1999 and who wrote the #1 book?"
    subs = ["Who sang the #1 song of 1999?", "Who wrote the #1 book?"]

    found = augment(question, ScriptedRetriever(), scorer=KeywordScorer(), sub_questions=subs)

    assert [each.text for each in found.sub_questions] == subs


@pytest.mark.parametrize("mode", MODES)
def test_what_each_search_moved_a_belief_is_measured_where_there_is_one(mode: AugmentationMode) -> None:
    found = augment(
        Question(QUESTION, references="Air scatters short waves most."),
        ScriptedRetriever(FOUND),
        ScriptedGenerator(default="Because."),
        mode=mode,
        scorer=ScriptedScorer(SCORES),
        sub_questions=[SKY, GRASS],
        receiver=ScriptedReceiver({"Air": (AIR.text,)}, prior=("Magic.",)),
        entailer=KeywordEntailer(),
    )

    assert found.utility is not None
    assert [step.step for step in found.utility.steps] == [step.id for step in found.steps]
    utilities = {each.query: each.utility for each in found.bought}
    if mode in ("retrieval", "auto"):
        assert (utilities[SKY] or 0) > 0
        assert utilities[GRASS] == 0


def test_a_receiver_without_references_measures_nothing() -> None:
    found = augment(
        QUESTION,
        ScriptedRetriever(FOUND),
        scorer=ScriptedScorer(SCORES),
        sub_questions=[SKY],
        receiver=ScriptedReceiver(),
        entailer=KeywordEntailer(),
    )

    assert found.utility is None
    assert [each.utility for each in found.bought] == [None]


def test_a_receiver_samples_by_the_seed() -> None:
    def seeded(seed: int) -> Augmentation:
        return augment(
            Question(QUESTION, references="Rome"),
            ScriptedRetriever(FOUND),
            scorer=KeywordScorer(),
            sub_questions=[SKY, "What is #1?"],
            receiver=ScriptedReceiver(prior=("Rome", "Lyon", "Nice")),
            entailer=KeywordEntailer(),
            seed=seed,
        )

    first, second = seeded(0), seeded(1)

    assert [each.sub_questions[0].answer for each in (first, second)] == ["Rome", "Lyon"]
    assert first.utility is not None
    assert second.utility is not None
    assert first.utility.prior != second.utility.prior
    assert seeded(1) == second


def test_a_decomposer_says_what_is_sought() -> None:
    retriever = ScriptedRetriever(FOUND)

    found = augment(QUESTION, retriever, scorer=KeywordScorer(), decomposer=lambda _: [SubQuestion(GRASS), BACKGROUND])

    assert [step.query for step in found.steps] == [QUESTION, GRASS]
    assert found.others == (BACKGROUND,)


def test_m1_searches_for_the_question_alone_and_tells_what_core_is() -> None:
    retriever = ScriptedRetriever(FOUND)

    found = augment(QUESTION, retriever, mode="definition", sub_questions=[SKY, GRASS])

    assert retriever.queries == [QUESTION]
    assert "A core sub-question is central" in found.prompt[0].content
    assert SKY not in found.prompt[1].content
    assert found.passages == (CLOUD, RAIN, SNOW)


def test_m2_searches_for_question_and_sub_questions_together_and_lists_them() -> None:
    retriever = ScriptedRetriever(default=[CLOUD])

    found = augment(QUESTION, retriever, mode="subquestions", sub_questions=[SKY, BACKGROUND, "Who says #1?"])

    assert retriever.queries == [f"{QUESTION} {SKY} Who says?"]
    assert "<sub_question" in found.prompt[1].content
    assert "Who says?" in found.prompt[1].content
    assert BACKGROUND.text not in found.prompt[1].content


def test_m2_does_not_search_twice_for_a_question_that_is_its_own_sub_question() -> None:
    retriever = ScriptedRetriever()

    augment(SKY, retriever, mode="subquestions", sub_questions=["why is the sky blue"])

    assert retriever.queries == [SKY]


@pytest.mark.parametrize("mode", ["definition", "subquestions"])
def test_without_a_scorer_nothing_is_said_of_coverage(mode: AugmentationMode) -> None:
    found = augment(QUESTION, ScriptedRetriever(FOUND), mode=mode, sub_questions=[SKY])

    (sub_question,) = found.sub_questions
    assert (sub_question.covered_at_first, sub_question.covered, sub_question.probability) == (None, None, None)
    assert (found.threshold, found.uncovered) == (None, ())


def test_m4_answers_each_sub_question_and_puts_the_answers_together() -> None:
    retriever = ScriptedRetriever(FOUND)
    generator = ScriptedGenerator(
        {"purpose: answer": "Air and chlorophyll.", "short waves": "Air scatters.", "Chlorophyll": "Chlorophyll does."}
    )

    found = augment(QUESTION, retriever, generator, mode="end-to-end", sub_questions=[SKY, GRASS])

    assert sorted(retriever.queries) == [GRASS, SKY]
    assert [each.answer for each in found.sub_questions] == ["Air scatters.", "Chlorophyll does."]
    assert found.answer == "Air and chlorophyll."
    assert "Air scatters." in found.prompt[1].content
    assert "<passage" not in found.prompt[1].content


def test_m4_is_answered_by_the_generator_and_not_by_a_receiver() -> None:
    receiver = ScriptedReceiver(prior=("By the receiver.",))

    found = augment(
        QUESTION,
        ScriptedRetriever(FOUND),
        ScriptedGenerator(default="By the generator."),
        mode="end-to-end",
        sub_questions=[SKY],
        receiver=receiver,
    )

    assert found.sub_questions[0].answer == "By the generator."
    assert receiver.asked.calls == 0


def test_m4_goes_on_without_a_sub_answer_that_failed() -> None:
    generator = ScriptedGenerator(
        {"purpose: answer": "Partly.", "short waves": Failure("timeout", "60 s"), "Chlorophyll": "Chlorophyll does."}
    )

    found = augment(QUESTION, ScriptedRetriever(FOUND), generator, mode="end-to-end", sub_questions=[SKY, GRASS, "What is #1?"])

    assert [each.answer for each in found.sub_questions[:2]] == [None, "Chlorophyll does."]
    assert found.sub_questions[2].text == "What is?"
    assert '<sub_answer number="1">\n\n</sub_answer>' in found.prompt[1].content
    assert found.answer == "Partly."
    assert found.failures == (Failure("timeout", f"no answer to {SKY!r}: 60 s"),)


@pytest.mark.parametrize("sub_questions", [[], [BACKGROUND], ["?"]])
def test_m4_without_core_sub_questions_answers_the_question_from_its_own_passages(
    sub_questions: Sequence[SubQuestion | str],
) -> None:
    generator = ScriptedGenerator({CLOUD.text: "From the passages."})

    found = augment(QUESTION, ScriptedRetriever(FOUND), generator, mode="end-to-end", sub_questions=sub_questions)

    assert found.answer == "From the passages."
    assert [step.query for step in found.steps] == [QUESTION]


def test_m4_says_nothing_of_what_was_not_found() -> None:
    generator = ScriptedGenerator({"purpose: sub-answer": "From memory.", "purpose: answer": "Nothing was found."})

    found = augment(QUESTION, ScriptedRetriever(), generator, mode="end-to-end", sub_questions=[SKY])

    assert found.sub_questions[0].answer is None
    assert "From memory." not in found.prompt[1].content
    assert found.notes == ("nothing was retrieved",)


def test_a_generator_that_cannot_split_is_named_and_rules_stand_in() -> None:
    generator = ScriptedGenerator({"purpose: answer": "Because."}, default=Failure("timeout", "60 s"))

    found = augment(QUESTION, ScriptedRetriever(FOUND), generator, scorer=KeywordScorer())

    assert found.sub_questions
    assert all(each.role_source == "rules" for each in found.sub_questions)
    assert [each.kind for each in found.failures] == ["timeout"]
    assert found.answer == "Because."


def test_a_generator_that_cannot_answer_is_named_and_the_passages_stay() -> None:
    generator = ScriptedGenerator(default=Failure("content filter", "refused"))

    found = augment(QUESTION, ScriptedRetriever(FOUND), generator, scorer=ScriptedScorer(SCORES), sub_questions=[SKY])

    assert found.answer is None
    assert AIR in found.passages
    assert found.failures == (Failure("content filter", "no answer to the question: refused"),)


def test_a_search_that_fails_is_named_and_the_others_count() -> None:
    found = by_retrieval(ScriptedRetriever(FOUND | {SKY: TimeoutError("60 s")}))

    assert found.steps[1].error == "TimeoutError: 60 s"
    assert found.failures == (Failure("retrieval", f"the search for {SKY!r} failed: TimeoutError: 60 s"),)
    assert LEAF in found.passages
    assert found.uncovered == (SKY,)


@pytest.mark.parametrize("mode", MODES)
def test_where_every_search_fails_there_is_no_result(mode: AugmentationMode) -> None:
    generator = ScriptedGenerator()

    with pytest.raises(ModelFailedError, match=r"the retriever failed on every search, .* TimeoutError: 60 s") as failed:
        augment(
            QUESTION,
            ScriptedRetriever(default=TimeoutError("60 s")),
            generator,
            mode=mode,
            scorer=KeywordScorer(),
            sub_questions=[SKY],
        )

    assert failed.value.kind == "retrieval"
    assert generator.asked.calls == 0


@pytest.mark.parametrize("mode", MODES)
def test_where_nothing_is_found_that_is_said(mode: AugmentationMode) -> None:
    scorer = KeywordScorer()

    found = augment(
        QUESTION, ScriptedRetriever(), ScriptedGenerator(default="?"), mode=mode, scorer=scorer, sub_questions=[SKY]
    )

    assert (found.passages, found.notes, found.failures) == ((), ("nothing was retrieved",), ())
    assert [(each.covered, each.probability) for each in found.sub_questions] == [(False, None)]
    assert scorer.asked.calls == 0


def test_passages_without_a_text_are_kept_and_cover_nothing() -> None:
    blank = Passage(" ", id="blank")

    found = by_retrieval(ScriptedRetriever({QUESTION: [blank]}), scorer=ScriptedScorer(default=1.0))

    assert found.passages == (blank,)
    assert [(each.covered, each.probability) for each in found.sub_questions] == [(False, None)] * 2


def test_depth_is_what_a_search_asks_for_and_k_what_is_kept() -> None:
    retriever = ScriptedRetriever({QUESTION: [f"Passage {number}." for number in range(9)]})

    found = augment(QUESTION, retriever, scorer=KeywordScorer(), sub_questions=[], k=2, depth=5)

    assert (len(found.steps[0].passages), len(found.passages)) == (5, 2)


def test_texts_of_any_script_and_length_pass() -> None:
    question, sub = "Γιατί 🌍 είναι μπλε؟ 天" * 200, "为什么天是蓝色的"
    passages: list[Passage | str] = ["天" * 50_000, "🌍" * 1000, "\u202e\x00odd", "air " * 20_000]

    found = augment(question, ScriptedRetriever(default=passages), scorer=KeywordScorer(), sub_questions=[sub])

    assert len(found.passages) == 4
    assert Augmentation.from_dict(found.to_dict()) == found


@given(
    st.lists(st.sampled_from([SKY, GRASS, "Who says #1?", "#2", "?", QUESTION]), max_size=5),
    st.sampled_from(MODES),
    st.integers(1, 4),
    st.integers(1, 4),
)
def test_any_sub_questions_in_any_mode_stay_within_all_bounds(
    subs: list[str], mode: AugmentationMode, k: int, max_calls: int
) -> None:
    retriever = ScriptedRetriever(FOUND, default=[RAIN])

    found = augment(
        QUESTION,
        retriever,
        ScriptedGenerator(default="Ada"),
        mode=mode,
        scorer=ScriptedScorer(SCORES),
        sub_questions=subs,
        k=k,
        max_calls=max_calls,
        workers=1,
    )

    assert retriever.asked.calls == found.calls <= max_calls
    assert len(found.passages) == len(set(found.passages)) <= k
    assert len(found.sub_questions) == len(subs)
    assert found.answer == "Ada"


def test_an_answer_that_somebody_else_writes_is_not_asked_for_and_its_prompt_is_there() -> None:
    generator = ScriptedGenerator(default="An answer.")
    writing = Augmenter(retriever=ScriptedRetriever(FOUND), generator=generator, scorer=ScriptedScorer(SCORES))

    made = replace(writing, writes=False).augment(QUESTION, sub_questions=[SKY, GRASS])

    assert (made.answer, made.failures, generator.asked.items) == (None, (), 0)
    assert made.prompt == writing.augment(QUESTION, sub_questions=[SKY, GRASS]).prompt
