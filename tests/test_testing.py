"""The scripted models are models, deterministic, and count from any thread."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from rag_cover.backends import (
    Entailer,
    Failure,
    Generator,
    Locator,
    Message,
    Receiver,
    Retriever,
    Sampling,
    Scorer,
    ScoringItem,
    Span,
    fingerprint_of,
)
from rag_cover.questions import Passage
from rag_cover.testing import (
    KeywordEntailer,
    KeywordLocator,
    KeywordScorer,
    ScriptedEntailer,
    ScriptedGenerator,
    ScriptedLocator,
    ScriptedReceiver,
    ScriptedRetriever,
    ScriptedScorer,
)

ITEM = ScoringItem("Why is the sky blue?", "Grass is green. The sky is blue.")
MODELS = (
    KeywordScorer(),
    ScriptedScorer(),
    KeywordLocator(),
    ScriptedLocator(),
    KeywordEntailer(),
    ScriptedEntailer(),
    ScriptedGenerator(),
    ScriptedReceiver(),
    ScriptedRetriever(),
)


def test_they_are_what_they_stand_for() -> None:
    scorers: list[Scorer] = [KeywordScorer(), ScriptedScorer()]
    locators: list[Locator] = [KeywordLocator(), ScriptedLocator()]
    entailers: list[Entailer] = [KeywordEntailer(), ScriptedEntailer()]

    known = [
        *(isinstance(each, Scorer) for each in scorers),
        *(isinstance(each, Locator) for each in locators),
        *(isinstance(each, Entailer) for each in entailers),
    ]

    assert all(known)


def test_their_fingerprints_tell_them_apart() -> None:
    models = [*MODELS, KeywordScorer(threshold=0.9), ScriptedScorer({("a", "b"): 1.0}), ScriptedEntailer(default=0.5)]

    names = {fingerprint_of(model) for model in models}

    assert len(names) == len(models)


def test_equal_models_have_equal_fingerprints() -> None:
    one, other = ScriptedScorer({("a", "b"): 1.0, ("c", "d"): 0.5}), ScriptedScorer({("c", "d"): 0.5, ("a", "b"): 1.0})

    names = fingerprint_of(one), fingerprint_of(other)

    assert names[0] == names[1]


def test_counters_count_from_any_thread() -> None:
    scorer = KeywordScorer()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: scorer.correctness([ITEM, ITEM]), range(200)))

    assert (scorer.asked.calls, scorer.asked.items) == (200, 400)


def test_models_travel_between_processes_with_fresh_counters() -> None:
    scorer = KeywordScorer(threshold=0.25)
    scorer.correctness([ITEM])

    copy = pickle.loads(pickle.dumps(scorer))  # noqa: S301 - our own bytes

    assert copy == scorer
    assert copy.asked.calls == 0


def test_no_items_give_arrays_of_the_right_shape() -> None:
    shapes = [KeywordScorer().correctness([]).shape, KeywordEntailer().entail([]).shape]

    assert shapes == [(0,), (0, 3)]


def test_entailment_adds_up_to_one() -> None:
    entailer = ScriptedEntailer({("p", "h"): 0.3})

    rows = entailer.entail([("p", "h"), ("x", "y")])

    assert rows.sum(axis=1).tolist() == pytest.approx([1.0, 1.0])


def test_locators_point_into_the_text() -> None:
    scripted = ScriptedLocator({(ITEM.question, ITEM.text): "sky"})

    spans = [*KeywordLocator().locate([ITEM]), *scripted.locate([ITEM]), *scripted.locate([ScoringItem("?", "…")])]

    assert spans == [Span(16, 32), Span(20, 23), None]


def test_nothing_shared_is_nothing_found() -> None:
    item = ScoringItem("Why is the sky blue?", "Bread needs yeast.")

    found = KeywordScorer().correctness([item])[0], KeywordLocator().locate([item])[0]

    assert found == (0.0, None)


def test_a_scripted_generator_tells_purposes_failures_and_samples_apart() -> None:
    generator: Generator = ScriptedGenerator({"purpose: type": "core", "storm": Failure("timeout", "60 s")}, default="?")
    chat = (Message("system", "Be brief."), Message("user", "Why do storms form?"))

    typed = generator.generate(["x", "y"], Sampling(n=2), purpose="type")
    failed, plain = generator.generate([chat, "x"])

    assert [[sample.text for sample in made.samples] for made in (*typed, plain)] == [["core"] * 2] * 2 + [["?"]]
    assert failed.failure == Failure("timeout", "60 s")


def test_a_scripted_receiver_goes_by_the_passages_and_turns_with_the_seed() -> None:
    receiver: Receiver = ScriptedReceiver({"Seine": ("Paris",)}, prior=("Rome", "Lyon"))
    items = [("Where?", (Passage("On the Seine."),)), ("Where?", ())]

    first, second = (receiver.sample(items, n=3, seed=seed) for seed in (0, 1))

    assert [[sample.text for sample in drawn] for drawn in first] == [["Paris"] * 3, ["Rome", "Lyon", "Rome"]]
    assert [[sample.text for sample in drawn] for drawn in second] == [["Paris"] * 3, ["Lyon", "Rome", "Lyon"]]


def test_a_scripted_retriever_finds_counts_and_raises_by_query() -> None:
    retriever: Retriever = (
        scripted := ScriptedRetriever({"Who?": ["Ada.", Passage("Not she.")], "When?": KeyError("k")}, ["?"])
    )

    found = [[passage.text for passage in retriever.retrieve(query, k=2)] for query in ("Who?", "Where?")]

    assert found == [["Ada.", "Not she."], ["?"]]
    assert [passage.text for passage in retriever.retrieve("Who?", k=1)] == ["Ada."]
    with pytest.raises(KeyError):
        retriever.retrieve("When?", k=1)
    assert scripted.asked.calls == 4
    assert scripted.queries == ["Who?", "Where?", "Who?", "When?"]
