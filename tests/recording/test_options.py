"""The options of a recording are declared and documented in one place."""

from __future__ import annotations

import inspect
from typing import TypedDict, get_type_hints

from rag_cover.recording import Recording, RecordingOptions, document_options


class _Options(TypedDict, total=False):
    """Two options.

    Attributes:
        size: number of things,
            at least 1.
        colour: name of a colour.
    """

    size: int
    colour: str | None


def test_a_recording_takes_what_its_options_declare_with_the_same_types() -> None:
    taken = get_type_hints(Recording.__init__)

    assert {name: taken[name] for name in taken if name not in ("models", "return")} == get_type_hints(RecordingOptions)


def test_every_option_of_a_recording_is_documented_where_help_looks() -> None:
    documented = inspect.getdoc(Recording) or ""

    assert "**options" not in documented
    for name in RecordingOptions.__annotations__:
        assert f"\n    {name}: " in documented


def test_options_take_the_place_of_their_line_and_keep_their_continuation_lines() -> None:
    @document_options(_Options, defaults={"size": 1, "colour": None})
    def paint(where: str, **options: object) -> None:
        """Paint something.

        Args:
            where: a place.
            **options: as `_Options` describes
                them.

        Raises:
            ValueError: no paint.
        """

    assert inspect.getdoc(paint) == (
        "Paint something.\n\nArgs:\n    where: a place.\n    size: number of things,\n        at least 1.\n"
        "    colour: name of a colour.\n\nRaises:\n    ValueError: no paint."
    )
    assert str(inspect.signature(paint)) == "(where: 'str', *, size: 'int' = 1, colour: 'str | None' = None) -> 'None'"


def test_a_class_shows_its_options_and_its_subclass_its_own_parameters() -> None:
    @document_options(_Options, defaults={"size": 1, "colour": None})
    class Painter:
        """Paints.

        Args:
            **options: as `_Options` describes them.
        """

        def __init__(self, **options: object) -> None: ...

    class Spraying(Painter):
        def __init__(self, can: str) -> None: ...

    assert list(inspect.signature(Painter).parameters) == ["size", "colour"]
    assert list(inspect.signature(Spraying).parameters) == ["can"]
