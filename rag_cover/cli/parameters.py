"""A command's options as one frozen dataclass: its fields become the parameters that typer reads, each declared once.

A field is declared as typer does it, ``Annotated[int, typer.Option(help=…)]``. A field whose type is such a dataclass itself
is a group of options: its fields become parameters of the command, too. A callback of an option is a function of the module, no
lambda: the declaration is evaluated where a lambda could not see the module's names.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import typer

__all__ = ["DefaultText", "expand_options"]

OptionsT = TypeVar("OptionsT")


@dataclass(frozen=True, slots=True)
class DefaultText:
    """What the help shows as an option's default in one command, where the option's own declaration says something else."""

    text: str


def expand_options(command: Callable[[OptionsT], None]) -> Callable[..., None]:
    """Give a command that takes a dataclass of options one parameter for each field, as typer expects it.

    >>> @dataclass(frozen=True)
    ... class GreetOptions:
    ...     name: Annotated[str, typer.Argument(help="Who is greeted.")]
    ...     times: Annotated[int, typer.Option(help="How often.")] = 1
    >>> @expand_options
    ... def greet(options: GreetOptions) -> None:
    ...     print(" ".join(["Hello"] * options.times), options.name)
    >>> greet(name="Ada", times=2)
    Hello Hello Ada
    >>> list(inspect.signature(greet).parameters)
    ['name', 'times']

    Raises:
        TypeError: the command does not take one dataclass, or two fields have one name.
    """
    taken = list(inspect.signature(command, eval_str=True).parameters.values())
    if len(taken) != 1 or not is_dataclass(options_type := taken[0].annotation):
        message = f"{command.__qualname__} must take one dataclass of options"
        raise TypeError(message)
    parameters = list(_parameters(options_type))
    names = [parameter.name for parameter in parameters]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        message = f"{command.__qualname__} has two options called {', '.join(repeated)}"
        raise TypeError(message)

    @wraps(command)
    def run(**values: Any) -> None:
        command(_build(options_type, values))

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del run.__wrapped__  # typer would read the hints of what is wrapped
    return run


def _parameters(options_type: Any) -> Iterator[inspect.Parameter]:
    for field, hint in _list_typed_fields(options_type):
        if is_dataclass(hint):
            yield from _parameters(hint)
        else:
            default = inspect.Parameter.empty if field.default is MISSING else field.default
            annotation = _declare(hint, required=field.default is MISSING)
            yield inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _build(options_type: Any, values: Mapping[str, Any]) -> Any:
    """Build the dataclass, and the groups in it, from the values of a call; what is not given keeps its default."""
    given = {
        field.name: _build(hint, values) if is_dataclass(hint) else values[field.name]
        for field, hint in _list_typed_fields(options_type)
        if is_dataclass(hint) or field.name in values
    }
    return options_type(**given)


def _list_typed_fields(options_type: Any) -> Iterator[tuple[Field[Any], Any]]:
    hints = get_type_hints(options_type, include_extras=True)
    return ((field, hints[field.name]) for field in fields(options_type))


def _declare(hint: Any, *, required: bool) -> Any:
    """Return a field's type with its one declaration, which says as default what a `DefaultText` beside it says."""
    if get_origin(hint) is not Annotated:
        return hint
    kind, *about = get_args(hint)
    declaration = copy(next(each for each in about if isinstance(each, typer.models.ParameterInfo)))
    for each in about:
        if isinstance(each, DefaultText):
            declaration.show_default = each.text
    if required:
        declaration.show_default = False
    return Annotated[kind, declaration]
