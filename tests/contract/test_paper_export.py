"""`assayer paper`: full texts as GROBID reads them, from files, addresses and the store; and GROBID's own converters
as an oracle for our reading of TEI."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cluster import settings_loading
from cluster.cli.main import app
from simulator.outside.library import Library
from simulator.outside.pdfs import build_paper_pdf
from simulator.outside.process import OutsideWorld
from simulator.outside.sample import SAMPLE
from simulator.outside.teis import ENTITY_BOMB, build_paper_tei
from tests.constants import CONSTANTS
from tests.e2e.program import Program, build_full_text_settings
from tests.unit.tei_files import REAL_TEI, make_tei_document, needs_real_tei
from workers.documents import PdfLimits
from workers.full_texts.grobid_tei import parse_tei
from workers.full_texts.tei_reader import TeiReader
from workers.sandbox.tei_converter import convert

LIBRARY = Library(SAMPLE)
ENTRIES = LIBRARY.entries[:12]
TEIS = [build_paper_tei(entry, LIBRARY.list_references(entry), "0.9.1").encode() for entry in ENTRIES]
NAME = "grobid_1"


@pytest.fixture
def configured_world(world: OutsideWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> OutsideWorld:
    """GROBID and hosts of PDFs, set for commands that run in an empty folder."""
    settings = {
        **build_full_text_settings(world),
        "GROBID__URLS": world.url("grobid-1"),
        "HOME": str(tmp_path / "home"),
    }
    for name, value in settings.items():
        monkeypatch.setenv(f"ASSAYER_{name}", value)
    monkeypatch.setattr(settings_loading, "SETTABLE", CONSTANTS)
    monkeypatch.chdir(tmp_path)
    return world


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["paper", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, " ".join(result.stderr.split())


def find_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def test_pdf_is_read_once_and_saved_in_each_form(configured_world: OutsideWorld) -> None:
    entry = ENTRIES[0]
    Path("bees.pdf").write_bytes(build_paper_pdf(entry, LIBRARY.list_references(entry)))
    code, out, _ = run("bees.pdf", "--format", "tei", "--format", "json", "--format", "markdown")
    assert (code, out.split()) == (0, ["out/bees.tei.xml", "out/bees.json", "out/bees.md"])
    saved = Path("out/bees.tei.xml").read_bytes()
    assert parse_tei(saved).title == entry.record.title
    assert json.loads(Path("out/bees.json").read_text())["biblio"]["title"] == entry.record.title
    assert Path("out/bees.md").read_text().startswith(f"# {entry.record.title}\n")
    assert run("bees.pdf", "--out", "again")[0] == 0
    assert configured_world.read_stats(NAME).by_operation["process_fulltext_document"] == 1


def test_previously_parsed_paper_is_served_without_a_server(
    configured_world: OutsideWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (build_paper_pdf(entry, LIBRARY.list_references(entry)) for entry in ENTRIES[:2])
    Path("first.pdf").write_bytes(first)
    Path("second.pdf").write_bytes(second)
    assert run("first.pdf", "--format", "tei")[0] == 0
    monkeypatch.delenv("ASSAYER_GROBID__URLS")
    code, out, err = run("first.pdf", "second.pdf", "--out", "later")
    assert (code, out.split()) == (1, ["later/first.md"])
    assert "second.pdf has not been read by GROBID, and no GROBID server is configured. Set ASSAYER_GROBID__URLS" in err


def test_preprint_is_fetched_by_its_id_and_by_the_address_of_its_pdf(configured_world: OutsideWorld) -> None:
    entry = next(item for item in LIBRARY.entries if item.arxiv)
    assert run(f"arXiv:{entry.arxiv}", "--format", "json")[0] == 0
    document = json.loads(Path(f"out/arXiv_{entry.arxiv}.json").read_text())
    assert document["biblio"]["title"] == entry.record.title
    code, _, err = run(configured_world.url(f"files/arxiv/{entry.arxiv}"))
    assert (code, err) == (0, "")
    assert Path(f"out/{entry.arxiv}.md").read_text().startswith(f"# {entry.record.title}\n")


def test_failures_are_reported_individually_and_other_papers_saved(
    configured_world: OutsideWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("good.tei.xml").write_bytes(TEIS[0])
    Path("bomb.xml").write_text(ENTITY_BOMB)
    Path("page.pdf").write_text("<html>Sign in</html>")
    code, out, err = run("good.tei.xml", "bomb.xml", "page.pdf", "gone.pdf", "10.1000/paid", "whatever")
    assert (code, out.split()) == (1, ["out/good.md"])
    assert "The TEI of bomb.xml declares a document type or entities" in err
    assert "page.pdf is named as a PDF file but is not one." in err
    assert "gone.pdf cannot be read: No such file" in err
    assert "No free copy of 10.1000/paid is known. Pass the URL of its PDF" in err
    assert "'whatever' is not a PDF file, a TEI file, a URL, an arXiv id or a DOI." in err
    monkeypatch.setenv("ASSAYER_FULL_TEXTS__FETCH", "false")
    code, _, err = run("2401.01234")
    assert (code, "cannot be downloaded, because downloading full texts is disabled" in err) == (2, True)


def test_papers_with_the_same_file_name_do_not_overwrite_each_other(configured_world: OutsideWorld) -> None:
    for folder, text in (("a", TEIS[0]), ("b", TEIS[1])):
        Path(folder).mkdir()
        Path(folder, "paper.tei.xml").write_bytes(text)
    assert run("a/paper.tei.xml", "b/paper.tei.xml")[1].split() == ["out/paper.md", "out/paper-2.md"]


def test_without_grobid_extra_only_tei_is_saved_and_extra_is_named(tmp_path: Path) -> None:
    (tmp_path / "paper.tei.xml").write_bytes(TEIS[0])
    program = replace(Program(tmp_path), settings={"ASSAYER_HOME": str(tmp_path / "home")}).without_extras()
    saved = program.run("paper", "paper.tei.xml", "--format", "tei")
    assert (saved.code, saved.out.split()) == (0, ["out/paper.tei.xml"]), saved.err
    result = program.run("paper", "paper.tei.xml")
    assert result.code == 2
    assert "needs grobid_client, which is not installed." in result.err
    assert "pip install 'assayer-research[grobid]'" in result.err


async def test_conversion_of_the_same_tei_is_deterministic() -> None:
    reader = TeiReader(PdfLimits(), 2)
    first, second = [await reader.convert(TEIS[0], "json", "x") for _ in range(2)]
    assert first == second


def test_paper_text_is_escaped_in_markdown() -> None:
    hostile = "Look &lt;img src=x onerror=alert(1)&gt; ![a](http://tracker.example/p.png) [b]: http://tracker.example"
    output = convert(make_tei_document(f"<div><head>A &lt;b&gt;</head><p>{hostile}</p></div>"), "markdown", "The TEI")
    assert "<img" not in output
    assert "<b>" not in output
    assert "](" not in output
    assert "]:" not in output


def read_oracle(text: bytes) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(convert(text, "json", "The TEI"))
    return document


@pytest.mark.parametrize(
    "text", [*TEIS, pytest.param(REAL_TEI, marks=needs_real_tei)], ids=[*map(str, range(len(TEIS))), "real"]
)
def test_parsed_tei_matches_grobid_converter_output(text: bytes | Path) -> None:
    """Title, abstract, every passage of the body in its section's order, and what each reference is."""
    text = text.read_bytes() if isinstance(text, Path) else text
    oracle_paper, own_paper = read_oracle(text), parse_tei(text)
    assert own_paper.title == " ".join(oracle_paper["biblio"]["title"].split())
    sections = {section.title: section.text for section in own_paper.sections}
    assert find_words(sections["Abstract"]) == find_words(
        " ".join(their["text"] for their in oracle_paper["biblio"]["abstract"])
    )
    all_words = " ".join(find_words("\n".join(section.text for section in own_paper.sections)))
    position = 0
    for passage in oracle_paper["body_text"]:
        if wanted := " ".join(find_words(passage["text"])):
            found = all_words.find(wanted, position)
            assert found >= 0, passage["text"]
            position = found
    assert len(own_paper.references) == len(oracle_paper["references"])
    for work, entry in zip(own_paper.references, oracle_paper["references"], strict=True):
        assert find_words(work.title) == find_words(entry.get("title", ""))
        assert work.doi == entry.get("doi", "").lower()
        assert work.year == entry.get("year")
        authors = entry.get("authors", [])
        authors = [authors] if isinstance(authors, str) else authors  # a single one is no list there
        assert [find_words(author)[-1] for author in work.authors] == [find_words(author)[-1] for author in authors]
