"""What `robustness.fuzzing` feeds its cases to: everything that reads what a file, a model, a server or a user wrote."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from benchmarks.support.fuzz_calls import call_tool, traces_of_frame
from benchmarks.support.fuzz_mutations import Seeds, seeds_in
from benchmarks.support.hostile_results import hostile_pages, hostile_screens
from rag_cover.backends import Generation, Sampling, ScoringItem
from rag_cover.cli.config_file import read_config
from rag_cover.decomposition.replies import roles_in, sub_questions_in
from rag_cover.errors import InputError, MalformedReplyError
from rag_cover.importers import import_traces, read_labels, read_outcomes
from rag_cover.labelling.tables import import_labels
from rag_cover.llm.json_replies import parse_reply
from rag_cover.llm.judge_prompt import JudgePrompt, reading_of
from rag_cover.pairwise.by_llm import PreferenceReply
from rag_cover.setqueries import SetQuery, parse
from rag_cover.setqueries.written import query_in
from rag_cover.stores import read_traces
from rag_cover.stores.nugget_files import read_assignments, read_nuggets
from rag_cover.stores.passages import read_passages
from rag_cover.testsets.documents import load_documents
from rag_cover.traces import Sample, Trace

__all__ = ["TARGETS", "Target", "seeds_of"]

Feed = Callable[[str, bytes, Path], bool]
"""Takes a case's file name and content and a folder; True: it was accepted. Refusals are raised."""


@dataclass(frozen=True, slots=True)
class Target:
    """Something that reads, its seeds, and its share of the cases."""

    feed: Feed
    seeds: str
    share: int


def _written(name: str, content: bytes, folder: Path) -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(content, 1) if content[-1:] == b"\n" and len(content) % 7 == 0 else content)
    return path


def _traces(name: str, content: bytes, folder: Path) -> bool:
    return _whole(list(read_traces(_written(name, content, folder), on_error="skip", skipped=_forgotten)))


def _imported(name: str, content: bytes, folder: Path, *, format: str | None) -> bool:  # noqa: A002 -- the word users know
    path = _written(name, content, folder)
    return _whole(list(import_traces(path, format=format, on_error="skip", skipped=_forgotten)))


def _forgotten(_error: InputError) -> None:
    """Take an error as whoever counts them alone."""


def _whole(traces: Sequence[Trace]) -> bool:
    """Hold what was accepted to what is promised of it: it can be written, and is the same when it is read again."""
    for trace in traces[:50]:
        if Trace.model_validate(json.loads(trace.to_json())) != trace:
            message = "a trace that was read is another one when it is written and read again"
            raise AssertionError(message)
        trace.contexts()
    return bool(traces)


def _importing(format: str | None) -> Feed:  # noqa: A002 -- the word users know
    return lambda name, content, folder: _imported(name, content, folder, format=format)


def _parquet(name: str, content: bytes, folder: Path) -> bool:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows = [row for row in map(json.loads, content.splitlines()) if isinstance(row, dict)]
        packed = BytesIO()
        pq.write_table(pa.Table.from_pylist(rows), packed)
    except (ValueError, TypeError, OverflowError, RecursionError, pa.ArrowException):
        return False  # no table can hold it
    return _imported(f"{name}.parquet", packed.getvalue(), folder, format=None)


def _passages(name: str, content: bytes, folder: Path) -> bool:
    return bool(list(read_passages(_written(name, content, folder))))


def _read_as(read: Callable[[Path], Any]) -> Feed:
    """Feed a reader of files, whose names stay what the seed's are."""

    def feed(name: str, content: bytes, folder: Path) -> bool:
        path = folder / name
        path.write_bytes(content)
        return read(path) is not None

    return feed


def _text_of(content: bytes) -> str:
    try:
        return content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return content.decode("utf-8", "replace")


def _replied(read: Callable[[str], object]) -> Feed:
    return lambda _name, content, _folder: read(_text_of(content)) is not None


_ASKED = "Which birds of Chile do not live in Peru, but in the Andes?"
_JUDGED = "A weir is a low dam\u2019s kin. It  holds\nwater: “a low dam”."
_ITEMS = (ScoringItem("What is a weir?", _JUDGED), ScoringItem("What does it do?", _JUDGED))


def _verdicts(reply: str) -> object:
    """Read a judge's reply; every fragment must stand in the text."""
    sheet = JudgePrompt(_JUDGED, 0, _ITEMS)
    reading = reading_of(sheet, Generation((Sample(reply),)))
    for judgment in reading.judgments.values():
        if not 0 <= judgment.probability <= 1 or (judgment.fragment and not judgment.fragment.of(_JUDGED)):
            message = f"a verdict that cannot be: {judgment}"
            raise AssertionError(message)
    if not reading.judgments:
        message = "no usable verdict"
        raise MalformedReplyError(message, raw=reply)
    return reading


def _set_query(reply: str) -> object:
    query = query_in(reply, _ASKED)
    if SetQuery.from_text(str(query)) != query or SetQuery.from_dict(query.to_dict()) != query:
        message = "a set query that was read is another one when it is written and read again"
        raise AssertionError(message)
    return query


def _notation(text: str) -> object:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    query = SetQuery.from_text(text) if data is None else SetQuery.from_dict(data)
    if len(text) < 2000 and SetQuery.from_text(str(query)) != query:  # noqa: PLR2004 -- short ones are compared
        message = "a set query that was read is another one when it is written and read again"
        raise AssertionError(message)
    return query


def _completion(text: str) -> object:
    from rag_cover_openai.completions import parse_completion

    return parse_completion(_json(text), Sampling(stop=("\n\n",), logprobs=True))


def _embedding(text: str) -> object:
    from rag_cover_openai.embedder import _vectors

    return _vectors(_json(text), 2, "openai:m")


def _fault(text: str) -> object:
    from rag_cover_openai.errors import redact_secrets, without_secrets

    shown = redact_secrets(text, ["hunter2", "0123456789abcdef"])
    if "hunter2 " in shown or "0123456789abcdef" in shown + without_secrets(text, ["0123456789abcdef"]):
        message = "a secret is left"
        raise AssertionError(message)
    return shown


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as unreadable:  # as the client says it
        raise MalformedReplyError(str(unreadable)[:80], raw=text) from unreadable


_IN_EVERY_FIELD = 20_000  # characters: a report has them some hundred times


def _page(text: str, folder: Path) -> bool:
    """Render every kind of page with a text in every field."""
    for _ in hostile_pages(text[:_IN_EVERY_FIELD], folder):
        pass
    return True


def _screen(text: str) -> object:
    """Render every kind of table; nothing printed may move a cursor."""
    shown = hostile_screens(text[:_IN_EVERY_FIELD])
    if any(mark in shown for mark in ("\x1b", "\x00", "\u202e", "\r", "\x9b")):
        message = "a control character was printed"
        raise AssertionError(message)
    return shown


TARGETS: Mapping[str, Target] = {
    "trace files": Target(_traces, "traces", 40),
    "import ragas": Target(_importing("ragas"), "ragas", 10),
    "import deepeval": Target(_importing("deepeval"), "deepeval", 10),
    "import ragchecker": Target(_importing("ragchecker"), "ragchecker", 10),
    "import openinference": Target(_importing("openinference"), "openinference", 12),
    "import langsmith": Target(_importing("langsmith"), "langsmith", 12),
    "import tables": Target(_importing("table"), "table", 10),
    "import parquet": Target(_parquet, "ragas", 2),
    "import, format by sight": Target(_importing(None), "every", 12),
    "passages": Target(_passages, "passages", 10),
    "documents": Target(_read_as(load_documents), "documents", 12),
    "labels": Target(_read_as(read_labels), "labels", 10),
    "labels for the page": Target(_read_as(lambda path: import_labels(path, "me")), "own_labels", 10),
    "outcomes": Target(_read_as(read_outcomes), "outcomes", 8),
    "configuration": Target(_read_as(read_config), "configuration", 10),
    "nuggets": Target(_read_as(lambda path: list(read_nuggets(path))), "nuggets", 10),
    "assignments": Target(_read_as(lambda path: list(read_assignments(path))), "assignments", 8),
    "frames": Target(lambda _name, content, _folder: _whole(traces_of_frame(_text_of(content))), "ragas", 6),
    "calls of agents": Target(lambda _name, content, folder: call_tool(_text_of(content), folder), "agent_calls", 6),
    "replies: sub-questions": Target(_replied(sub_questions_in), "decomposition", 14),
    "replies: types": Target(_replied(lambda reply: roles_in(reply, 3)), "types", 12),
    "replies: verdicts": Target(_replied(_verdicts), "judge", 14),
    "replies: set queries": Target(_replied(_set_query), "set_reply", 10),
    "replies: preferences": Target(_replied(lambda reply: parse_reply(reply, PreferenceReply)), "preference", 6),
    "completions": Target(_replied(_completion), "completion", 16),
    "embeddings": Target(_replied(_embedding), "embedding", 10),
    "server errors": Target(_replied(_fault), "preference", 4),
    "set queries of questions": Target(_replied(parse), "question", 8),
    "set queries as text and data": Target(_replied(_notation), "notation", 14),
    "reports as pages": Target(lambda _name, content, folder: _page(_text_of(content), folder), "question", 1),
    "reports in the terminal": Target(_replied(_screen), "question", 1),
}


def seeds_of(target: Target) -> Seeds:
    """Read a target's seeds; ``every`` stands for those of all importers."""
    if target.seeds != "every":
        return seeds_in(target.seeds)
    return [
        seed
        for name in ("ragas", "deepeval", "ragchecker", "openinference", "langsmith", "table", "traces")
        for seed in seeds_in(name)
    ]
