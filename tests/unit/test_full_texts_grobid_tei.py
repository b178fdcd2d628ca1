"""GROBID's TEI is read into sections and references; hostile XML is refused."""

from typing import Any

import psutil
import pytest

from assayer.errors import Unreadable
from assayer.methods.scholareval.paper_evidence import select_methods_and_results
from simulator.outside.library import Library
from simulator.outside.sample import SAMPLE
from simulator.outside.teis import ENTITY_BOMB, build_paper_tei
from tests.unit.tei_files import REAL_TEI, make_tei_document, needs_real_tei
from workers.documents import PdfLimits
from workers.full_texts.grobid_tei import MAX_TEI_BYTES, parse_tei
from workers.full_texts.tei_reader import TeiReader

REFERENCES_OF_THE_REAL_PAPER = 49
"""Counted in its PDF."""


@needs_real_tei
def test_real_paper_has_its_sections() -> None:
    paper = parse_tei(REAL_TEI.read_bytes())
    titles = [section.title for section in paper.sections]
    assert titles == [
        "Abstract", "Background", "Methods", "Results", "Discussion", "Conclusions", "Competing interests",
    ]  # fmt: skip
    texts = {section.title: section.text for section in paper.sections}
    assert texts["Abstract"].startswith("Background: Functional Electrical Stimulation (FES)")
    assert texts["Methods"].startswith("This section is divided into three main sub-sections.")
    assert "\n\nExperimental protocol\n\n" in texts["Methods"]
    assert texts["Methods"].endswith("statistically significant for values of p < 0.05.")
    assert texts["Results"].startswith("We explored 1440 stimulation patterns")
    assert "Selectivity with optimal stimulation pattern" in texts["Results"]
    assert [section.title for section in select_methods_and_results(paper.sections)] == [
        "Methods",
        "Results",
        "Discussion",
    ]
    assert (paper.parser, paper.version) == ("grobid", "0.6.1")
    assert paper.title.startswith("Multi-contact functional electrical stimulation for hand opening:")


@needs_real_tei
def test_real_paper_references_are_extracted_with_metadata() -> None:
    references = parse_tei(REAL_TEI.read_bytes()).references
    assert len(references) >= 0.95 * REFERENCES_OF_THE_REAL_PAPER
    assert all(reference.title and reference.authors and reference.year for reference in references)
    assert sum(bool(reference.doi) for reference in references) == 47
    first = references[0]
    assert first.title.startswith("The influence of functional electrical stimulation on hand motor recovery")
    assert first.authors == ("Fanny Quandt", "Friedhelm C Hummel")
    assert (first.year, first.doi) == (2014, "10.1186/2040-7378-6-9")


def test_simulated_papers_are_parsed_back_with_references() -> None:
    library = Library(SAMPLE)
    for entry in library.entries:
        cited = library.list_references(entry)
        paper = parse_tei(build_paper_tei(entry, cited, "0.9.1").encode())
        assert (paper.title, paper.version) == (entry.record.title, "0.9.1")
        assert [section.title for section in paper.sections][:2] == ["Abstract", "Introduction"]
        assert [reference.title for reference in paper.references] == [item.record.title for item in cited]
        assert [reference.doi for reference in paper.references] == [item.doi for item in cited]
        assert all(reference.raw for reference in paper.references)


def test_formulas_and_lists_become_text_and_tables_are_omitted() -> None:
    paper = parse_tei(
        make_tei_document(
            "<div><head n='1'>Method</head><p>We add.</p><formula>a + b</formula><list><item>one</item></list></div>"
            "<figure type='table'><head>Table 2 :</head><label>2</label><figDesc>What was added.</figDesc>"
            "<table><row><cell>7</cell></row></table></figure>"
        )
    )
    (section,) = paper.sections
    assert section.text == "We add.\n\na + b\n\none"


@pytest.mark.parametrize(
    ("document", "cause"),
    [
        pytest.param(ENTITY_BOMB.encode(), "markup", id="entity bomb"),
        pytest.param(ENTITY_BOMB.encode("utf-16"), "markup", id="entity bomb in another encoding"),
        pytest.param(b'<!DOCTYPE TEI SYSTEM "http://127.0.0.1:1/x.dtd"><TEI/>', "markup", id="foreign DTD"),
        pytest.param(b"<html><body>Sign in</body></html>", "markup", id="a page"),
        pytest.param(b"[NO_BLOCKS]", "markup", id="no XML"),
        pytest.param(make_tei_document("")[:-20], "markup", id="cut short"),
        pytest.param(b"<TEI>" + b"<a>" * 3_000, "markup", id="nested too deeply"),
        pytest.param(b" " * (MAX_TEI_BYTES + 1), "too_large", id="too large"),
        pytest.param(make_tei_document("<div><head>Methods</head></div>"), "no_text", id="headings only"),
    ],
)
def test_hostile_or_empty_xml_is_refused_with_its_cause(document: bytes, cause: str) -> None:
    with pytest.raises(Unreadable) as raised:
        parse_tei(document)
    assert raised.value.cause == cause


async def test_tei_reader_subprocess_returns_the_same_results_and_errors() -> None:
    reader = TeiReader(PdfLimits(), 1)
    document = make_tei_document("<div><head>A heading</head><p>Words of it.</p></div>")
    assert await reader.read(document, "The TEI of a paper") == parse_tei(document)
    with pytest.raises(Unreadable, match="The TEI of a paper declares") as raised:
        await reader.read(ENTITY_BOMB.encode(), "The TEI of a paper")
    assert raised.value.cause == "markup"


@pytest.mark.parametrize("form", [None, "json", "markdown"])
@pytest.mark.parametrize(
    ("limits", "causes"),
    [
        ({"wall_seconds": 0.001}, {"time"}),
        ({"memory_bytes": 60_000_000}, {"memory", "broken_parser"}),
        ({"characters": 1}, {"too_much_text"}),
    ],
)
async def test_tei_parsing_or_conversion_over_its_limits_is_stopped_and_process_removed(
    form: Any, limits: dict[str, Any], causes: set[str]
) -> None:
    text, reader = (
        make_tei_document("<div><head>A</head><p>" + "word " * 300_000 + "</p></div>"),
        TeiReader(PdfLimits(**limits), 1),
    )
    with pytest.raises(Unreadable) as raised:
        await (reader.convert(text, form, "The TEI of a paper") if form else reader.read(text, "The TEI of a paper"))
    assert raised.value.cause in causes
    function = "workers.sandbox.tei_converter:convert" if form else "workers.full_texts.grobid_tei:parse_tei"
    assert not [child for child in psutil.Process().children() if function in child.cmdline()]
