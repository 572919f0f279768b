"""A small RAG system whose losses are known: advice for owners who want a heat pump or a better insulated house.

The corpus holds 81 passages of 71 to 99 words. Twenty questions, each with seven or eight typed sub-questions (148 in all,
79 of them core), went through two pipelines:

- ``narrow`` retrieves two passages and answers well from them. It loses its core sub-questions at retrieval.
- ``forgetful`` retrieves eight passages, reranks them, keeps five as its prompt and uses only part of these. It loses core
  sub-questions at the reranker and in the answer; seven of its answers contain one sentence that no passage supports, named
  in the trace's metadata under ``unsupported_sentences``.

Four core sub-questions are answered by no passage: gaps of the corpus. ``labels.jsonl`` says, for every sub-question, which
passages of the corpus answer it (at least in part) and which of the two answers do.

Passages, questions, answers and labels were written for this project; no model was run and no text was copied. The rankings
were composed by hand too, so scores and durations are plausible numbers, not measurements. Licence: Apache-2.0.
"""

from pathlib import Path

__all__ = ["corpus_path", "kept_results_paths", "labels_path", "trace_paths"]


def corpus_path() -> Path:
    """Return the file of all passages, one a line with ``id``, ``title`` and ``text``."""
    return Path(__file__).with_name("corpus.jsonl")


def trace_paths() -> tuple[Path, Path]:
    """Return the trace files of the pipelines ``narrow`` and ``forgetful``, in this order."""
    here = Path(__file__)
    return here.with_name("narrow.jsonl"), here.with_name("forgetful.jsonl")


def kept_results_paths() -> tuple[Path, Path]:
    """Return the stores of what the judge that ships says of the two trace files, in their order.

    Whoever goes on with a copy of them (``resume=True``) judges anew what another judge, or another version of it, would have
    judged.
    """
    here = Path(__file__).with_name("results")
    return here / "narrow.sqlite", here / "forgetful.sqlite"


def labels_path() -> Path:
    """Return the file of what is true, one line per question and sub-question.

    Each line has ``question_id``, ``sub_question``, ``role``, ``passages`` (ids; empty for a gap of the corpus) and
    ``answers`` (by pipeline: does its answer cover the sub-question?).
    """
    return Path(__file__).with_name("labels.jsonl")
