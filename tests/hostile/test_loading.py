"""What is loaded is data: nothing runs what a file says, unpacks what an archive names, or leaves its folder."""

from __future__ import annotations

import ast
import gzip
import hashlib
import importlib.util
import io
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from rag_cover.errors import CorruptFileError, InputError
from rag_cover.importers import import_traces
from rag_cover.routing.files import load_skills
from rag_cover.stores import files, read_traces
from rag_cover.stores.passages import read_passages
from rag_cover_embedded.session import Session

PACKAGES = (
    "rag_cover",
    "rag_cover_embedded",
    "rag_cover_langchain",
    "rag_cover_llama_index",
    "rag_cover_openai",
    "rag_cover_transformers",
)
OF_THE_HOST = {"rag_cover/recording/journal_evaluation.py", "rag_cover/recording/sendable.py"}
"""Modules that may pickle: a recording sends what it measures with to the process that it starts, through a pipe of its own."""
FORBIDDEN_MODULES = {"dill", "cloudpickle", "joblib", "marshal", "pickle", "shelve", "tarfile", "yaml"}
FORBIDDEN_CALLS = {"__import__", "compile", "eval", "exec", "execfile"}
FORBIDDEN_METHODS = {"extract", "extractall", "load_module", "os.popen", "os.system", "unpack_archive"}
FORBIDDEN_TRUE = {"allow_pickle", "shell", "trust_remote_code"}


def _trees() -> Iterator[tuple[str, ast.Module]]:
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        if spec is None or spec.origin is None:
            continue
        for path in sorted(Path(spec.origin).parent.rglob("*.py")):
            yield f"{package}/{path.relative_to(Path(spec.origin).parent)}", ast.parse(path.read_text(encoding="utf-8"))


def faults_in(tree: ast.Module) -> list[str]:
    """Name what a module does that would run, or unpack, what somebody else wrote."""
    return [f"line {getattr(node, 'lineno', '?')}: {fault}" for node in ast.walk(tree) for fault in _faults_of(node)]


def _faults_of(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=names):
            yield from (name.name for name in names if name.name.partition(".")[0] in FORBIDDEN_MODULES)
        case ast.ImportFrom(module=str(module)) if module.partition(".")[0] in FORBIDDEN_MODULES:
            yield module
        case ast.Call(func=func, keywords=keywords):
            name = ast.unparse(func)
            if name in FORBIDDEN_CALLS or {name, name.rpartition(".")[2] if "." in name else ""} & FORBIDDEN_METHODS:
                yield name
            if name == "torch.load" and not any(each.arg == "weights_only" and _is_true(each.value) for each in keywords):
                yield name
            yield from (f"{each.arg}={ast.unparse(each.value)}" for each in keywords if _is_trust(each))


def _is_true(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value is True


def _is_trust(keyword: ast.keyword) -> bool:
    return keyword.arg in FORBIDDEN_TRUE and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is False)


def test_no_module_runs_or_unpacks_what_others_wrote() -> None:
    found = {module: [fault.partition(": ")[2] for fault in faults_in(tree)] for module, tree in _trees()}

    assert {module: faults for module, faults in found.items() if faults} == {module: ["pickle"] for module in OF_THE_HOST}


@pytest.mark.parametrize(
    "line",
    [
        "import pickle",
        "from pickle import loads",
        "import yaml",
        "eval(text)",
        "exec(text)",
        "open_model(path, trust_remote_code=True)",
        "open_model(path, trust_remote_code=trusted)",
        "subprocess.run(line, shell=True)",
        "archive.extractall(folder)",
        "np.load(path, allow_pickle=True)",
        "torch.load(path)",
        "os.system(line)",
    ],
)
def test_the_check_finds_what_it_is_for(line: str) -> None:
    assert faults_in(ast.parse(line))


def _skills_with(folder: Path, array: np.ndarray[tuple[int, ...], np.dtype[np.object_]]) -> None:
    packed = io.BytesIO()
    np.savez(packed, skills=array)
    (folder / "s.npz").write_bytes(packed.getvalue())
    digest = hashlib.sha256(packed.getvalue()).hexdigest()
    about = {"schema": 1, "agents": ["a"], "temperature": 1, "features": 1, "encoder": None, "settings": {}, "sha256": digest}
    (folder / "s.json").write_text(json.dumps(about), encoding="utf-8")


class _Runs:
    """Is rebuilt by making a file."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return open, (self.path, "w")


def test_a_skill_model_that_holds_objects_is_refused_and_nothing_of_them_runs(tmp_path: Path) -> None:
    _skills_with(tmp_path, np.array([_Runs(str(tmp_path / "ran"))], dtype=object))

    with pytest.raises(CorruptFileError):
        load_skills(tmp_path / "s", None, None)

    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("place", ["../weights.bin", "{folder}/weights.bin", "link.bin"])
def test_a_network_whose_weights_lie_outside_its_folder_is_refused(tmp_path: Path, place: str) -> None:
    onnx = pytest.importorskip("onnx", reason="needs onnx (extra dev)")
    elsewhere, folder = tmp_path / "weights.bin", tmp_path / "judge"
    elsewhere.write_bytes(np.zeros(4, dtype=np.float32).tobytes())
    folder.mkdir()
    (folder / "link.bin").symlink_to(elsewhere)
    weights = onnx.TensorProto(name="w", data_type=onnx.TensorProto.FLOAT, dims=[4], data_location=onnx.TensorProto.EXTERNAL)
    weights.external_data.add(key="location", value=place.format(folder=tmp_path))
    values = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [4]) for name in "xy"]
    graph = onnx.helper.make_graph([onnx.helper.make_node("Add", ["x", "w"], ["y"])], "g", values[:1], values[1:], [weights])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    (folder / "judge.onnx").write_bytes(model.SerializeToString())

    with pytest.raises(CorruptFileError, match="cannot be run by onnxruntime"):
        Session(folder / "judge.onnx")


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a line have 64 KiB at most, and a file that is read whole 256 KiB."""
    monkeypatch.setattr(files, "_LONGEST_LINE", 1 << 16)
    monkeypatch.setattr(files, "_LONGEST_CONTENT", 1 << 18)
    monkeypatch.setattr(files, "_PIECE", 1 << 12)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("content", [b"\0" * (1 << 22), b" " * (1 << 22), b"\n" * (1 << 22)])
def test_a_gzip_bomb_is_an_input_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(content))

    for read in (read_traces, import_traces, read_passages):
        with pytest.raises(InputError, match="longer than"):
            list(read(path))


@pytest.mark.usefixtures("short")
def test_a_json_document_that_unpacks_to_too_much_is_an_input_error(tmp_path: Path) -> None:
    path = tmp_path / "bomb.json.gz"
    path.write_bytes(gzip.compress(b"[\n" + b"1,\n" * (1 << 18) + b"1]"))

    for read in (import_traces, read_passages):
        with pytest.raises(InputError, match="too many to be read at once"):
            list(read(path))


@pytest.mark.usefixtures("short")
def test_lines_up_to_the_bound_are_read(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    line = json.dumps({"question": "Why?", "answer": "x" * 60_000})
    path.write_text(f"\n\n{line}\n\n{line}\n", encoding="utf-8")

    assert len(list(read_traces(path))) == 2
