"""What all tests share: no network, the same random examples every time, and where the data is."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import NoReturn

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"

hypothesis.settings.register_profile("rag_cover", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("rag_cover")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not SHARED.is_dir():
        absent = pytest.mark.skip(reason="needs the data folder 'shared' beside the checkout")
        for item in items:
            if item.get_closest_marker("shared"):
                item.add_marker(absent)


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_socket: socket.socket, address: object) -> NoReturn:
        message = f"a test tried to connect to {address}"
        raise AssertionError(message)

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """Return the folder with data and vectors; tests that use it are marked ``shared``."""
    return SHARED


@pytest.fixture(scope="session")
def source_tree() -> Path:
    """Return the checkout, where the tests run in one and not against an installed wheel alone."""
    if not (ROOT / "rag_cover").is_dir():
        pytest.skip("needs the checkout; these tests run against an installed wheel")
    return ROOT
