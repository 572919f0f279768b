"""What the Python files of a project import, and which object in them answers questions; nothing is run."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["EngineObject", "SourceFile", "engines_in", "imports_in", "read_sources"]

_MOST_FILES = 2000
_LARGEST = 1_000_000
_LEFT_OUT = frozenset({"node_modules", "site-packages", "build", "dist", "tests", "test", "docs", "venv", "env", "__pycache__"})

_OBJECTS = {
    "llama-index": ("query_engine", "chat_engine", "agent"),
    "langchain": ("rag_chain", "qa_chain", "chain", "graph", "agent"),
}
_MAKERS = ("build", "create", "get", "make")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A Python file of the project: its path within it, and what it was parsed to."""

    path: Path
    tree: ast.Module


@dataclass(frozen=True, slots=True)
class EngineObject:
    """An object of a module that seems to answer questions; ``is_made`` where it is what a function returns."""

    module: str
    name: str
    is_made: bool

    @property
    def expression(self) -> str:
        """Return what stands for the object once its name is imported."""
        return f"{self.name}()" if self.is_made else self.name


def read_sources(folder: Path) -> list[SourceFile]:
    """Parse the Python files of a project; those of tests, of environments and those that cannot be parsed are left out."""
    sources = []
    for path in _python_files(folder):
        try:
            sources.append(SourceFile(path.relative_to(folder), ast.parse(path.read_bytes())))
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):  # not ours to mend
            continue
    return sources


def imports_in(sources: Sequence[SourceFile], packages: Sequence[str]) -> int:
    """Count the files that import one of the packages.

    >>> imports_in([SourceFile(Path("app.py"), ast.parse("from llama_index.core import Document"))], ["llama_index"])
    1
    """
    return sum(_imports(source, packages) for source in sources)


def engines_in(sources: Sequence[SourceFile], framework: str, packages: Sequence[str]) -> list[EngineObject]:
    """Find objects of modules, or what makes them, whose name says that they answer questions; in files of the framework."""
    found = []
    for source in sources:
        if (module := _module_of(source.path)) and _imports(source, packages):
            found += [EngineObject(module, name, made) for name, made in _find_named(source.tree, _OBJECTS.get(framework, ()))]
    return found


def _python_files(folder: Path) -> Iterator[Path]:
    count = 0
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(each for each in folders if not _is_left_out(Path(place) / each))
        for name in sorted(names):
            path = Path(place) / name
            if name.endswith(".py") and path.is_file() and path.stat().st_size <= _LARGEST:
                yield path
                count += 1
            if count >= _MOST_FILES:
                return


def _is_left_out(folder: Path) -> bool:
    return folder.name.startswith(".") or folder.name in _LEFT_OUT or (folder / "pyvenv.cfg").is_file()


def _imports(source: SourceFile, packages: Sequence[str]) -> bool:
    return any(name.partition(".")[0] in packages for name in _imports_of(source.tree))


def _imports_of(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def _module_of(path: Path) -> str | None:
    """Return the name by which a script in the project's folder imports a file; None where it cannot.

    >>> _module_of(Path("src/shop/answers.py")), _module_of(Path("my-app.py"))
    ('shop.answers', None)
    """
    parts = [*path.parts[:-1], path.stem]
    parts = parts[1:] if parts[0] == "src" and len(parts) > 1 else parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    return ".".join(parts) if parts and all(each.isidentifier() for each in parts) else None


def _find_named(tree: ast.Module, names: Sequence[str]) -> Iterator[tuple[str, bool]]:
    makers = {f"{maker}_{name}" for maker in _MAKERS for name in names}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)) if name in names:
                yield name, False
            case ast.FunctionDef(name=name, args=arguments) if name in makers and not _needs_arguments(arguments):
                yield name, True


def _needs_arguments(arguments: ast.arguments) -> bool:
    positional = len(arguments.posonlyargs) + len(arguments.args) - len(arguments.defaults)
    return positional > 0 or None in arguments.kw_defaults
