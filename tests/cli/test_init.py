"""What ``rag-cover init`` sees in a project, and that the files it writes work."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from rag_cover.cli.scaffold.project import FRAMEWORKS, inspect_project

LLAMA_INDEX_APP = """
from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.llms import MockLLM
from llama_index.core.schema import TextNode

nodes = [TextNode(text="A heat pump costs about 12,000 euros."), TextNode(text="The state pays 30% of it.")]
query_engine = VectorStoreIndex(nodes, embed_model=MockEmbedding(8)).as_query_engine(llm=MockLLM())
"""
LANGCHAIN_APP = """
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore
from rag_cover_langchain import RagCoverEmbeddings

def build_chain():
    store = InMemoryVectorStore(RagCoverEmbeddings())
    store.add_documents([Document("A heat pump costs about 12,000 euros."), Document("The state pays 30% of it.")])
    model = FakeListChatModel(responses=["A heat pump costs about 12,000 euros."])
    prompt = ChatPromptTemplate.from_template("{question} {context}")
    return {"context": store.as_retriever(), "question": RunnablePassthrough()} | prompt | model
"""
QUESTIONS = 'QUESTIONS = ["What does a heat pump cost, and who pays part of it?"]'
ANSWER = '{"question": "Why?", "answer": "Because of it.", "prompt": ["It is so."]}\n'


def project(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def run_python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    paths = [path for path in sys.path if path]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    return subprocess.run(
        [sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False, env=environment, timeout=300
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("package", "file", "app"),
    [("llama_index", "app.py", LLAMA_INDEX_APP), ("langchain_core", "service.py", LANGCHAIN_APP)],
)
def test_the_script_that_is_written_asks_a_real_pipeline(
    command: Callable[..., Any], folder: Path, embedded_judge: str, package: str, file: str, app: str
) -> None:
    pytest.importorskip(package)
    project(folder, **{file: app})
    assert command("init").exit_code == 0
    script = folder / "rag_cover_check.py"
    text = script.read_text(encoding="utf-8")
    script.write_text("\n".join(QUESTIONS if line.startswith("QUESTIONS") else line for line in text.splitlines()) + "\n")

    done = run_python(folder, "rag_cover_check.py")
    evaluated = command("evaluate", "rag_cover_traces.jsonl", "--judge", embedded_judge)

    assert done.returncode == 0, done.stderr
    assert "core answered: " in done.stdout
    assert "heat pump" in (folder / "rag_cover_check.html").read_text(encoding="utf-8")
    assert "Options from rag-cover.toml: resume." in evaluated.stderr
    assert evaluated.exit_code == 0


@pytest.mark.slow
def test_the_script_for_a_file_evaluates_it(command: Callable[..., Any], folder: Path, embedded_judge: str) -> None:
    project(folder, **{"mine.jsonl": ANSWER})
    command("init", "--framework", "jsonl")

    done = run_python(folder, "rag_cover_check.py")

    assert embedded_judge
    assert done.returncode == 0, done.stderr
    assert 'ANSWERS = "mine.jsonl"' in (folder / "rag_cover_check.py").read_text(encoding="utf-8")
    assert (folder / "rag_cover_check.html").is_file()


@pytest.mark.parametrize(
    ("framework", "package", "said"),
    [
        ("llama-index", "llama_index", "there are no questions yet"),
        ("langchain", "langchain_core", "there are no questions yet"),
        ("jsonl", "rag_cover", "there is no file answers.jsonl yet"),
    ],
)
@pytest.mark.slow
def test_a_script_whose_lines_are_not_filled_in_ends_with_a_sentence(
    command: Callable[..., Any], folder: Path, framework: str, package: str, said: str
) -> None:
    pytest.importorskip(package)
    command("init", "--framework", framework)

    done = run_python(folder, "rag_cover_check.py")

    assert done.returncode == 1
    assert done.stderr.startswith(f"rag_cover_check.py: {said}")
    assert done.stderr.count("\n") == 1


def test_a_script_without_an_engine_says_where_it_goes(command: Callable[..., Any], folder: Path) -> None:
    command("init", "--framework", "llama-index")

    tree = ast.parse((folder / "rag_cover_check.py").read_text(encoding="utf-8"))
    load = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    names: dict[str, Any] = {}
    exec(compile(ast.Module([load], []), "rag_cover_check.py", "exec"), names)  # noqa: S102  # what we wrote

    with pytest.raises(SystemExit, match=r"rag_cover_check.py: there is no engine yet; import yours in load_pipeline\(\)"):
        names["load_pipeline"]()


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        ({"requirements.txt": "llama_index.core[x]>=0.13 ; python_version > '3'\n"}, "llama-index"),
        ({"requirements-dev.txt": "# langchain\n-r other.txt\nlangchain-openai\n"}, "langchain"),
        ({"pyproject.toml": "[project]\ndependencies = ['llama-index']\n"}, "llama-index"),
        ({"pyproject.toml": "[project.optional-dependencies]\nrag = ['langgraph>=1']\n"}, "langchain"),
        ({"pyproject.toml": "[dependency-groups]\nrag = ['langchain', {include-group = 'x'}]\n"}, "langchain"),
        ({"pyproject.toml": "[tool.poetry.dependencies]\nllama-index-core = '^0.14'\n"}, "llama-index"),
        ({"src/shop/rag.py": "from langchain_core.documents import Document\n"}, "langchain"),
        ({"a.py": "import llama_index.core\n", "b.py": "import llama_index\n", "c.py": "import langgraph\n"}, "llama-index"),
        ({"requirements.txt": "llama-index\n", "a.py": "import langchain\n"}, "langchain"),
        ({"tests/a.py": "import langchain\n", ".hidden/b.py": "import langchain\n", "mine.jsonl": ANSWER}, "jsonl"),
        ({"broken.py": "import langchain(", "pyproject.toml": "[broken", "x.jsonl": "\0", "mine.jsonl": ANSWER}, "jsonl"),
        ({"a.py": "import llama_index\nimport langchain\n"}, None),
    ],
)
def test_the_framework_is_found_by_what_is_declared_and_imported(
    folder: Path, files: dict[str, str], chosen: str | None
) -> None:
    assert inspect_project(project(folder, **files)).choose() == chosen


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"app.py": "import llama_index\nquery_engine = 1\n"}, ["app.query_engine"]),
        ({"src/shop/rag.py": "import llama_index\nchat_engine: object = 1\n"}, ["shop.rag.chat_engine"]),
        ({"shop/__init__.py": "import llama_index\ndef get_query_engine(k=3): ...\n"}, ["shop.get_query_engine()"]),
        ({"app.py": "import llama_index\ndef get_query_engine(k): ...\n"}, []),
        ({"my-app.py": "import llama_index\nquery_engine = 1\n"}, []),
        ({"app.py": "query_engine = 1\n"}, []),
        ({"app.py": "import llama_index\ndef f():\n    query_engine = 1\n"}, []),
    ],
)
def test_an_object_is_taken_by_its_name_on_the_top_level(folder: Path, files: dict[str, str], found: Sequence[str]) -> None:
    engines = inspect_project(project(folder, **files)).uses["llama-index"].engines

    assert [f"{each.module}.{each.expression}" for each in engines] == found


def test_of_several_objects_none_is_taken_and_all_are_named(command: Callable[..., Any], folder: Path) -> None:
    project(folder, **{"app.py": "import llama_index\nquery_engine = 1\nchat_engine = 2\n"})

    done = command("init", "--dry-run")
    told = command("init")

    assert "there is no engine yet" in done.stdout
    assert "so that none is taken: app:query_engine, app:chat_engine" in told.stdout


def test_a_project_of_two_frameworks_is_asked_which_one(command: Callable[..., Any], folder: Path) -> None:
    project(folder, **{"app.py": "import llama_index\nimport langchain\n"})

    done = command("init")

    assert done.exit_code == 2
    assert "--framework: the project uses both frameworks" in done.stderr
    assert command("init", "--framework", "langchain").exit_code == 0


def test_files_that_are_there_stay_as_they_are(command: Callable[..., Any], folder: Path) -> None:
    project(folder, **{"rag_cover_check.py": "mine", "app.py": "import langchain\n"})

    done = command("init")

    assert (folder / "rag_cover_check.py").read_text() == "mine"
    assert "rag_cover_check.py is there already and stays as it is; move it away" in done.stderr
    assert "Wrote rag-cover.toml" in done.stdout


def test_a_dry_run_prints_the_files_and_writes_none(command: Callable[..., Any], folder: Path) -> None:
    project(folder, **{"rag-cover.toml": ""})

    done = command("init", "--dry-run", "--github", "--framework", "llama-index")

    assert "# rag-cover.toml (is there already, and would stay as it is)" in done.stdout
    assert "from rag_cover_llama_index import evaluate_pipeline" in done.stdout
    assert "# .github/workflows/rag-cover.yml" in done.stdout
    assert [path.name for path in folder.iterdir()] == ["rag-cover.toml"]


def test_the_workflow_stands_at_the_root_of_the_repository(command: Callable[..., Any], folder: Path) -> None:
    yaml = pytest.importorskip("yaml")
    project(folder, **{"svc/requirements.txt": "langchain\n", ".git/HEAD": ""})

    command("init", "svc", "--github")

    job = yaml.safe_load((folder / ".github/workflows/rag-cover.yml").read_text())["jobs"]["rag-cover"]
    assert job["defaults"] == {"run": {"working-directory": "svc"}}
    assert [step["run"] for step in job["steps"] if "run" in step] == [
        "pip install -r requirements.txt 'rag-cover[langchain]'",
        "python rag_cover_check.py",
        "rag-cover evaluate rag_cover_traces.jsonl --resume --no-report",
    ]
    assert job["steps"][-1]["with"]["path"] == "svc/rag_cover_check.html"


def test_a_project_that_has_the_options_in_pyproject_gets_no_second_file(command: Callable[..., Any], folder: Path) -> None:
    project(folder, **{"pyproject.toml": "[tool.rag-cover.evaluate]\nlimit = 3\n"})

    done = command("init")

    assert "pyproject.toml has the options already, so that no rag-cover.toml is written" in done.stderr
    assert not (folder / "rag-cover.toml").exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere", "Error: nowhere: there is no such folder; make it, or name another"),
        ("file", "Error: file: this is a file; name the folder of the project"),
        ("blocked", "Error: blocked/.github/workflows/rag-cover.yml cannot be written"),
    ],
)
def test_a_folder_that_cannot_be_used_is_an_error(command: Callable[..., Any], folder: Path, name: str, said: str) -> None:
    project(folder, **{"file": "", "blocked/.github/workflows": ""})

    done = command("init", name, "--github")

    assert done.exit_code == 3
    assert done.stderr.startswith(said)


def test_the_oldest_version_of_a_framework_is_read_from_our_metadata(monkeypatch: pytest.MonkeyPatch) -> None:
    framework = FRAMEWORKS["llama-index"]
    assert framework.oldest is not None

    monkeypatch.setattr("rag_cover.cli.scaffold.project.version", lambda _: "0.1.9")
    assert framework.is_too_old
    monkeypatch.setattr("rag_cover.cli.scaffold.project.version", lambda _: "99.0")
    assert not framework.is_too_old


def test_quiet_says_nothing_of_what_is_there(command: Callable[..., Any], folder: Path) -> None:
    project(folder, **{"rag_cover_check.py": "mine"})

    done = command("init", "--quiet")

    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
