"""The pytest plugin: gathers the answers that `assert_covers` checks, sums them up, and keeps them. PYTEST_DONT_REWRITE.

It is loaded only where it is asked for, never by being installed: ``-p rag_cover.pytest_plugin`` (in ``addopts``), or
``pytest_plugins = ["rag_cover.pytest_plugin"]`` in the ``conftest.py`` of the root folder.
"""

from __future__ import annotations

from rag_cover.errors import needs_extra

with needs_extra("pytest", "pytest"):
    from rag_cover.pytest_plugin.fixtures import provide_requirements, rag_cover_judge, rag_cover_results
    from rag_cover.pytest_plugin.plugin import (
        pytest_addoption,
        pytest_configure,
        pytest_runtest_makereport,
        pytest_sessionfinish,
        pytest_terminal_summary,
        pytest_unconfigure,
    )
    from rag_cover.testing.coverage_assertion import assert_covers

__all__ = [
    "assert_covers",
    "provide_requirements",
    "pytest_addoption",
    "pytest_configure",
    "pytest_runtest_makereport",
    "pytest_sessionfinish",
    "pytest_terminal_summary",
    "pytest_unconfigure",
    "rag_cover_judge",
    "rag_cover_results",
]
