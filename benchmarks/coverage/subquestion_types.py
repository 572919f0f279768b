"""Does the local typer give sub-questions the roles that people give them?

    python -m benchmarks.coverage.subquestion_types

1. The published sheets (Xie et al., NAACL 2025) that nothing was fitted on, q4 and q5: the shipped typer, the rules, the
   largest class of the training questions, and each person against the majority of the other three.
2. The published sheets that train it, q1 to q3: fitted without that sheet, and on the questions written for this project alone.
3. The questions written for this project, each typed by a model fitted without it. Their roles are not people's.

Published for GPT-4 with examples, on the whole set: 84.8%; for people against their majority: 74.6%. Intervals are Wilson's,
which take sub-questions for independent and are therefore narrow.

Data: shared folder.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.support.tables import arguments, percent, show
from benchmarks.support.typed import (
    TRAINING,
    Floats,
    Sheet,
    fitted,
    inputs_of,
    majority_of,
    own_sheets,
    predicted,
    published_sheets,
)
from rag_cover import open_embedder
from rag_cover.backends import Embedder
from rag_cover.decomposition.embedded_roles import likeliest_roles
from rag_cover.decomposition.roles import role_of
from rag_cover.questions import Role
from rag_cover.stats.intervals import Interval, wilson

Roles = Sequence[Role]


def agreement(sheets: Sequence[Sheet], said: Sequence[Roles]) -> Interval:
    """Return the share of sub-questions that were given the role that their sheet has."""
    right = [a is b for sheet, roles in zip(sheets, said, strict=True) for a, b in zip(sheet.roles, roles, strict=True)]
    return wilson(sum(right), len(right))


def by_rules(sheets: Sequence[Sheet]) -> list[Roles]:
    """Type by rules."""
    return [[role_of(sheet.question, text) for text in sheet.sub_questions] for sheet in sheets]


def as_shipped(sheets: Sequence[Sheet], embedder: Embedder) -> list[Roles]:
    """Type as the package does."""
    found = [likeliest_roles(sheet.question, sheet.sub_questions, embedder) for sheet in sheets]
    return [roles or [] for roles in found]


def left_out(sheets: Sequence[Sheet], inputs: Sequence[Floats], which: Sequence[int]) -> list[Roles]:
    """Type each sheet by a model fitted on all the others."""
    return [fitted_without([out], sheets, inputs)[0] for out in which]


def fitted_without(which: Sequence[int], sheets: Sequence[Sheet], inputs: Sequence[Floats]) -> list[Roles]:
    """Type some sheets by one model fitted on the rest."""
    rest = [place for place in range(len(sheets)) if place not in which]
    weights = fitted([sheets[place] for place in rest], [inputs[place] for place in rest])
    return [predicted(inputs[out], weights) for out in which]


def people(sheets: Sequence[Sheet]) -> str:
    """Return the lowest and the highest agreement of one person with the majority of the others."""
    rows = [labels for sheet in sheets for labels in sheet.labels]
    shares = [
        sum(row[person] is majority_of(row[:person] + row[person + 1 :]) for row in rows) / len(rows)
        for person in range(len(rows[0]))
    ]
    return f"{100 * min(shares):.1f} to {100 * max(shares):.1f}"


def largest_class(sheets: Sequence[Sheet], training: Sequence[Sheet]) -> list[Roles]:
    """Type everything as most of the training questions' sub-questions are."""
    largest = majority_of(role for sheet in training for role in sheet.roles)
    return [[largest] * len(sheet.roles) for sheet in sheets]


def table(title: str, sheets: Sequence[Sheet], training: Sequence[Sheet], said: dict[str, Sequence[Roles]]) -> None:
    """Print how well each way of typing agrees with the sheets."""
    said = {**said, "rules": by_rules(sheets), "largest class": largest_class(sheets, training)}
    rows = [[name, percent(agreement(sheets, roles))] for name, roles in said.items()]
    rows += [["one person, against the majority of the others", people(sheets)]] if sheets[0].labels else []
    n = sum(len(sheet.roles) for sheet in sheets)
    show(f"{title}: n = {n} of {len(sheets)} questions", ["typer", "agreement %"], rows)


def main() -> None:
    """Run the benchmark."""
    options = arguments(__doc__).parse_args()
    embedder = open_embedder(options.judge)
    own, published = own_sheets(), published_sheets(options.data)
    test = [sheet for sheet in published if sheet.name not in TRAINING]
    sheets = own + [sheet for sheet in published if sheet.name in TRAINING]
    inputs = inputs_of(sheets, embedder)
    first, others = range(len(own)), range(len(own), len(sheets))
    table("Held out", test, sheets, {"embedded, as shipped": as_shipped(test, embedder)})
    said: dict[str, Sequence[Roles]] = {
        "embedded, fitted without this one": left_out(sheets, inputs, others),
        "embedded, fitted on own questions alone": fitted_without(others, sheets, inputs),
    }
    table("Published, trained on", sheets[len(own) :], own, said)
    table("Own", own, sheets, {"embedded, fitted without this one": left_out(sheets, inputs, first)})


if __name__ == "__main__":
    main()
