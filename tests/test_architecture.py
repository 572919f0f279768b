"""The rules that no reviewer should have to remember, checked on the packages as they are installed."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

import rag_cover

ADAPTERS = ("rag_cover_langchain", "rag_cover_llama_index")
PACKAGES = ("rag_cover", "rag_cover_embedded", "rag_cover_transformers", "rag_cover_openai", "rag_cover_ray", *ADAPTERS)
PYPROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
SHARED_BY_ADAPTERS = (  # the same name for the same job, whatever the framework
    *("attachment", "calls", "completions", "embeddings", "evaluators", "generators", "models", "passages", "payloads"),
    *("postprocessing", "reranking", "results", "retrievers", "routers", "run_recorder", "searches", "set_queries"),
    *("set_query_routing", "trace_evaluators", "traces"),
)
OF_EVERY_FORMAT = {"recognises", "spans_of", "traces_of"}  # what each importer has, so that knowing one is knowing all
PARTICIPLES = (  # those without -ed; not those that are imperatives, too, such as "read" and "cut"
    " asked born borne bought broken brought built caught chosen dealt done drawn driven fallen fed felt frozen given gone got"
    " heard held hidden kept known laid led left lent lost made meant met paid proven seen sent shown sold spent spoken stolen"
    " struck sung sunk taken taught thought thrown told torn understood woken won worn woven written "
)
NO_PARTICIPLES = frozenset(["embed", "exceed", "feed", "need", "proceed", "seed", "speed", "succeed"])
LONGEST_FILE = 500  # where a file is split; 100 to 300 lines are comfortable


def _folder_of(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


@cache
def modules() -> Mapping[str, str]:
    """Read all modules: their texts by their names."""
    return {
        ".".join([package, *(part for part in path.relative_to(folder).with_suffix("").parts if part != "__init__")]): text
        for package in PACKAGES
        for folder in [_folder_of(package)]
        for path in sorted(folder.rglob("*.py"))
        for text in [path.read_text(encoding="utf-8")]
    }


@cache
def _trees() -> Mapping[str, ast.Module]:
    """Parse all modules, for the first test that asks: not while tests are collected."""
    return {name: ast.parse(text, filename=name) for name, text in modules().items()}


def _exported(tree: ast.Module) -> list[str]:
    """List the module's ``__all__``; a module without one exports nothing."""
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name("__all__")], value=value):
                return list(ast.literal_eval(value))
    return []


def _bound(tree: ast.Module) -> set[str]:
    """Name what a module defines or imports at its top level, also under ``if TYPE_CHECKING``, ``try`` and ``with``."""
    statements = list(tree.body)
    names = set()
    for node in statements:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(node.name)
            case ast.Import() | ast.ImportFrom():
                names |= {alias.asname or alias.name for alias in node.names}
            case ast.Assign():
                names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
            case ast.AnnAssign(target=ast.Name(name)):
                names.add(name)
            case ast.If() | ast.Try() | ast.With():
                statements += node.body
    return names


def _as_sorted(name: str) -> tuple[int, str]:
    """Sort as ruff does: CONSTANTS, then Classes, then functions."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


def test_the_import_contracts_hold() -> None:
    pytest.importorskip("importlinter", reason="needs import-linter (extra dev)")

    # in a process of its own: import-linter sets up logging and changes sys.path
    check = "from importlinter.cli import lint_imports_command as lint; lint()"
    options = ["--config", str(PYPROJECT), "--no-cache", "--no-logo"]
    done = subprocess.run(
        [sys.executable, "-c", check, *options], capture_output=True, text=True, check=False, cwd=PYPROJECT.parent
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_a_module_says_what_it_is_for() -> None:
    assert [module for module, tree in _trees().items() if not ast.get_docstring(tree)] == []


def test_a_file_stays_short() -> None:
    lines = {module: len(text.splitlines()) for module, text in modules().items()}

    assert {module: count for module, count in lines.items() if count > LONGEST_FILE} == {}


def test_all_is_sorted_and_names_what_is_there() -> None:
    exported = {module: _exported(tree) for module, tree in _trees().items()}

    assert {module: absent for module, names in exported.items() if (absent := set(names) - _bound(_trees()[module]))} == {}
    assert [
        (module, a, b) for module, names in exported.items() for a, b in pairwise(names) if _as_sorted(a) >= _as_sorted(b)
    ] == []


def test_nothing_but_adapters_imports_from_the_root() -> None:
    importing = {
        module
        for module, tree in _trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if not (isinstance(node, ast.ImportFrom) and f"{node.module}.{alias.name}" in modules())
        if (node.module if isinstance(node, ast.ImportFrom) else alias.name) == "rag_cover"
    }

    assert [module for module in importing if not module.startswith(ADAPTERS)] == []


def test_no_public_name_hides_a_module() -> None:
    siblings = {
        package: {name.rpartition(".")[2] for name in modules() if name.startswith(f"{package}.")} for package in PACKAGES
    }
    hidden = {module: siblings[module.partition(".")[0]] & set(_exported(tree)) for module, tree in _trees().items()}

    assert {module: names for module, names in hidden.items() if names} == {}


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_adapter_has_the_files_that_all_adapters_have(adapter: str) -> None:
    listens = "callbacks" if adapter == "rag_cover_langchain" else "event_handler"  # as the framework calls it

    assert {f"{adapter}.{name}" for name in (*SHARED_BY_ADAPTERS, listens)} <= set(modules())


def test_the_root_loads_its_public_names_from_where_a_type_checker_is_told_that_they_are() -> None:
    told = {
        alias.name: str(node.module)
        for branch in _trees()["rag_cover"].body
        if isinstance(branch, ast.If)
        for node in branch.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }

    assert set(told) == set(_exported(_trees()["rag_cover"]))
    assert set(told) <= set(dir(rag_cover))
    for name, module in told.items():
        assert getattr(rag_cover, name) is getattr(importlib.import_module(module), name)


def _is_participle(name: str) -> bool:
    word = name.strip("_").split("_")[0]
    return f" {word} " in PARTICIPLES or (word.endswith("ed") and word not in NO_PARTICIPLES)


def _is_meant_alike(name: str, modules: list[str]) -> bool:
    """Tell whether all that have a name do one job by it: both adapters, each importer, a hook and those who implement it."""
    if {module.partition(".")[0] for module in modules} == set(ADAPTERS):
        return True
    if name in OF_EVERY_FORMAT:
        return all(module.startswith("rag_cover.importers.") for module in modules)
    opening = {"rag_cover.hooks", "rag_cover.registry", "rag_cover_openai.factories", *PACKAGES}
    return all(module in opening for module in modules)


def test_a_public_name_means_one_thing() -> None:
    modules: dict[str, list[str]] = defaultdict(list)
    for module, tree in _trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("_"):
                modules[node.name].append(module)

    several = {name: found for name, found in modules.items() if len(set(found)) > 1}
    assert {name: found for name, found in several.items() if not _is_meant_alike(name, found)} == {}


def test_hardly_a_function_is_named_by_a_participle() -> None:
    nodes = [
        node
        for tree in _trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    functions = [node.name for node in nodes if not any("property" in ast.unparse(each) for each in node.decorator_list)]

    named = sorted(name for name in functions if _is_participle(name))
    assert len(named) < 0.01 * len(functions), named
