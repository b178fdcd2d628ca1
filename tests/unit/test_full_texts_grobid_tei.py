"""GROBID's TEI is read into sections, references and captions; hostile XML is refused."""

from pathlib import Path
from typing import Any

import psutil
import pytest

from assayer.errors import Unreadable
from assayer.methods.scholareval.paper_evidence import methods_and_results
from benchmarks.simulator.outside.library import Library
from benchmarks.simulator.outside.sample import SAMPLE
from benchmarks.simulator.outside.teis import ENTITY_BOMB, paper_tei
from workers.documents import PdfLimits
from workers.full_texts.grobid_tei import MAX_TEI_BYTES, parse_tei
from workers.full_texts.tei_reader import TeiReader

REAL = Path(__file__).parents[3] / "shared" / "data" / "grobid" / "paper.tei.xml"
REFERENCES_OF_THE_REAL_PAPER = 49
"""Counted in its PDF."""

real = pytest.mark.skipif(not REAL.exists(), reason="the data folder beside the clone is missing")


def tei(body: str, back: str = "", head: str = "") -> bytes:
    return (
        f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader>{head}</teiHeader>'
        f"<text><body>{body}</body><back>{back}</back></text></TEI>"
    ).encode()


@real
def test_real_paper_has_its_sections() -> None:
    paper = parse_tei(REAL.read_bytes())
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
    assert [section.title for section in methods_and_results(paper.sections)] == ["Methods", "Results", "Discussion"]
    assert (paper.parser, paper.version) == ("grobid", "0.6.1")
    assert paper.title.startswith("Multi-contact functional electrical stimulation for hand opening:")


@real
def test_real_paper_has_all_its_references_with_what_grobid_knows_of_them() -> None:
    references = parse_tei(REAL.read_bytes()).references
    assert len(references) >= 0.95 * REFERENCES_OF_THE_REAL_PAPER
    assert all(one.title and one.authors and one.year for one in references)
    assert sum(bool(one.doi) for one in references) == 47
    first = references[0]
    assert first.title.startswith("The influence of functional electrical stimulation on hand motor recovery")
    assert first.authors == ("Fanny Quandt", "Friedhelm C Hummel")
    assert (first.year, first.doi) == (2014, "10.1186/2040-7378-6-9")


@real
def test_real_paper_has_its_captions() -> None:
    captions = parse_tei(REAL.read_bytes()).captions
    assert [(one.kind, one.label) for one in captions] == [
        ("figure", "2"), ("figure", "3, 4"), ("figure", "5"), ("figure", "6"),
    ]  # fmt: skip
    assert captions[0].text.startswith("M-waves during the scanning procedure")


def test_simulated_papers_come_back_as_they_were_made() -> None:
    library = Library(SAMPLE)
    for entry in library.entries:
        cited = library.references(entry)
        paper = parse_tei(paper_tei(entry, cited, "0.9.1").encode())
        assert (paper.title, paper.version) == (entry.record.title, "0.9.1")
        assert [section.title for section in paper.sections][:2] == ["Abstract", "Introduction"]
        assert [one.title for one in paper.references] == [one.record.title for one in cited]
        assert [one.doi for one in paper.references] == [one.doi for one in cited]
        assert all(one.raw for one in paper.references)
        (caption,) = paper.captions
        assert caption.text == f"What the experiments of {entry.record.title} show."


def test_formulas_lists_and_table_captions_are_kept_apart_from_figures() -> None:
    paper = parse_tei(
        tei(
            "<div><head n='1'>Method</head><p>We add.</p><formula>a + b</formula><list><item>one</item></list></div>"
            "<figure type='table'><head>Table 2 :</head><label>2</label><figDesc>What was added.</figDesc>"
            "<table><row><cell>7</cell></row></table></figure>"
        )
    )
    (section,) = paper.sections
    assert section.text == "We add.\n\na + b\n\none"
    (caption,) = paper.captions
    assert (caption.kind, caption.label, caption.text) == ("table", "2", "What was added.")


@pytest.mark.parametrize(
    ("document", "cause"),
    [
        pytest.param(ENTITY_BOMB.encode(), "markup", id="entity bomb"),
        pytest.param(ENTITY_BOMB.encode("utf-16"), "markup", id="entity bomb in another encoding"),
        pytest.param(b'<!DOCTYPE TEI SYSTEM "http://127.0.0.1:1/x.dtd"><TEI/>', "markup", id="foreign DTD"),
        pytest.param(
            b'<!DOCTYPE TEI [<!ENTITY x SYSTEM "file:///etc/passwd">]><TEI>&x;</TEI>', "markup", id="foreign entity"
        ),
        pytest.param(b"<html><body>Sign in</body></html>", "markup", id="a page"),
        pytest.param(b"[NO_BLOCKS]", "markup", id="no XML"),
        pytest.param(tei("")[:-20], "markup", id="cut short"),
        pytest.param(b"<TEI>" + b"<a>" * 3_000, "markup", id="nested too deeply"),
        pytest.param(b" " * (MAX_TEI_BYTES + 1), "too_large", id="too large"),
        pytest.param(tei("<div><head>Methods</head></div>"), "no_text", id="headings only"),
    ],
)
def test_hostile_or_empty_xml_is_refused_with_its_cause(document: bytes, cause: str) -> None:
    with pytest.raises(Unreadable) as refused:
        parse_tei(document)
    assert refused.value.cause == cause


async def test_tei_is_read_in_a_process_of_its_own_and_refused_in_the_same_words() -> None:
    reader = TeiReader(PdfLimits(), 1)
    whole = tei("<div><head>A heading</head><p>Words of it.</p></div>")
    assert await reader.read(whole, "The TEI of a paper") == parse_tei(whole)
    with pytest.raises(Unreadable, match="The TEI of a paper declares") as refused:
        await reader.read(ENTITY_BOMB.encode(), "The TEI of a paper")
    assert refused.value.cause == "markup"


@pytest.mark.parametrize(
    ("limits", "causes"),
    [
        ({"wall_seconds": 0.001}, {"time"}),
        ({"memory_bytes": 60_000_000}, {"memory", "broken_parser"}),
        ({"characters": 1}, {"too_much_text"}),
    ],
)
async def test_tei_that_takes_more_than_it_may_is_unreadable_and_its_process_is_gone(
    limits: dict[str, Any], causes: set[str]
) -> None:
    text = tei("<div><head>A</head><p>" + "word " * 300_000 + "</p></div>")
    with pytest.raises(Unreadable) as refused:
        await TeiReader(PdfLimits(**limits), 1).read(text, "The TEI of a paper")
    assert refused.value.cause in causes
    assert not [one for one in psutil.Process().children() if "workers.sandbox.tei_parser" in one.cmdline()]


def test_heads_of_very_many_figures_are_read_in_time() -> None:
    text = tei(
        "<div><head>A</head><p>Words.</p></div><figure><head>" + "Fig. 1 " * 200_000 + "It shows.</head></figure>"
    )
    (caption,) = parse_tei(text).captions
    assert caption.text == "It shows."
