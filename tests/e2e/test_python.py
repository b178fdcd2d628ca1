"""Evaluations and rankings in a Python program, as docs/use/python.md shows them."""

import doctest
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assayer import AssayerError, EvaluationReport, check, check_async, evaluate, rank, rank_async
from tests.e2e.evaluations import SOUND_SEED
from tests.e2e.program import IDEAS, ROOT, Homes, read_reports, run_simulator

IDEA = IDEAS / "quote-then-abstain.md"


@pytest.fixture(scope="module")
def home(homes: Homes) -> Iterator[Path]:
    """Working directory of a program that has settings, a corpus, a key and an endpoint."""
    program = homes.create_home("python")
    shutil.copy(IDEA, program.home / "proposal.md")
    shutil.copytree(IDEAS, program.home / "proposals")
    with (
        run_simulator(latency_mean=0, seed=SOUND_SEED, models=["gpt-6-luna"]) as simulated,
        pytest.MonkeyPatch.context() as patch,
    ):
        for name in [name for name in os.environ if name.startswith(("ASSAYER_", "OPENAI_"))]:
            patch.delenv(name)
        patch.chdir(program.home)
        values = {
            **program.settings,
            "ASSAYER_HOME": str(program.home),
            "ASSAYER_RELEASE__CLAIMS_SUPPORTED": "0",
            "ASSAYER_RELEASE__JUDGED": "0",
            "OPENAI_API_KEY": "sk-test",
            "OPENAI_BASE_URL": simulated.base_url,
        }
        for name, value in values.items():
            patch.setenv(name, value)
        yield program.home


class _AnyNumber(doctest.OutputChecker):
    """Checker for which the numbers of the page are examples."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return super().check_output(_mask_numbers(want), _mask_numbers(got), optionflags)


def _mask_numbers(text: str) -> str:
    return re.sub(r"\d+(\.\d+)?", "0", text)


def test_page_shows_what_happens(home: Path) -> None:
    page = (ROOT / "docs" / "use" / "python.md").read_text("utf-8")
    session = "".join(re.findall(r"```python\n(.*?)```", page, re.DOTALL))
    example = doctest.DocTestParser().get_doctest(session, {}, "python.md", None, 0)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    results = doctest.DocTestRunner(_AnyNumber(), optionflags=flags).run(example)
    assert (results.failed, results.attempted) == (0, 15)


def test_block_of_the_readme_runs(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    exec(block, {})  # noqa: S102 - it is ours
    assert re.match(r"[\d.]+ of 10\nReportFinding\(", capsys.readouterr().out)


async def test_evaluates_a_text_while_an_event_loop_runs_and_reports_progress(home: Path) -> None:
    stages: dict[str, tuple[int, int]] = {}

    def progress(stage: str, done: int, total: int) -> None:
        stages[stage] = (done, total)

    report = evaluate(IDEA.read_text("utf-8"), model="openai/gpt-6-luna", progress=progress, out=home / "written")
    assert stages
    assert all(done == total for done, total in stages.values())
    assert {file.name for file in report.files} == {"text.html", "text.md", "text.json"}
    (written,) = read_reports(home / "written").values()
    assert report.to_dict() == written
    assert report.scores.keys() == {part["name"] for part in written["parts"]}
    assert {finding.kind for finding in report.findings} >= {"strength", "weakness"}
    assert any(finding.papers for finding in report.findings)
    assert str(home) not in report.to_html()


async def test_ranks_texts_and_files_and_reports_progress(home: Path) -> None:
    stages: list[tuple[str, int, int]] = []
    ranking = await rank_async(
        [IDEA.read_text("utf-8"), *(file for file in IDEAS.iterdir() if file != IDEA)],
        model="openai/gpt-6-luna",
        shortlist_size=1,
        progress=lambda *step: stages.append(step),
        out=home / "ranked",
    )
    assert [proposal.rank for proposal in ranking.proposals] == [1, 2, 3]
    assert {Path(proposal.source).name for proposal in ranking.proposals} == {
        "text",
        *(file.name for file in IDEAS.iterdir() if file != IDEA),
    }
    assert all(proposal.low <= proposal.rank <= proposal.high for proposal in ranking.proposals)
    assert all(proposal.band in {"in", "out", "human"} for proposal in ranking.proposals)
    assert stages[-1][0] == "comparisons"
    assert stages[-1][1] == stages[-1][2] == ranking.to_dict()["judge"]["comparisons"]
    assert {file.name for file in ranking.files} == {
        *("ranking.html", "ranking.md", "ranking.csv", "ranking.json", "comparisons.jsonl")
    }
    assert ranking.to_dict() == json.loads((home / "ranked" / "ranking.json").read_text("utf-8"))
    assert ranking.to_html() == (home / "ranked" / "ranking.html").read_text("utf-8")
    assert list(ranking.to_pandas()["rank"]) == [1, 2, 3]
    assert ranking._repr_html_().startswith('<iframe srcdoc="')
    assert ranking.notices


def test_ranking_without_a_language_model_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(AssayerError, match="needs a language model"):
        rank([IDEA, IDEA])


def test_ranking_names_every_proposal_that_cannot_be_read(home: Path) -> None:
    with pytest.raises(AssayerError, match=r"The text has 3 words.*missing\.md does not exist"):
        rank(["bees on flowers", "missing.md", IDEA], model="openai/gpt-6-luna")


@pytest.fixture(scope="module")
def evaluation_report(home: Path) -> EvaluationReport:
    return check(IDEA)


async def test_async_form_gives_the_same_report_and_reports_progress(evaluation_report: EvaluationReport) -> None:
    stages: dict[str, tuple[int, int]] = {}
    report = await check_async(str(IDEA), progress=lambda stage, done, total: stages.update({stage: (done, total)}))
    assert stages
    assert all(done == total for done, total in stages.values())
    assert {**report.to_dict(), "usage": None} == {**evaluation_report.to_dict(), "usage": None}


def test_report_shows_itself_in_a_notebook(evaluation_report: EvaluationReport) -> None:
    html = evaluation_report._repr_html_()
    assert html.startswith('<iframe srcdoc="&lt;!doctype html')
    assert html.count('"') == 6


def test_folder_with_several_proposals_is_refused(home: Path) -> None:
    with pytest.raises(AssayerError, match="contains 3 proposals"):
        check(IDEAS)


def test_short_text_is_refused_without_the_name_of_a_temporary_file(home: Path) -> None:
    with pytest.raises(AssayerError, match=r"^The text has 3 words"):
        check("bees on flowers")


def test_unset_corpus_is_named(home: Path) -> None:
    with pytest.raises(AssayerError, match="There is no corpus in nowhere"):
        check(IDEA, corpus="nowhere")


def test_missing_pandas_is_named(evaluation_report: EvaluationReport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(AssayerError, match=r"assayer-research\[pandas\]"):
        evaluation_report.to_pandas()
