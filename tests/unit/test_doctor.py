"""`assayer doctor` and whatever a check does not expect: a finding, and the other checks go on."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from cluster import health_checks
from cluster.cli.main import app
from cluster.health_checks import Finding
from cluster.settings import Settings

DATABASE = health_checks._check_database
"""The check itself, which the other tests replace."""


@pytest.fixture(autouse=True)
def without_database(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def check_database(_: Settings) -> Finding:
        return Finding("database", "ok", "")

    monkeypatch.setattr(health_checks, "_check_database", check_database)
    monkeypatch.setenv("ASSAYER_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def run_doctor() -> dict[str, tuple[str, str]]:
    result = CliRunner().invoke(app, ["doctor", "--json"])
    return {item["subject"]: (item["state"], item["text"]) for item in json.loads(result.stdout)}


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (PermissionError(13, "Permission denied", "/corpus/meta.json"), "/corpus/meta.json: Permission denied."),
        (ModuleNotFoundError("No module", name="tantivy"), "tantivy is not installed."),
        (ZeroDivisionError("division by zero"), "ZeroDivisionError('division by zero')"),
    ],
)
def test_check_that_fails_unexpectedly_is_reported_as_broken_and_other_checks_run(
    error: Exception, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check_corpus(_: Settings) -> Finding:
        raise error

    monkeypatch.setattr(health_checks, "_check_corpus", check_corpus)
    findings = run_doctor()
    assert findings["corpus"] == ("broken", text)
    assert list(findings)[-1] == "GROBID"


def test_key_without_a_model_is_named_with_the_option_that_uses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    state, text = run_doctor()["language model"]
    assert (state, "OPENAI_API_KEY is set: --model openai/…" in text, "sk-test" in text) == ("absent", True, False)


def test_corpus_folder_left_by_a_failed_build_is_absent(tmp_path: Path) -> None:
    (tmp_path / "corpus" / "versions").mkdir(parents=True)
    assert run_doctor()["corpus"][0] == "absent"


@pytest.mark.parametrize(("server", "warned"), [("PostgreSQL 15.18", True), ("PostgreSQL 16.4", False)])
async def test_version_of_postgresql_that_is_not_tested_is_named(
    server: str, warned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class AnsweringDatabase:
        async def ping(self) -> SimpleNamespace:
            return SimpleNamespace(problem=None, server=server, address="db.internal/assayer")

    @asynccontextmanager
    async def open_database(_: Settings) -> AsyncIterator[AnsweringDatabase]:
        yield AnsweringDatabase()

    monkeypatch.setattr(health_checks, "open_database", open_database)
    finding = await DATABASE(Settings())
    assert (finding.state, "not tested with versions before 16" in finding.text) == ("ok", warned)


def test_settings_that_cannot_be_used_are_a_finding(tmp_path: Path) -> None:
    (tmp_path / "assayer.toml").write_text("[evaluation]\nconcurency = 3\n")
    assert run_doctor() == {
        "settings": (
            "broken",
            "assayer.toml, line 2: unknown setting evaluation.concurency. Did you mean evaluation.concurrency?",
        )
    }
