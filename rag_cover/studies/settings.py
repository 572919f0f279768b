"""Under which setting a trace was recorded: the values of the components that a study varies.

A component's value is the trace's metadata under its name (``{"k": 5}``; ``"retrieval.k"`` looks inside), else what the
pipeline's name says as ``k=5``; the component ``pipeline`` is the pipeline's name itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rag_cover.errors import InputError, nearest
from rag_cover.traces import Trace

__all__ = ["Level", "Setting", "format_level", "order_of", "require_components", "setting_of"]

Level = str | int | float | bool | None
"""A component's value; None where the trace does not name one."""

_IN_NAME = re.compile(r"(?<![\w.-])([\w.-]++)=([^\s,;|/]+)")  # possessive: a long name without a value is read once


@dataclass(frozen=True, slots=True)
class Setting:
    """One value for each component that is varied, in the order of the study."""

    values: tuple[tuple[str, Level], ...]

    @property
    def name(self) -> str:
        """Return the setting in words.

        >>> Setting((("k", 5), ("reranker", None))).name
        'k=5, reranker=–'
        """
        return ", ".join(f"{component}={format_level(level)}" for component, level in self.values)

    @property
    def order(self) -> tuple[tuple[int, float, str], ...]:
        """Return what settings are sorted by: absent values first, numbers by size, then texts."""
        return tuple(order_of(level) for _, level in self.values)

    def level(self, component: str) -> Level:
        """Return the value of one component."""
        return dict(self.values)[component]

    def without(self, component: str) -> tuple[tuple[str, Level], ...]:
        """Return the values of all other components."""
        return tuple(pair for pair in self.values if pair[0] != component)


def setting_of(trace: Trace, by: Sequence[str]) -> Setting:
    """Read the setting of a trace; a component that it does not name is None."""
    return Setting(tuple((component, _level(trace, component)) for component in by))


def require_components(traces: Iterable[Trace], by: Sequence[str]) -> None:
    """Refuse a component that no trace names.

    Raises:
        InputError: no trace has the component in its metadata or in its pipeline's name.
    """
    missing, offered = dict.fromkeys(by), dict[str, None]()
    for trace in traces:
        offered |= dict.fromkeys(_list_settings(trace))
        for component in [name for name in missing if _level(trace, name) is not None]:
            del missing[component]
    for component in missing:
        there = f"There are: {', '.join(offered)}." if offered else "The traces name none."
        problem = (
            f"no trace says under which {component!r} it was recorded.{nearest(component, offered)} {there} "
            f"Put it in each trace's metadata, such as {{{json.dumps(component)}: 5}}, or in its pipeline's name: {component}=5"
        )
        raise InputError(problem, field="$.metadata")


def format_level(level: Level) -> str:
    """Write a value; one that is not named is a dash.

    >>> format_level(5), format_level(True), format_level(None)
    ('5', 'yes', '–')
    """
    match level:
        case None:
            return "–"
        case bool():
            return "yes" if level else "no"
        case float():
            return f"{level:g}"
        case _:
            return str(level)


def order_of(level: Level) -> tuple[int, float, str]:
    """Return what values are sorted by: absent first, numbers by size, then texts."""
    match level:
        case None:
            return (0, 0.0, "")
        case int() | float():
            return (1, float(level), "")
        case _:
            return (2, 0.0, level)


def _level(trace: Trace, component: str) -> Level:
    if component == "pipeline":
        return trace.pipeline
    found = _inside(trace.metadata, component)
    return _plain(found if found is not None else dict(_IN_NAME.findall(trace.pipeline or "")).get(component))


def _inside(metadata: Mapping[str, object], name: str) -> object:
    if name in metadata:
        return metadata[name]
    head, _, rest = name.partition(".")
    inner = metadata.get(head)
    return _inside(inner, rest) if rest and isinstance(inner, Mapping) else None


def _plain(value: object) -> Level:
    """Make one value of what a table or a name may write in two ways: a number in text is that number."""
    match value:
        case None | bool() | int() | float():
            return value
        case str():
            return _number(value)
        case _:
            return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _number(text: str) -> Level:
    if re.fullmatch(r"-?\d{1,15}", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?\d{1,15}\.\d{1,15}", text) else text


def _list_settings(trace: Trace) -> list[str]:
    named = [name for name, _ in _IN_NAME.findall(trace.pipeline or "")]
    return [*trace.metadata, *named, *(["pipeline"] if trace.pipeline else [])]
