"""How questions of the built corpus ask for sets: the phrases of an atom, and the sentences made of them."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.support.entities_prose import Property, property_of
from benchmarks.support.entities_wording import Attribute, Kind, Value

_SLOT = re.compile(r"\{(pre|post|unpost|rel|unrel|not|tail)?([ABC])\}")


@dataclass(frozen=True, slots=True)
class Atom:
    """One set that can be asked for: the entities of a kind that have a value.

    ``text`` asks for it by a phrase of its own, such as "Novels set in Lisbon".
    """

    kind: Kind
    attribute: Attribute
    value: Value
    text: str = field(init=False)

    def __post_init__(self) -> None:
        """Make the phrase once: it is asked for often."""
        text = f"{self.kind.plural} {self.form('post')}" if self.form("post") else self.before
        object.__setattr__(self, "text", text[:1].upper() + text[1:])

    @property
    def meaning(self) -> Property:
        """Name the property that its members have."""
        return property_of(self.kind, self.attribute, self.value)

    @property
    def before(self) -> str:
        """Ask for it by what stands before the noun, or instead of it; '' where nothing can."""
        return self.form("head") or (f"{self.form('pre')} {self.kind.plural}" if self.form("pre") else "")

    def form(self, name: str) -> str:
        """Fill in one of the attribute's forms; '' where it has none."""
        return self.attribute.forms.get(name, "").format(value=self.value.name, adj=self.value.adjective)


def phrased(templates: Sequence[str], atoms: Sequence[Atom], rng: random.Random) -> str | None:
    """Ask for what a question's atoms describe; None where no template can."""
    for template in rng.sample(templates, len(templates)):
        if _suits(template, atoms) and (words := _words(template, atoms, rng)) is not None:
            kind = atoms[0].kind
            text = template.format(N=kind.plural, that="who" if kind.person else "that", **words)
            return text[:1].upper() + text[1:]
    return None


def _suits(template: str, atoms: Sequence[Atom]) -> bool:
    """Tell whether a template's order fits: of two words before a noun the nearer one has the lower number.

    Where two values of one attribute are both asked for, "and" alone would leave open whether it means "or".
    """
    if "{preA} {preB}" in template and atoms[0].attribute.number <= atoms[1].attribute.number:
        return False
    return "{postA} and {postB}" not in template or atoms[0].attribute != atoms[1].attribute


def _words(template: str, atoms: Sequence[Atom], rng: random.Random) -> Mapping[str, str] | None:
    """Fill the slots of a template by their names; None where an atom has no such form."""
    words: dict[str, str] = {}
    for form, letter in _SLOT.findall(template):
        atom = atoms["ABC".index(letter)]
        words[form + letter] = _form(form, atom, atoms[0], rng)
    return words if all(words.values()) else None


def _form(form: str, atom: Atom, first: Atom, rng: random.Random) -> str:
    match form:
        case "":
            whole = [atom.before, f"{atom.kind.plural} {atom.form('post')}" if atom.form("post") else ""]
            return rng.choice([each for each in whole if each])
        case "not":
            post = atom.form("post")
            own_clause = not post or post.startswith(("that ", "who "))
            return f"{'who' if atom.kind.person else 'that'} {atom.form('unrel')}" if own_clause else f"but not {post}"
        case "tail":
            shared = atom.attribute == first.attribute and first.attribute.forms.get("post", "").endswith("{value}")
            return atom.value.name if shared else ""
        case _:
            return atom.form(form)
