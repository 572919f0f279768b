"""Defaults of options from ``rag-cover.toml``: where it is found, what it may set, and what is said of it."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer

from rag_cover.cli.config_file import find_config, read_config
from rag_cover.cli.config_rules import COMMON_OPTIONS, MODEL_OPTIONS, WRITTEN_OPTIONS, refusal_of
from rag_cover.errors import ConfigError
from tests.cli.test_options import DIFFERENT, OURS, PLUGINS, options_of

WORDS = ("--judge", "words", "--no-report", "--no-store")
REFUSED_OPTIONS = {"address", "base", "engine", "force", "redact_key", "write"}


def key_of(option: Any) -> str:
    return str(max(option.opts, key=len)).lstrip("-").replace("-", "_")


@pytest.fixture
def config(folder: Path) -> Callable[[str], Path]:
    def write(text: str, name: str = "rag-cover.toml") -> Path:
        path = folder / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_gate_of_the_file_fails_the_command_and_the_file_is_named(
    command: Callable[..., Any], traces: Path, config: Callable[..., Path]
) -> None:
    config("[evaluate]\nfail_under = { core_coverage = 0.99 }\n")

    done = command("evaluate", traces, *WORDS)

    assert done.exit_code == 1
    assert "Options from rag-cover.toml: fail_under." in done.stderr
    assert "--fail-under core_coverage=0.99" in done.stderr


@pytest.mark.parametrize("table", ["evaluate", "common"])
def test_a_maximum_can_stand_in_the_file(
    command: Callable[..., Any], traces: Path, config: Callable[..., Path], table: str
) -> None:
    config(f"[{table}]\nfail_over = {{ echo_coverage = 0.4 }}\n")

    done = command("evaluate", traces, *WORDS)

    assert done.exit_code == 1
    assert "echo_coverage is 0.5, which is 0.1 above 0.4 (--fail-over echo_coverage=0.4)" in done.stderr


@pytest.mark.parametrize("quiet", [(), ("-q",)])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[evaluate]\nfail_under = { core_coverage = 1.5 }\n",
            "line 2, at evaluate.fail_under: core_coverage is never above 1",
        ),
        ("[common]\n\nfail-over = ['abstentions=30']\n", "line 3, at common.fail-over: abstentions is never above 1"),
        ("[evaluate.fail_under]\ncore_coverge = 0.5\n", "line 1, at evaluate.fail_under: no metric is called 'core_coverge'"),
        (
            "[evaluate]\nfail_under = { core_coverage = true }\n",
            "at evaluate.fail_under: 'core_coverage=true' is not METRIC=NUMB",
        ),
    ],
)
def test_a_gate_of_the_file_that_can_be_none_is_refused_with_its_line(
    command: Callable[..., Any], traces: Path, config: Callable[..., Path], text: str, said: str, quiet: tuple[str, ...]
) -> None:
    config(text)

    done = command("evaluate", traces, *WORDS, *quiet)

    assert done.exit_code == 2
    assert f"Error: rag-cover.toml, {'' if said.startswith('line') else 'line 2, '}{said}" in done.stderr


def test_a_gate_of_the_command_line_is_not_blamed_on_the_file(
    command: Callable[..., Any], traces: Path, config: Callable[..., Path]
) -> None:
    config("[evaluate]\nfail_under = { core_coverage = 0.5 }\n")

    done = command("evaluate", traces, *WORDS, "--fail-under", "core_coverage=60")

    assert done.stderr.startswith("Error: --fail-under: core_coverage is never above 1")


def test_an_option_of_the_command_line_wins(command: Callable[..., Any], traces: Path, config: Callable[..., Path]) -> None:
    config("[evaluate]\nfail_under = ['core_coverage=0.99']\nlimit = 3\n")

    done = command("evaluate", traces, *WORDS, "--fail-under", "core_coverage=0.1", "--limit", "2", "--json")

    assert done.exit_code == 0
    assert json.loads(done.stdout)["summary"]["traces"] == 2
    assert done.stderr == ""


def test_the_document_on_stdout_stays_json(command: Callable[..., Any], traces: Path, config: Callable[..., Path]) -> None:
    config("[common]\nlimit = 3\n")

    done = command("evaluate", traces, *WORDS, "--json")

    assert json.loads(done.stdout)["summary"]["traces"] == 3
    assert done.stderr == "Options from rag-cover.toml: limit.\n"


def test_the_table_of_a_command_counts_more_than_the_common_one(
    command: Callable[..., Any], traces: Path, config: Callable[..., Path]
) -> None:
    config("[common]\nlimit = 1\n[evaluate]\nlimit = 2\njson = true\n")

    assert json.loads(command("evaluate", traces, *WORDS).stdout)["summary"]["traces"] == 2


def test_a_common_option_that_a_command_does_not_have_is_left_to_others(
    command: Callable[..., Any], config: Callable[..., Path]
) -> None:
    config("[common]\nworkers = 3\n")

    done = command("schema")

    assert done.exit_code == 0
    assert done.stderr == ""


def test_a_command_of_a_group_has_its_table_within_the_group_s(
    command: Callable[..., Any], config: Callable[..., Path]
) -> None:
    config("[judge.check]\nlabels = 'nowhere.csv'\n")

    done = command("judge", "check")

    assert "nowhere.csv" in done.stderr
    assert done.exit_code == 3


def test_the_table_of_pyproject_is_read_where_there_is_no_file_of_ours(
    command: Callable[..., Any], traces: Path, config: Callable[..., Path]
) -> None:
    config("[project]\nname = 'mine'\n[tool.rag-cover.evaluate]\nlimit = 0\n", "pyproject.toml")

    done = command("evaluate", traces, *WORDS)

    assert done.exit_code == 3
    assert done.stderr.startswith("Error: pyproject.toml, line 4, at evaluate.limit: ")
    assert command("evaluate", traces, *WORDS, "--no-config").exit_code == 0


def test_the_tables_of_pyproject_are_named_as_they_stand_there(
    command: Callable[..., Any], config: Callable[..., Path]
) -> None:
    config("[tool.rag-cover]\njudge = 'embedded'\n", "pyproject.toml")

    assert "put options for all commands into [tool.rag-cover.common]" in command("schema").stderr


def test_the_file_is_named_after_the_command(command: Callable[..., Any]) -> None:
    done = command("--config", "mine.toml", "schema")

    assert done.exit_code == 2
    assert "--config stands after the command" in done.stderr


def test_the_nearest_file_up_to_the_root_of_the_repository_is_found(folder: Path, config: Callable[..., Path]) -> None:
    inner = folder / "repository" / "inner"
    inner.mkdir(parents=True)
    config("[common]\nquiet = true\n")
    assert find_config(inner) is None  # outside of a repository no parent counts

    (folder / "repository" / ".git").mkdir()
    assert find_config(inner) is None  # what lies above the repository does not count

    kept = folder / "repository" / "rag-cover.toml"
    kept.write_text("[common]\nquiet = true\n", encoding="utf-8")
    found = find_config(inner)
    assert found is not None
    assert found.path.samefile(kept)


def test_paths_of_a_file_are_seen_from_its_folder(
    command: Callable[..., Any], traces: Path, folder: Path, config: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / ".git").mkdir()
    (folder / "inner").mkdir()
    config("[evaluate]\nstore = 'kept.sqlite'\nno_report = true\n")
    monkeypatch.chdir(folder / "inner")

    command("evaluate", traces, "--judge", "words")

    assert (folder / "kept.sqlite").is_file()


def test_a_project_s_file_that_others_broke_stops_nothing(
    command: Callable[..., Any], traces: Path, config: Callable[..., Path]
) -> None:
    config("[project\n", "pyproject.toml")

    assert command("evaluate", traces, *WORDS).exit_code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[evaluate]\njudge = 'openai:gpt-4.1'\n", "line 2, at evaluate.judge: a model that may send texts elsewhere"),
        ("[evaluate]\njudge = 'transformers:org/name'\n", "line 2, at evaluate.judge: there is no folder 'org/name'"),
        ("[common]\n\nentailer = 'mine:x'\n", "line 3, at common.entailer: a model that may send texts elsewhere"),
        ("[common]\nbase_url = 'http://x'\n", "line 2, at common.base_url: this says where texts are sent; take it out"),
        ("[compare]\nopenai_api_key = 'x'\n", "line 2, at compare.openai_api_key: this is a secret"),
        ("[common.headers]\nAuthorization = 'x'\n", "line 1, at common.headers: this says where texts are sent"),
        ("[evaluate]\nengine = 'ray'\n", "line 2, at evaluate.engine: this says where texts are sent"),
        ("[common]\nplugin_path = 'x.py'\n", "line 2, at common.plugin_path: this names code that is run"),
        ("[train.geneval]\nbase = 'org/name'\n", "line 2, at train.geneval.base: this names a model that may be fetched"),
        (
            "[evaluate]\nfail-under = ['rating=0.1']\nfail_under = ['rating=0.2']\n",
            "line 3, at evaluate.fail_under: this table sets the option as 'fail-under', too; keep one of them",
        ),
        ("[evaluate]\nforce = true\n", "line 2, at evaluate.force: this writes over files"),
        ("[evaluate]\nredact-key = 'k'\n", "line 2, at evaluate.redact-key: this is a secret"),
        ("[evaluate]\nstore = '../kept.sqlite'\n", "line 2, at evaluate.store: ../kept.sqlite is outside of the file's folder"),
        ("[evaluate]\nreport = '/tmp/r.html'\n", "line 2, at evaluate.report: /tmp/r.html is outside of the file's folder"),
        ("[evaluate]\nmeasures = ['coverage']\n", "has no such option. Did you mean 'measure'?"),
        ("[evaluate]\nfail_if_worse = ['rating']\n", "has no such option; it belongs to [compare] or [gate]"),
        ("[common]\njuge = 'embedded'\n", "no such option for all commands. Did you mean 'judge'?"),
        ("[common]\ngenerator = 'rules'\n", "this means something else in other commands; put it into the table [evaluate]"),
        ("[evalute]\nlimit = 1\n", "line 1, at evalute: no command is called 'evalute'. Did you mean 'evaluate'?"),
        ("limit = 1\n", "line 1, at limit: this is no table; put options for all commands into [common]"),
        ("[evaluate]\nworkers = '4'\n", "line 2, at evaluate.workers: this is the text '4'; give a whole number"),
        ("[evaluate]\nworkers = true\n", "line 2, at evaluate.workers: this is true or false; give a whole number"),
        ("[evaluate]\nstrict = 1\n", "line 2, at evaluate.strict: this is a whole number; give true or false"),
        (
            "[evaluate]\nmeasure = 'coverage'\n",
            "this is the text 'coverage'; give a list of texts, such as",
        ),
        ("[evaluate]\non_bad_line = 'stop'\n", "this is the text 'stop'; give one of 'raise', 'skip'"),
        ("[evaluate]\ntraces = 'x.jsonl'\n", "'rag-cover evaluate' has no such option"),
        ("[evaluate]\nlimit =\n", "rag-cover.toml, line 2: this is no TOML: Invalid value"),
        ("", ""),
    ],
)
def test_what_a_file_may_not_say_is_refused_with_its_line(
    command: Callable[..., Any], traces: Path, config: Callable[..., Path], text: str, said: str
) -> None:
    config(text)

    done = command("evaluate", traces, "--no-report", "--no-store", *(() if said else ("--judge", "words")))

    assert done.exit_code == (3 if said else 0)
    assert said in done.stderr
    assert done.stderr.count("\n") <= 1


def test_a_judge_that_was_fitted_and_named_is_found_by_its_name(
    command: Callable[..., Any], traces: Path, config: Callable[..., Path]
) -> None:
    config("[evaluate]\njudge = 'embedded:mine'\n")

    done = command("evaluate", traces, "--no-report", "--no-store")

    assert "no judge is called so" in done.stderr  # it was looked for; none is fitted here


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[judge]\njson = true\n",
            "'judge' is a group of commands; put its options into a table of one, such as [judge.c",
        ),
        ("[judge.chek]\njson = true\n", "no command is called 'judge chek'. Did you mean 'check'?"),
        ("judge = 1\n", "line 1, at judge: this is no table"),
    ],
)
def test_the_table_of_a_group_holds_tables(
    command: Callable[..., Any], config: Callable[..., Path], text: str, said: str
) -> None:
    config(text)

    assert said in command("judge", "check", "--labels", "labels.csv").stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[gate]\nbaselin = 'x'\n",
            "rag-cover.toml, line 2, at gate.baselin: 'rag-cover gate' has no such option. Did you mean 'baseline'?",
        ),
        ("[judge.chek]\njson = true\n", "line 1, at judge.chek: no command is called 'judge chek'. Did you mean 'check'?"),
        ("[judge.check]\njsn = true\n", "line 2, at judge.check.jsn: 'rag-cover judge check' has no such option. Did you mean"),
        ("[gate]\nmeasure = ['claims']\n", "gate.measure: 'rag-cover gate' has no such option; it belongs to"),
        ("[gate]\nbaseline = 'x'\n[judge.check]\njson = true\n", ""),
    ],
)
def test_a_key_that_another_command_does_not_know_is_told_and_stops_nothing(
    command: Callable[..., Any], traces: Path, config: Callable[..., Path], text: str, said: str
) -> None:
    config(text)

    done = command("evaluate", traces, *WORDS, "--json")

    assert done.exit_code == 0
    assert said in done.stderr
    assert bool(said) == ("Warning: " in done.stderr)
    json.loads(done.stdout)


@pytest.mark.parametrize("name", ["nowhere.toml", ".", "binary.toml"])
def test_a_named_file_that_cannot_be_read_is_an_error(
    command: Callable[..., Any], traces: Path, folder: Path, name: str
) -> None:
    (folder / "binary.toml").write_bytes(b"\xff\xfe\x00")

    done = command("evaluate", traces, *WORDS, "--config", name)

    assert done.exit_code == 3
    assert done.stderr.startswith(f"Error: {name}: th")


def test_a_project_s_file_without_our_table_cannot_be_named(config: Callable[..., Path]) -> None:
    path = config("[tool.rag_cover.evaluate]\nlimit = 1\n", "pyproject.toml")

    with pytest.raises(ConfigError, match=r"there is no table \[tool.rag-cover\].*write it with a hyphen"):
        read_config(path)


def test_the_help_is_shown_whatever_the_file_says(command: Callable[..., Any], config: Callable[..., Path]) -> None:
    config("not TOML")

    assert command("evaluate", "--help").exit_code == 0


def test_a_file_is_named_or_refused_not_both(command: Callable[..., Any], traces: Path) -> None:
    done = command("evaluate", traces, "--config", "a.toml", "--no-config")

    assert done.exit_code == 2
    assert "one of --config and --no-config, not both" in done.stderr


def test_the_command_of_a_plugin_takes_defaults_too(
    command: Callable[..., Any], config: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    module: Any = ModuleType("hello_app")
    module.app = typer.Typer()
    monkeypatch.setitem(sys.modules, "hello_app", module)
    module.app.command()(repeat)
    config("[hello]\ntimes = 3\n")

    assert command("hello", "Ada").stdout == "AdaAdaAda\n"
    assert "give a whole number" in command("hello", "Ada", "--config", config("[hello]\ntimes = 'x'\n")).stderr


def repeat(name: str, times: int = 1) -> None:
    typer.echo(name * times)


def test_the_common_options_are_those_that_mean_the_same_in_several_commands() -> None:
    counted = Counter(key_of(option) for command in OURS.values() for option in options_of(command))
    other = {flag.lstrip("-").replace("-", "_") for flag in DIFFERENT}
    of_one_run = {"report", "questions", "show_prompts", "config", "no_config", "help"}

    shared = {key for key, count in counted.items() if count > 1} - other - of_one_run

    assert {key for key in shared if not refusal_of(key)} == COMMON_OPTIONS


def test_no_option_is_refused_by_chance_and_every_model_and_output_is_known() -> None:
    options = [option for command in (OURS | PLUGINS).values() for option in options_of(command)]
    not_models = {"annotator", "approximate", "engine", "format", "measure", "name", "subject", "success"}
    named = {key_of(option) for option in options if (option.metavar or "").startswith("NAME")}
    written = {key_of(each) for each in options if each.rich_help_panel == "Where it goes" and "ath" in str(type_of(each))}

    assert {key_of(option) for option in options if refusal_of(key_of(option))} == REFUSED_OPTIONS
    assert named - not_models - {"by"} <= MODEL_OPTIONS
    assert written - {"prices", "redact_key", "baseline"} <= WRITTEN_OPTIONS


def type_of(option: Any) -> Any:
    return option.type_descriptor.annotation
