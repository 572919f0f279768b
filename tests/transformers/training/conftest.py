"""What a tiny GenEval model is trained on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def judgments(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write 48 training examples: a text that says where a thing is is correct."""
    things = ("tower", "river", "novel", "violin", "shop", "guitar", "capital", "bread")
    rows = [
        {
            "question": f"Where is the {thing}?",
            "text": f"The {thing} {rest}",
            "correct": "in" in rest.split(),
            "relevant": ["Where"] if "in" in rest.split() else [thing],
            **({"references": ["Paris"]} if number % 2 else {}),
        }
        for number, thing in enumerate(things)
        for rest in ("is in Paris.", "was sold.", "stands in the shop.", "is closed.", "is in Australia.", "froze last winter.")
    ]
    path = tmp_path_factory.mktemp("data") / "judgments.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    return path
