"""Whole files measured on any engine, into a folder of parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rag_cover.engines import Engine
from rag_cover.errors import InvalidValueError, StoreError, needs_extra
from rag_cover.evaluation.blocks import LONGEST_TEXT, OnFailure
from rag_cover.evaluation.files.driver import PartSink
from rag_cover.evaluation.files.slice_task import MeasuringSlices
from rag_cover.evaluation.files.slices import PART_BYTES
from rag_cover.evaluation.local_engine import resolve_engine
from rag_cover.evaluation.loop import fill
from rag_cover.evaluation.plan import EvaluationPlan
from rag_cover.evaluation.run import Evaluation, Progress, refuse_both
from rag_cover.llm.cache import cache_for
from rag_cover.llm.deadline import Deadline
from rag_cover.llm.session import LLMSession
from rag_cover.measures import Measure
from rag_cover.redaction import Redaction
from rag_cover.registry import Models
from rag_cover.stores.files import require_file
from rag_cover.stores.folders import ResultFolder
from rag_cover.stores.jsonl import Skipped
from rag_cover.stores.parts import PartFormat

__all__ = ["evaluate_files"]

_MOST_BYTES = 256 << 20


def evaluate_files(  # noqa: PLR0913  # the public interface: all but the files and the folder by name
    files: Path | str | Sequence[Path | str],
    into: Path | str,
    *,
    measures: Sequence[str | Measure] | None = None,
    models: Models = Models(),  # noqa: B008  # frozen
    engine: str | Engine = "local",
    workers: int | None = None,
    format: PartFormat = "parquet",  # noqa: A002  # the word users know
    resume: bool = False,
    overwrite: bool = False,
    on_error: OnFailure = "record",
    skipped: Skipped | None = None,
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
    cache: Path | bool = True,
    deadline_s: float | None = None,
    redact: bool | Redaction = False,
    longest_text: int = LONGEST_TEXT,
    part_bytes: int = PART_BYTES,
) -> Evaluation:
    """Measure the traces of files of any size, in as little memory as those of a small one.

    The results are those of `evaluate` for each file, one file after the other. Workers read what they measure: on several
    machines, the files and the folder lie where all of them see them by the same path.

    Args:
        files: trace files (JSONL, ``.gz`` too) and tables (Parquet), one or several; ids are unique within each.
        into: the folder that the results are written into, in parts; new, empty, or one of an earlier run.
        measures: names or measure values; None: every measure whose inputs and models are there.
        models: the models to ask; the embedded judge by default.
        engine: ``"local"``, the name of an installed engine, or an engine.
        workers: threads of the local engine; None: as many as `evaluate` takes.
        format: of the parts.
        resume: go on with what the folder holds: what is missing is measured, and every part with a `Failure` again.
        overwrite: remove the parts that the folder holds, and begin anew.
        on_error: ``"record"`` keeps a `Failure` for each item that failed, ``"raise"`` stops at the first.
        skipped: is given the error of every line that is no trace, such as a list's ``append``; None: the first stops the run.
        seed: seed of the random generator.
        progress: called after every part.
        cache: whether the answers of remote models are kept beside the folder; or the file to keep them in.
        deadline_s: after so many seconds remote models are no longer asked; what is left fails, and says so.
        redact: replace every text of the results by its hash before anything keeps them; a `Redaction` says by which key. What
            is wrong with a line is not quoted then, and the answers of remote models are kept only in a file that ``cache``
            names. While a run lasts, slices of packed files and tables lie in the folder as they are; those of one that was
            killed are removed by the next.
        longest_text: no model is asked about a trace with a text of more characters: a `Failure` that says so.
        part_bytes: how many bytes of input a part holds the results of, at most, beyond its first trace.

    Raises:
        InputError: a file or one of its lines cannot be read, or a file changes while it is read.
        StoreInUseError: another run writes into the folder.
        StoreError: the folder holds something else, or a run that is neither to be resumed nor written over, cannot be
            written, or is to be gone on with and was redacted in another way.
        InvalidValueError: ``resume`` and ``overwrite`` together, or a cascade of judges with a budget, or a
            ``longest_text`` below 1.
        MissingExtraError: Parquet, without the package for it.
        EvaluationError: the first failure, with ``on_error="raise"``.
    """
    refuse_both(resume=resume, overwrite=overwrite)
    models.refuse_budget()
    paths = [Path(files)] if isinstance(files, Path | str) else [Path(file) for file in files]
    _check(paths, format, part_bytes)
    folder = ResultFolder(Path(into))
    clock = Deadline(deadline_s)
    redaction = Redaction.from_option(redact)
    beside = None if redaction else folder.path.with_name(f"{folder.path.name}.sqlite")  # answers are texts
    run = LLMSession(cache_for(cache, beside), clock=clock)
    plan = EvaluationPlan.of(measures, models, run, on_error=on_error, redaction=redaction, longest_text=longest_text)
    # a judge that is none writes nothing
    sink = PartSink(folder, paths, plan, plan.judge, format, part_bytes, skipped=skipped, seed=seed, progress=progress)
    with folder.lock():
        if not (resume or overwrite):
            _refuse_parts(folder)
        sink.begin(resume=resume)
        with clock:
            fill(sink, resolve_engine(engine, workers, clock), MeasuringSlices(plan, skips=skipped is not None))
        return sink.evaluation


def _check(paths: Sequence[Path], chosen: PartFormat, part_bytes: int) -> None:
    if not paths:
        message = "there is no file to evaluate; name one at least"
        raise InvalidValueError(message)
    if chosen not in ("parquet", "jsonl"):
        message = f"results are written as 'parquet' or 'jsonl', not as {chosen!r}"
        raise InvalidValueError(message)
    if not 1 <= part_bytes <= _MOST_BYTES:
        message = f"part_bytes is from 1 to {_MOST_BYTES:,}, not {part_bytes:,}"
        raise InvalidValueError(message)
    for path in paths:
        require_file(path)
    if chosen == "parquet":
        with needs_extra("parquet", "pyarrow"):
            import pyarrow.parquet  # noqa: F401  # before anything is measured


def _refuse_parts(folder: ResultFolder) -> None:
    about = folder.about
    if about and (parts := folder.parts()):
        found = "an evaluation" if about["finished"] else "an unfinished evaluation"
        message = (
            f"{folder.path} holds {found} ({len(parts):,} {'part' if len(parts) == 1 else 'parts'} done); "
            "go on with it (resume=True, --resume), replace it (overwrite=True, --force), or name another folder"
        )
        raise StoreError(message)
