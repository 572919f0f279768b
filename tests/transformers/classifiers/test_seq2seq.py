"""Models that write: the first token of their answer, yes or no, as entailer and scorer."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

from rag_cover.backends import Entailer, Scorer, ScoringItem, reads_references
from rag_cover.errors import InvalidValueError
from rag_cover.registry import Models, open_entailer, open_scorer
from rag_cover_transformers.canaries import CANARIES, QUESTIONS
from rag_cover_transformers.checkpoints import find_checkpoint
from rag_cover_transformers.errors import CanaryError, WordsError, WrongKindError
from rag_cover_transformers.model_source import Source
from rag_cover_transformers.seq2seq import Seq2SeqModel, read_seq2seq
from rag_cover_transformers.seq2seq_scorer import Seq2SeqScorer
from rag_cover_transformers.templates import AGREES, ANSWERS, ENTAILS

Folder = Callable[[str], Path]

WORDS = ("yes", "no")
TURNED = ("not_entailment", "entailment")
QUESTION, RIGHT, WRONG = QUESTIONS[0]
PAIRS = [(premise, hypothesis) for premise, hypothesis, _ in CANARIES]


@pytest.fixture(params=["t5", "bart"])
def folder(request: pytest.FixtureRequest, writing_folder: Folder) -> Path:
    return writing_folder(request.param)


def _model(folder: Path) -> Seq2SeqModel:
    return read_seq2seq(find_checkpoint(str(folder)), Source(str(folder)))


def _theirs(folder: Path, prompts: Sequence[str], words: tuple[str, str] = WORDS) -> Any:
    """Return P(the first word) of two, by the loss' own way to begin an answer."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    network = AutoModelForSeq2SeqLM.from_pretrained(folder)
    labels = [tokenizer(word).input_ids for word in words]
    place = next(n for n, (yes, no) in enumerate(zip(*labels, strict=False)) if yes != no)
    found = []
    with torch.inference_mode():
        for prompt in prompts:
            logits = network(**tokenizer(prompt, return_tensors="pt"), labels=torch.tensor(labels[:1])).logits[0, place]
            found.append(logits[[label[place] for label in labels]].softmax(dim=-1)[0].item())
    return np.array(found)


def test_it_answers_as_the_model_itself_does(folder: Path) -> None:
    theirs = _theirs(folder, [ENTAILS.fill_in(premise, hypothesis, WORDS) for premise, hypothesis in PAIRS])

    entailer = open_entailer(f"transformers:{folder}")
    found = entailer.entail(PAIRS)

    assert isinstance(entailer, Entailer)
    assert np.abs(found[:, 0] - theirs).max() <= 1e-5
    assert np.abs(found[:, 1] - (1 - theirs)).max() <= 1e-5
    assert (found[:, 2] == 0).all()
    assert ((found[:, 0] >= 0.5) == [label == "entailment" for *_, label in CANARIES]).all()


def test_as_a_scorer_it_answers_as_the_model_itself_does(folder: Path) -> None:
    scorer = open_scorer(f"transformers:{folder}", threshold=0.4)
    items = [
        *(ScoringItem(question, text) for question, *texts in QUESTIONS for text in texts),
        ScoringItem(QUESTION, RIGHT, user_question="When, and by whom?"),
        ScoringItem(QUESTION, RIGHT, user_question=QUESTION),
        ScoringItem(QUESTION, RIGHT, ("1889",)),
    ]
    prompts = [
        *(ANSWERS.fill_in(question, text, WORDS) for question, *texts in QUESTIONS for text in texts),
        ANSWERS.fill_in(f"{QUESTION}\nThe text is a reply to: When, and by whom?", RIGHT, WORDS),
        ANSWERS.fill_in(QUESTION, RIGHT, WORDS),
        AGREES.fill_in(f"{QUESTION}\nCorrect answer: 1889", RIGHT, WORDS),
    ]

    found = scorer.correctness(items)

    assert isinstance(scorer, Scorer)
    assert (scorer.threshold, reads_references(scorer)) == (0.4, True)
    assert np.abs(found - _theirs(folder, prompts)).max() <= 1e-5
    assert (found[:6:2] >= 0.5).all()
    assert (found[1:6:2] < 0.5).all()


@pytest.mark.parametrize("template", [ENTAILS, ANSWERS, AGREES])
def test_the_prompt_is_tokenised_as_if_written_in_one(template: Any, folder: Path) -> None:
    encoder = _model(folder).classifier(template).encoder
    first, second = encoder.tokenise(["The river froze.", "She bought a car."])

    joined = encoder.join_pair(first.ids, second.ids).ids.tolist()

    assert (
        joined
        == AutoTokenizer.from_pretrained(folder)(template.fill_in("The river froze.", "She bought a car.", WORDS)).input_ids
    )


@pytest.mark.parametrize(("kind", "start"), [("t5", (0,)), ("bart", (2, 0))])
def test_an_answer_begins_as_in_training(kind: str, start: tuple[int, ...], writing_folder: Folder) -> None:
    assert _model(writing_folder(kind)).start == start


def test_the_likeliest_reference_counts_and_blank_ones_do_not(folder: Path) -> None:
    scorer = open_scorer(f"transformers:{folder}")
    references = ("1889", "in may", "for the world's fair")
    single = scorer.correctness([ScoringItem(QUESTION, RIGHT, (reference,)) for reference in references])

    several, blank, free = scorer.correctness(
        [ScoringItem(QUESTION, RIGHT, given) for given in ((" ", *references), ("", " "), ())]
    )

    assert abs(several - single.max()) <= 1e-5
    assert abs(blank - free) <= 1e-5


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_a_blank_text_answers_nothing_and_entails_nothing(blank: str, folder: Path) -> None:
    scorer, entailer = open_scorer(f"transformers:{folder}"), open_entailer(f"transformers:{folder}")
    items = [
        ScoringItem(QUESTION, blank),
        ScoringItem(QUESTION, blank, user_question="When, and why?"),
        ScoringItem(QUESTION, blank, ("1889",)),
    ]

    assert scorer.correctness(items).tolist() == [0, 0, 0]
    assert entailer.entail([(blank, "It rains."), ("It rains.", blank)]).tolist() == [[0, 1, 0], [0, 1, 0]]


def test_the_batch_does_not_matter_at_any_length(folder: Path) -> None:
    name = f"transformers:{folder}"
    scorer, entailer = open_scorer(name, batch_tokens=300), open_entailer(name, batch_tokens=300)
    items = [
        ScoringItem(QUESTION, f"{WRONG} " * 12 + RIGHT),
        ScoringItem(QUESTION, RIGHT),
        ScoringItem(QUESTION, f"{WRONG} " * 12, ("1889", "in may")),
        ScoringItem("Why? " * 200, RIGHT),
        ScoringItem("", "\ud800 It rains."),
    ]
    pairs = [*PAIRS, (f"{WRONG} " * 12, RIGHT), (RIGHT, f"{WRONG} " * 12)]

    found, entailed = scorer.correctness(items), entailer.entail(pairs)

    assert np.abs(found - np.concatenate([scorer.correctness([item]) for item in items])).max() <= 1e-5
    assert np.abs(entailed - np.concatenate([entailer.entail([pair]) for pair in pairs])).max() <= 1e-5
    assert (scorer.correctness(items) == found).all()
    assert ((found >= 0) & (found <= 1)).all()
    assert scorer.correctness([]).shape == (0,)
    assert entailer.entail([]).shape == (0, 3)


def test_a_long_text_is_read_whole_and_no_input_is_too_long(folder: Path) -> None:
    model = _model(folder)
    network, read = model.runner.network, list[list[int]]()
    network.register_forward_pre_hook(lambda _, __, given: read.extend(given["input_ids"].tolist()), with_kwargs=True)
    long = " ".join([*(premise for premise, *_ in CANARIES), "A zebra."] * 4)

    Seq2SeqScorer(model, ("entailment", "not_entailment")).correctness([ScoringItem(QUESTION, long)])

    assert len(read) > 2
    assert max(map(len, read)) <= model.encoder.max_tokens
    assert set(model.encoder.tokenise([long])[0].ids.tolist()[1:]) <= {token for row in read for token in row}


def test_the_best_window_speaks(folder: Path) -> None:
    scorer = open_scorer(f"transformers:{folder}")
    long = " ".join([WRONG] * 20)

    plain, ended = scorer.correctness([ScoringItem(QUESTION, long), ScoringItem(QUESTION, f"{long} {RIGHT}")])

    assert ended >= plain


def test_eight_threads_get_what_one_gets(folder: Path) -> None:
    scorer = open_scorer(f"transformers:{folder}")
    items = [ScoringItem(question, text) for question, *texts in QUESTIONS for text in texts]
    alone = scorer.correctness(items)

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(scorer.correctness, [items] * 8))

    assert all((each == alone).all() for each in found)


def test_half_precision_tells_the_plain_cases_apart_too(folder: Path) -> None:
    found = open_entailer(f"transformers:{folder}", precision="bfloat16").entail(PAIRS)

    assert np.abs(found - open_entailer(f"transformers:{folder}").entail(PAIRS)).max() <= 0.1


def test_words_that_mean_the_reverse_are_refused_and_told_the_order_that_passes(folder: Path) -> None:
    name = f"transformers:{folder}"

    for opened in (open_entailer, open_scorer):
        with pytest.raises(CanaryError) as refused:
            opened(name, labels=TURNED)
        assert refused.value.passing == ("entailment", "not_entailment")
        assert opened(name, labels=TURNED, canaries=())


def test_a_model_that_answers_at_random_is_refused(folder: Path) -> None:
    unknown = [("Blue is a colour.", "Two is a number.", label) for label in ("entailment", "neutral", "contradiction")]

    with pytest.raises(CanaryError, match="No order of its labels passes"):
        open_entailer(f"transformers:{folder}", canaries=unknown)


@pytest.mark.parametrize("opened", [open_entailer, open_scorer])
@pytest.mark.parametrize("words", [("no", "no"), ("no", "no.")])
def test_words_that_begin_alike_are_refused_with_what_to_do(
    words: tuple[str, str], opened: Callable[..., Any], writing_folder: Folder
) -> None:
    with pytest.raises(WordsError, match=r"both begin with the same token.* Pass the two words .* words=\('true', 'false'\)"):
        opened(f"transformers:{writing_folder('bart')}", words=words)


def test_words_that_the_vocabulary_lacks_are_refused(writing_folder: Folder) -> None:
    model = _model(writing_folder("t5"))
    unknown = model.encoder.tokenise(["yes"])[0].ids[0]
    lacking = Seq2SeqModel(model.name, model.fingerprint, model.encoder, model.runner, model.start, int(unknown))

    with pytest.raises(WordsError, match="its vocabulary has no token that begins 'yes'"):
        lacking.classifier(ENTAILS)


@pytest.mark.parametrize("words", ["no", ("yes",), ("yes", "no", "perhaps"), ("yes", " "), (1, 2)])
def test_words_are_two(words: Any, writing_folder: Folder) -> None:
    with pytest.raises(InvalidValueError, match="words are two, first the one that agrees"):
        open_scorer(f"transformers:{writing_folder('bart')}", words=words)


def test_other_words_are_read_where_they_are_asked_for(folder: Path) -> None:
    words = ("no", "yes")
    premise, hypothesis = PAIRS[0]

    entailer = open_entailer(f"transformers:{folder}", words=words, canaries=())
    (found,) = entailer.entail([(premise, hypothesis)])

    assert abs(found[0] - _theirs(folder, [ENTAILS.fill_in(premise, hypothesis, words)], words)[0]) <= 1e-5


def test_it_may_judge_by_entailment_as_well(folder: Path) -> None:
    name = f"transformers:{folder}"
    statement = f"This text answers the question: {QUESTION}"

    scorer = open_scorer(name, task="entailment", canaries=())

    assert (
        abs(scorer.correctness([ScoringItem(QUESTION, RIGHT)])[0] - open_entailer(name).entail([(RIGHT, statement)])[0, 0])
        <= 1e-5
    )


def test_as_a_judge_it_is_scorer_and_entailer_and_loaded_once(folder: Path) -> None:
    opened = Models(judge=f"transformers:{folder}").open(("scorer", "locator", "relevance", "entailer"))

    assert set(opened) == {"scorer", "entailer"}
    assert opened["scorer"]._answers.model is opened["entailer"]._classifier.model


def test_an_input_without_room_for_the_prompt_is_refused_with_the_least(folder: Path) -> None:
    with pytest.raises(InvalidValueError, match=r"too short for the prompt: max_tokens is at least (\d+)") as refused:
        open_entailer(f"transformers:{folder}", max_tokens=24, canaries=())

    least = int(str(refused.value).rpartition(" ")[2])
    assert open_entailer(f"transformers:{folder}", max_tokens=least, canaries=()).entail(PAIRS).shape == (len(PAIRS), 3)
    with pytest.raises(InvalidValueError):
        open_entailer(f"transformers:{folder}", max_tokens=least - 1, canaries=())


def test_a_model_that_does_not_say_how_an_answer_begins_is_refused(writing_folder: Folder, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(writing_folder("t5"), tmp_path / "startless"))
    for name in ("config.json", "generation_config.json"):
        described = json.loads((folder / name).read_text(encoding="utf-8"))
        described.pop("decoder_start_token_id", None)
        (folder / name).write_text(json.dumps(described), encoding="utf-8")

    with pytest.raises(WrongKindError, match="names the decoder_start_token_id"):
        open_scorer(f"transformers:{folder}")


def test_an_encoder_decoder_that_was_trained_to_classify_is_read_as_a_classifier(nli_folder: Callable[..., Path]) -> None:
    found = open_entailer(f"transformers:{nli_folder('bart')}").entail(PAIRS)

    assert (found[:, 2] > 0).all()


def test_the_fingerprint_tells_words_labels_and_kinds_apart(writing_folder: Folder) -> None:
    name = f"transformers:{writing_folder('bart')}"
    opened = [
        open_scorer(name),
        open_scorer(name, threshold=0.6),
        open_scorer(name, words=("no", "yes"), canaries=()),
        open_scorer(name, labels=TURNED, canaries=()),
        open_scorer(name, task="entailment", canaries=()),
        open_entailer(name),
    ]

    assert len({each.fingerprint for each in opened}) == 6  # type: ignore[attr-defined]
