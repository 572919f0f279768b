"""The benchmarks' modules, imported from the checkout as their commands import them."""

from __future__ import annotations

from tests.benchmarks.conftest import folder, module

__all__ = ["folder", "module"]
