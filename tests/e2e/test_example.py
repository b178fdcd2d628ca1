"""`assayer example`: a first report without a key and without a corpus of one's own."""

import json

import pytest

from tests.e2e.program import Homes, read_reports


@pytest.mark.slow  # embeds all papers
def test_example_writes_a_report_with_literature_without_changing_the_own_corpus(homes: Homes) -> None:
    program = homes.create_bare_home("example").with_settings(EMBEDDER__MAX_TOKENS=32)
    result = program.run("example")
    assert result.code == 0, result.err
    assert "Built: 84 papers" in result.out
    (report,) = read_reports(program.home / "example" / "report").values()
    assert (report["coverage"]["corpus_fit"]["level"], len(report["references"]) > 5) == ("good", True)
    assert [notice["kind"] for notice in report["notices"]][:2] == ["example", "no_llm"]
    assert not (program.home / "corpus").exists()
    assert "assayer corpus build library.bib" in result.out
    assert "has no scores" in result.out
    assert "evaluate proposal.md\n" in result.out  # no model that the settings do not name
    again = program.run("example", "--json")
    assert (again.code, len(json.loads(again.out)["reports"])) == (0, 1)
