from __future__ import annotations

from pathlib import Path

import pytest

from tests.evaluation.files.files import line, write


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    """Write 120 traces: a third bring an id, and one line stands there three times."""
    lines = [line(number, id=f"t{number}") if number % 3 == 0 else line(number) for number in range(120)]
    lines[50] = lines[110] = lines[1]
    return write(tmp_path / "traces.jsonl", lines)
