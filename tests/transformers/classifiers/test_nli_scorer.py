"""Classifiers of entailment as scorers: a question becomes a statement about the text."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from transformers import BertConfig, BertForSequenceClassification

from rag_cover.backends import Scorer, ScoringItem, reads_references
from rag_cover.errors import InvalidValueError
from rag_cover.registry import Models, open_entailer, open_scorer
from rag_cover_transformers.canaries import QUESTIONS
from rag_cover_transformers.classifiers import Classifier, open_classifier
from rag_cover_transformers.encodings import NetworkInput
from rag_cover_transformers.entailer import NliEntailer
from rag_cover_transformers.errors import CanaryError, LabelOrderError, WrongKindError
from rag_cover_transformers.model_source import Source
from rag_cover_transformers.nli_scorer import HYPOTHESIS, NliScorer

NliFolder = Callable[..., Path]
Saved = Callable[[Any, Any], Path]

QUESTION, RIGHT, WRONG = QUESTIONS[0]
TRUE_ORDER = ("contradiction", "neutral", "entailment")
KINDS = [(kind, classes) for kind in ("bert", "roberta", "deberta", "bart") for classes in (3, 2)]


@pytest.fixture(params=KINDS, ids=lambda case: f"{case[0]}-{case[1]}")
def folder(request: pytest.FixtureRequest, nli_folder: NliFolder) -> Path:
    return nli_folder(*request.param)


def _relabelled(folder: Path, to: Path, labels: Sequence[str]) -> Path:
    shutil.copytree(folder, to)
    config = json.loads((to / "config.json").read_text(encoding="utf-8"))
    config |= {"id2label": dict(enumerate(labels)), "label2id": {label: place for place, label in enumerate(labels)}}
    (to / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return to


def test_a_text_that_answers_is_likelier_to(folder: Path) -> None:
    scorer = open_scorer(f"transformers:{folder}", task="entailment", threshold=0.4)
    items = [ScoringItem(question, text) for question, *texts in QUESTIONS for text in texts]

    found = scorer.correctness(items)

    assert isinstance(scorer, Scorer)
    assert (scorer.threshold, reads_references(scorer)) == (0.4, True)
    assert (found[::2] >= 0.5).all()
    assert (found[1::2] < 0.5).all()


def test_it_is_the_entailment_of_the_statements_that_are_documented(folder: Path) -> None:
    entailer = open_entailer(f"transformers:{folder}")
    statement = HYPOTHESIS.format(question=QUESTION)
    pairs = [
        (RIGHT, statement),
        (f"Question: When?\nAnswer: {RIGHT}", statement),
        (f"Question: {QUESTION}\nAnswer: {RIGHT}", f"Question: {QUESTION}\nAnswer: 1889"),
        (f"Question: {QUESTION}\nAnswer: {RIGHT}", f"Question: {QUESTION}\nAnswer: in may"),
    ]

    found = open_scorer(f"transformers:{folder}", task="entailment").correctness(
        [
            ScoringItem(QUESTION, RIGHT),
            ScoringItem(QUESTION, RIGHT, user_question="When?"),
            ScoringItem(QUESTION, RIGHT, ("1889",)),
            ScoringItem(QUESTION, RIGHT, ("in may",)),
        ]
    )

    assert np.abs(found - entailer.entail(pairs)[:, 0]).max() <= 1e-5


def test_the_likeliest_reference_counts_whatever_their_order(folder: Path) -> None:
    scorer = open_scorer(f"transformers:{folder}", task="entailment")
    references = ("1889", "in may", "for the world's fair")
    single = scorer.correctness([ScoringItem(QUESTION, RIGHT, (reference,)) for reference in references])

    found = scorer.correctness(
        [ScoringItem(QUESTION, RIGHT, references), ScoringItem(QUESTION, RIGHT, (" ", *references[::-1]))]
    )

    assert np.abs(found - single.max()).max() <= 1e-5


def test_the_batch_does_not_matter(folder: Path) -> None:
    scorer = open_scorer(f"transformers:{folder}", task="entailment", batch_tokens=200)
    items = [
        ScoringItem(QUESTION, f"{WRONG} " * 12 + RIGHT),
        ScoringItem(QUESTION, RIGHT, user_question="When was it completed, and by whom?"),
        ScoringItem(QUESTION, f"{WRONG} " * 12, ("1889", "in may")),
        ScoringItem("Why?", "a"),
        ScoringItem("", "\ud800 It rains."),
    ]

    found = scorer.correctness(items)

    single = np.concatenate([scorer.correctness([item]) for item in items])
    assert np.abs(found - single).max() <= 1e-5
    assert ((found >= 0) & (found <= 1)).all()
    assert scorer.correctness([]).shape == (0,)


@pytest.mark.parametrize("blank", ["", " ", "\n\t", "\u3000"])
def test_a_blank_text_answers_nothing(blank: str, nli_folder: NliFolder) -> None:
    scorer = open_scorer(f"transformers:{nli_folder('bert')}")
    items = [
        ScoringItem(QUESTION, blank),
        ScoringItem(QUESTION, blank, user_question=QUESTION),
        ScoringItem(QUESTION, blank, ("1889",)),
    ]

    assert scorer.correctness(items).tolist() == [0, 0, 0]


@pytest.fixture
def by_words(nli_folder: NliFolder, bert_tokenizer: Any) -> tuple[NliScorer, list[str]]:
    """Return a scorer to which a window with a guitar answers all, and the list of the inputs that it has read."""
    opened = open_classifier(Source(str(nli_folder("bert"))))
    read: list[str] = []

    class ByWords(Classifier):
        __slots__ = ()

        def logits(self, rows: Sequence[NetworkInput]) -> NDArray[np.float32]:
            texts = [bert_tokenizer.decode(row.ids) for row in rows]
            read.extend(texts)
            return np.array([[9, 0, 0] if "guitar" in text else [0, 9, 0] for text in texts], np.float32).reshape(-1, 3)

    classifier = ByWords(opened.name, opened.fingerprint, opened.id2label, opened.encoder, opened.runner)
    return NliScorer(NliEntailer(classifier, ("entailment", "neutral", "contradiction"))), read


@pytest.mark.parametrize("before", [0, 7, 15, 30])
def test_what_a_long_text_says_anywhere_is_found(by_words: tuple[NliScorer, list[str]], before: int) -> None:
    scorer, _ = by_words
    other = "She bought a red car yesterday. "
    long = other * before + "A man plays guitar. " + other * (30 - before)

    found = scorer.correctness(
        [
            ScoringItem("Who?", long),
            ScoringItem("Who?", long, user_question="Who plays?"),
            ScoringItem("Who?", long, ("A man",)),
            ScoringItem("Who?", other * 30),
        ]
    )

    assert (found >= 0.5).tolist() == [True, True, True, False]


def test_the_question_stands_before_every_window_of_a_long_reply(by_words: tuple[NliScorer, list[str]]) -> None:
    scorer, read = by_words

    scorer.correctness([ScoringItem("Who?", "She bought a red car yesterday. " * 30, user_question="Who paid?")])

    assert len(read) > 3
    assert all(text.startswith("[CLS] question : who paid? answer : ") for text in read)


def test_an_overlong_question_leaves_room_for_the_text(by_words: tuple[NliScorer, list[str]]) -> None:
    scorer, read = by_words

    found = scorer.correctness([ScoringItem("Who?", "A man plays guitar.", user_question="Who paid for the car? " * 40)])

    assert found[0] >= 0.5
    assert all("answer :" in text for text in read)


def test_eight_threads_get_what_one_gets(nli_folder: NliFolder) -> None:
    scorer = open_scorer(f"transformers:{nli_folder('roberta')}")
    items = [ScoringItem(question, text, ("1889",)) for question, *texts in QUESTIONS for text in texts]
    alone = scorer.correctness(items)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(scorer.correctness, [items] * 8))

    assert all((each == alone).all() for each in found)


@pytest.mark.parametrize(
    ("kind", "classes", "inverted", "true"),
    [
        ("roberta", 3, TRUE_ORDER[::-1], TRUE_ORDER),
        ("deberta", 3, TRUE_ORDER[::-1], TRUE_ORDER),
        ("bart", 3, TRUE_ORDER[::-1], TRUE_ORDER),
        ("bert", 2, ("not_entailment", "entailment"), ("entailment", "not_entailment")),
    ],
)
def test_inverted_labels_are_refused_and_told_the_order_that_passes(
    kind: str, classes: int, inverted: Sequence[str], true: Sequence[str], nli_folder: NliFolder, tmp_path: Path
) -> None:
    folder = _relabelled(nli_folder(kind, classes), tmp_path / "inverted", inverted)

    with pytest.raises(CanaryError) as refused:
        open_scorer(f"transformers:{folder}", task="entailment")

    assert refused.value.passing == true
    assert open_scorer(f"transformers:{folder}", task="entailment", labels=true)
    assert open_scorer(f"transformers:{folder}", task="entailment", canaries=())


def test_nameless_labels_need_the_option(nli_folder: NliFolder, tmp_path: Path) -> None:
    folder = _relabelled(nli_folder("bert"), tmp_path / "nameless", ("LABEL_0", "LABEL_1", "LABEL_2"))

    with pytest.raises(LabelOrderError):
        open_scorer(f"transformers:{folder}")
    with pytest.raises(InvalidValueError, match="does not name the 3 outputs"):
        open_scorer(f"transformers:{folder}", labels=("entailment", "not_entailment"))
    assert open_scorer(f"transformers:{folder}", labels=TRUE_ORDER)


def test_a_classifier_that_ranks_plain_answers_wrongly_is_refused(nli_folder: NliFolder) -> None:
    turned = [(question, wrong, right) for question, right, wrong in QUESTIONS]

    with pytest.raises(CanaryError, match="0 of 3 plain cases right"):
        open_scorer(f"transformers:{nli_folder('bert')}", canaries=turned)


def test_two_outputs_are_read_as_answers_unless_told_otherwise(nli_folder: NliFolder, qnli_folder: NliFolder) -> None:
    two = f"transformers:{nli_folder('bert', 2)}"

    assert not reads_references(open_scorer(f"transformers:{qnli_folder(2)}"))
    assert not reads_references(open_scorer(two, task="answers", canaries=()))
    assert reads_references(open_scorer(two, task="entailment"))
    assert reads_references(open_scorer(f"transformers:{nli_folder('bert')}"))


def test_a_task_that_the_outputs_cannot_do_is_refused(nli_folder: NliFolder, qnli_folder: NliFolder) -> None:
    with pytest.raises(WrongKindError, match="three outputs, and task='answers' takes one or two"):
        open_scorer(f"transformers:{nli_folder('bert')}", task="answers")
    with pytest.raises(WrongKindError, match="one output, and entailment takes two or three"):
        open_scorer(f"transformers:{qnli_folder(1)}", task="entailment")
    with pytest.raises(InvalidValueError, match="task is 'answers', 'entailment' or None, not 'nli'"):
        open_scorer(f"transformers:{nli_folder('bert')}", task="nli")


@pytest.mark.parametrize("task", [None, "answers", "entailment"])
def test_a_classifier_of_four_is_no_scorer(task: str | None, bert_tokenizer: Any, saved: Saved) -> None:
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    folder = saved(
        BertForSequenceClassification(BertConfig(vocab_size=len(bert_tokenizer), num_labels=4, **sizes)), bert_tokenizer
    )

    with pytest.raises(WrongKindError, match="it has 4 outputs, and a scorer has one or two"):
        open_scorer(f"transformers:{folder}", task=task)


def test_words_are_not_for_classifiers(nli_folder: NliFolder) -> None:
    for opened in (open_entailer, open_scorer):
        with pytest.raises(InvalidValueError, match=r"no model that writes .* takes no words"):
            opened(f"transformers:{nli_folder('bert')}", words=("yes", "no"))


@pytest.mark.parametrize("threshold", [-0.1, 1.5])
def test_a_threshold_is_a_probability(threshold: float, nli_folder: NliFolder) -> None:
    with pytest.raises(InvalidValueError, match="give a number from 0 to 1"):
        open_scorer(f"transformers:{nli_folder('bert')}", threshold=threshold)


def test_as_a_judge_it_is_scorer_and_entailer_and_loaded_once(folder: Path) -> None:
    name = f"transformers:{folder}"
    scorer, entailer = open_scorer(name, task="entailment"), open_entailer(name)

    opened = Models(judge=scorer, entailer=entailer).open(("scorer", "entailer"))

    assert set(opened) == {"scorer", "entailer"}
    assert scorer._entailer._classifier is entailer._classifier  # type: ignore[attr-defined]


def test_by_its_name_alone_three_classes_serve_as_judge(nli_folder: NliFolder) -> None:
    opened = Models(judge=f"transformers:{nli_folder('deberta')}").open(("scorer", "locator", "relevance", "entailer"))

    assert set(opened) == {"scorer", "entailer"}


def test_the_fingerprint_tells_scorers_apart(nli_folder: NliFolder) -> None:
    name = f"transformers:{nli_folder('bert', 2)}"
    opened = [
        open_scorer(name, task="entailment"),
        open_scorer(name, task="entailment", threshold=0.7),
        open_scorer(name, task="entailment", labels=("not_entailment", "entailment"), canaries=()),
        open_scorer(name, task="answers", canaries=()),
        open_entailer(name),
    ]

    assert len({each.fingerprint for each in opened}) == 5  # type: ignore[attr-defined]
