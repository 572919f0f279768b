"""What set queries found, for the terminal: how a question was read, what belongs and by which words, what does not and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.box import ROUNDED
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from rag_cover.backends import Failure
from rag_cover.reports.sanitise import one_line
from rag_cover.reports.tables import Encodable, plain_table
from rag_cover.reports.text import format_count, percent
from rag_cover.setqueries import AtomEvidence, ParsedQuery, SetAnswer, SetQuery
from rag_cover.setqueries.explanations import reading_notes
from rag_cover.setqueries.parsing import modifiers_note

__all__ = ["reading_panel", "set_answer_report", "set_answers_table", "verdict_sentence"]

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_COLUMNS = 5  # atoms that have columns of their own beside an entity's name and the words that tell, on 80 characters
_SURE = 0.75  # a reading that is less sure is shown with its rivals
_SHORT_OF_CERTAIN = 0.99
_TOLD = 10  # failures and notes


def reading_panel(parsed: ParsedQuery) -> RenderableType:
    """Show what a question was read as, atom by atom, and what else it may mean where that is not sure."""
    body = _reading(parsed)
    notes = [Text(f"· {one_line(note)}", style="yellow") for note in parsed.notes]
    return Encodable(_panel([*body, *notes]))


def set_answer_report(answer: SetAnswer, *, judge: str, limit: int, shown: int) -> RenderableType:
    """Show an answer: how the question was read, what belongs, what was left out and why, and what it took."""
    parts: list[RenderableType] = [
        _panel([*_reading(answer.parsed), Text(verdict_sentence(answer), style="bold")]),
        *_entities(answer, limit),
        *_list_left_out(answer, shown),
        *(Text(line, style="yellow") for line in _list_lines(_failures(answer.failures), "Failed: ")),
        *(Text(line) for line in _list_lines(_notes(answer), "· ")),
        Text(_counts(answer, judge), style="dim"),
    ]
    return Encodable(Group(*parts))


def set_answers_table(answers: Sequence[tuple[str, SetAnswer | Failure]], *, limit: int) -> RenderableType:
    """List questions, each with how many entities belong and what it was read as, or why it has no answer."""
    table = plain_table(("Found", "right"), ("Read as", "left"), ("Question", "left"))
    for question, answer in answers[:limit]:
        asked = Text(one_line(question, limit=200))
        if isinstance(answer, Failure):
            why = Text(one_line(f"{answer.kind}: {answer.message}"), style="yellow")
            table.add_row(Text("failed", style="yellow"), Text("–", style="dim"), Group(asked, why))
        else:
            table.add_row(f"{len(answer.entities):,}", _shape(answer.query), asked)
    rest = [Text(f"… and {format_count(more, 'more question')}", style="dim")] if (more := len(answers) - limit) > 0 else []
    return Encodable(Group(*([table] if limit else []), *rest))


def verdict_sentence(answer: SetAnswer) -> str:
    """Say how many entities belong, or why none does."""
    belong, candidates = len(answer.entities), len(answer.ranked)
    if belong:
        whole = format_count(candidates, "candidate")
        return f"{format_count(belong, 'entity belongs', 'entities belong')} to it, of {whole} that the searches found."
    if not answer.steps:
        return "Nothing can belong to it: it contradicts itself."
    if not candidates:
        return "Nothing belongs to it: the searches found no candidate."
    if all(each.probability is None for each in answer.ranked):
        return f"Nothing is known of it: the judge failed on all of {format_count(candidates, 'candidate')}."
    which = "the one candidate" if candidates == 1 else f"any of {candidates:,} candidates"
    return f"Nothing belongs to it, as far as the judge can tell of {which}."


def _panel(parts: Iterable[RenderableType]) -> Panel:
    return Panel(Group(*parts), title="rag-cover set-query", title_align="left", box=ROUNDED, padding=(0, 1))


def _reading(parsed: ParsedQuery) -> list[RenderableType]:
    asked = [] if parsed.source == "given" else [Text(one_line(parsed.question, limit=600), style="bold")]
    if not parsed.is_set_query:
        about = "without any set operation" if parsed.source == "given" else f"without any set operation, {_sure(parsed)}"
        return [*asked, Text(f"Read as one atom, {about}: {one_line(parsed.atoms[0])}"), *_rivals(parsed)]
    read = "Given as" if parsed.source == "given" else "Read as"
    sure = "" if parsed.source == "given" else f", {_sure(parsed)}"
    return [*asked, Text.assemble(f"{read} ", (_shape(parsed.query), "bold cyan"), sure), _legend(parsed), *_rivals(parsed)]


def _shape(query: SetQuery) -> str:
    return one_line(query.template, limit=600)


def _sure(parsed: ParsedQuery) -> str:
    return f"{percent(parsed.confidence)} sure, by {one_line(parsed.source, limit=80)}"


def _legend(parsed: ParsedQuery) -> Table:
    table = _grid()
    for letter, atom in zip(_LETTERS, parsed.atoms, strict=False):
        said = parsed.words.get(atom, atom)
        aside = [(f"  asked for as “{one_line(said)}”", "dim")] if said.casefold() != atom.casefold() else []
        taken = [] if atom in parsed.query.sources else [("  taken away", "red")]
        table.add_row(Text(f"  {letter}", style="bold cyan"), Text.assemble(one_line(atom), *taken, *aside))
    return table


def _rivals(parsed: ParsedQuery) -> list[RenderableType]:
    """Show the other readings of what is not sure, and that in which modifiers are sets of their own."""
    grouped = [Text(f"· {one_line(note)}") for note in modifiers_note(parsed)]
    if parsed.confidence >= _SURE or not parsed.alternatives:
        return [*grouped]
    table = _grid()
    for query, probability in parsed.alternatives[:2]:
        table.add_row(Text(f"  {percent(probability)}"), Text(one_line(str(query))))
    return [Text("It may also mean:"), table, *grouped]


def _grid() -> Table:
    """Make a table of two columns, a mark and a text that goes on beneath itself."""
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    return table


def _entities(answer: SetAnswer, limit: int) -> list[RenderableType]:
    """List what belongs, each with its probability by every atom, and the words that tell."""
    more = _more(len(answer.entities), limit, "--show", "belongs", "belong")
    if not answer.entities or not limit:
        return [*more]
    letters = dict(zip(answer.query.atoms, _LETTERS, strict=False))
    columns = list(letters.values()) if 1 < len(letters) <= _COLUMNS else []
    table = plain_table(("Entity, and what tells", "left"), ("P", "right"), *((letter, "right") for letter in columns))
    for entity in answer.entities[:limit]:
        name = Text(one_line(entity.name, limit=120), style="bold")
        told = _telling(entity.evidence, letters, apart=len(letters) > _COLUMNS)
        cells = [Text(_format_probability(each.probability), _style(each)) for each in entity.evidence] if columns else []
        table.add_row(Group(name, *told), _format_probability(entity.probability), *cells)
    return [table, *more]


def _in_a_row(evidence: Sequence[AtomEvidence], letters: Mapping[str, str]) -> Text:
    """Write the probabilities by atoms that are too many for columns."""
    row = Text()
    for each in evidence:
        row.append(f"{letters[each.atom]}=", "cyan").append(f"{_format_probability(each.probability)}  ", _style(each))
    return row


def _telling(evidence: Sequence[AtomEvidence], letters: Mapping[str, str], *, apart: bool) -> list[Table]:
    """Write the words that tell of each atom, where some do, after the probabilities where these have no columns."""
    table = _grid()
    if apart:
        table.add_row(" ", _in_a_row(evidence, letters))
    for each in evidence:
        if each.fragment:
            letter = letters[each.atom] if len(letters) > 1 else ""
            table.add_row(Text(f"  {letter}", style="cyan"), Text(f"“{one_line(each.fragment, limit=200)}”", style="dim"))
    return [table] if table.row_count else []


def _format_probability(probability: float | None) -> str:
    """Write a probability with two digits; what is merely close to certain is not rounded to it.

    >>> _format_probability(0.999), _format_probability(0.29), _format_probability(None)
    ('0.99', '0.29', '?')
    """
    if probability is None:
        return "?"
    return f"{min(probability, _SHORT_OF_CERTAIN) if probability < 1 else 1:.2f}"


def _style(evidence: AtomEvidence) -> str:
    if not evidence.matched:
        return "dim"
    return "red" if evidence.negated else "green"


def _list_left_out(answer: SetAnswer, shown: int) -> list[RenderableType]:
    """List what does not belong, the likeliest first, each with why."""
    if not answer.left_out:
        return []
    table = _grid()
    for each in answer.left_out[:shown]:
        name = one_line(each.name, limit=80)
        at_most = "≤" if any(evidence.skipped for evidence in each.evidence) else " "
        table.add_row(
            Text(f" {at_most}{_format_probability(each.probability)}", style="dim"),
            Text.assemble(name, (f": {one_line(each.reason)}", "dim")),
        )
    listed: list[RenderableType] = [Text("Left out, the likeliest first, and why:"), table] if shown else []
    return [*listed, *_more(len(answer.left_out), shown, "--show-left-out", "was left out", "were left out"), Text("")]


def _more(count: int, shown: int, option: str, one: str, several: str) -> list[Text]:
    more = count - shown
    if more <= 0:
        return []
    what = f"1 more {one}" if more == 1 else f"{more:,} more {several}"
    return [Text(f"  … {what}; {option} {count} lists all", style="dim")]


def _failures(failures: Sequence[Failure]) -> list[str]:
    return list(dict.fromkeys(f"{failure.kind}: {failure.message}" for failure in failures))


def _notes(answer: SetAnswer) -> list[str]:
    """Return what is to be known, but for what the reading already shows."""
    shown = set(reading_notes(answer.parsed)) - set(answer.parsed.notes)
    return [note for note in answer.notes if note not in shown]


def _list_lines(lines: Sequence[str], mark: str) -> list[str]:
    rest = [f"… and {more:,} more"] if (more := len(lines) - _TOLD) > 0 else []
    return [*(f"{mark}{one_line(line, limit=400)}" for line in lines[:_TOLD]), *rest]


def _counts(answer: SetAnswer, judge: str) -> str:
    parts = (
        format_count(len(answer.steps), "search", "searches"),
        format_count(len(answer.ranked), "candidate"),
        f"{format_count(answer.judged, 'pair')} judged",
        f"kept above {answer.threshold:.2f}",
        f"judge {one_line(judge, limit=100)}",
    )
    return " · ".join(parts)
