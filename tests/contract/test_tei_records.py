"""GROBID's TEI becomes records whose passages carry what they cite."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from assayer.errors import InputError, Unreadable
from assayer.models import OPEN
from cluster.cli.main import app
from cluster.corpora.tei_records import list_tei_files, parse_tei_record, write_tei_records
from index import Corpus, build_corpus
from tests.corpus_papers import write_jsonl
from tests.unit.tei_files import REAL_TEI, make_tei_document, needs_real_tei
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.full_texts.cited_places import read_citing_paper
from workers.full_texts.grobid_tei import parse_tei

HEAD = (
    "<fileDesc><titleStmt><title>Moths on unlit roads</title></titleStmt><publicationStmt><date when='2020-05-06'/>"
    "</publicationStmt><sourceDesc><biblStruct><analytic><author><persName><forename>Ada</forename><surname>Field"
    "</surname></persName></author></analytic><idno type='DOI'>10.1234/Moth</idno></biblStruct></sourceDesc></fileDesc>"
    "<profileDesc><abstract><p>Moths were counted <ref type='bibr' target='#b0'>[1]</ref>.</p></abstract></profileDesc>"
)
BODY = (
    "<div><head>Methods</head><p>We walked as in <ref type='bibr' target='#b0'>[1]</ref> and "
    "<ref type='bibr' target='#b9'>[10]</ref>, see <ref type='figure' target='#b0'>Fig. 1</ref>.</p></div>"
    "<div><head>Results</head><p>Fewer than before <ref type='bibr' target='#b1'>[2]</ref>"
    "<ref type='bibr'>[?]</ref>.</p></div>"
)
BACK = (
    "<div type='references'><listBibl><biblStruct xml:id='b0'><analytic><title level='a'>Walks</title><idno type='DOI'>"
    "10.1234/walks</idno></analytic></biblStruct><biblStruct xml:id='b1'><analytic><title level='a'>Counts of moths "
    "along lit roads</title></analytic><monogr><imprint><date when='2011'/></imprint></monogr></biblStruct>"
    "</listBibl></div>"
)
PAPER = make_tei_document(BODY, BACK, HEAD)


def test_citation_marks_point_to_their_text() -> None:
    record = parse_tei_record(PAPER, "moth-1")
    texts = [section.text for section in record.sections]
    marked = [[texts[place.section][place.character :][:3] for place in work.at] for work in record.cited_in_text]
    assert marked == [["[1]"], ["[2]"]]
    assert record.title == "Moths on unlit roads"
    assert record.abstract == "Moths were counted [1]."
    assert record.authors == ("Ada Field",)
    assert (str(record.publication_date), record.identifiers.doi) == ("2020-05-06", "10.1234/moth")
    assert [(work.doi, work.year) for work in record.cited_in_text] == [("10.1234/walks", None), ("", 2011)]


def test_citation_marks_leave_the_text_unchanged() -> None:
    hostile = PAPER.replace(b"We walked", "We \ue0000\ue001\ue00099999\ue001walked".encode())
    assert read_citing_paper(PAPER).paper == parse_tei(PAPER)
    (methods,) = (section.text for section in read_citing_paper(hostile).paper.sections if section.title == "Methods")
    assert methods.startswith("We 099999walked as in [1]")


@needs_real_tei
def test_all_citation_marks_of_a_real_paper_are_located() -> None:
    tei_bytes = REAL_TEI.read_bytes()
    citing = read_citing_paper(tei_bytes)
    places = [place for work in citing.cited for place in work.at]
    assert citing.paper.sections == parse_tei(tei_bytes).sections
    assert (len(citing.cited), len(places)) == (49, tei_bytes.count(b'<ref type="bibr"'))
    assert {citing.paper.sections[place.section].text[place.character] for place in places} <= set("[0123456789")
    assert sum(len(work.at) for work in parse_tei_record(tei_bytes, "fes-1").cited_in_text) == len(places)


async def test_corpus_built_from_tei_links_passages_to_cited_papers(tmp_path: Path) -> None:
    (tmp_path / "teis").mkdir()
    (tmp_path / "teis" / "moth-1.grobid.tei.xml").write_bytes(PAPER)
    (tmp_path / "teis" / "broken.tei.xml").write_bytes(PAPER[:-10])
    (tmp_path / "teis" / "bare.tei.xml").write_bytes(make_tei_document(BODY, BACK))
    made = write_tei_records(list_tei_files(tmp_path / "teis"), tmp_path / "full.jsonl")
    assert (made.written, made.works, made.places) == (1, 2, 2)
    assert [item.partition(":")[0] for item in made.refused] == ["bare.tei.xml", "broken.tei.xml"]
    cited: list[dict[str, Any]] = [
        {"id": "walks", "title": "Walks", "abstract": "How to walk.", "doi": "10.1234/walks"},
        {"id": "counts", "title": "Counts of Moths along Lit Roads", "abstract": "Few.", "year": 2012},
    ]
    other_records = write_jsonl(tmp_path / "cited.jsonl", cited)
    await build_corpus([tmp_path / "full.jsonl", other_records], tmp_path / "corpus", HashingEmbedder())
    (snippets,) = await Corpus.open(tmp_path / "corpus", HashingEmbedder()).snippets(["moths walked"], 20, OPEN)
    assert {item.section: item.cites for item in snippets if item.paper.id == "moth-1"} == {
        "abstract": (),
        "Methods": ("walks",),
        "Results": ("counts",),
    }


def test_command_reports_written_and_rejected_files(tmp_path: Path) -> None:
    (tmp_path / "moth-1.tei.xml").write_bytes(PAPER)
    (tmp_path / "scan.xml").write_bytes(b"<html/>")
    target = tmp_path / "full.jsonl"
    result = CliRunner().invoke(app, ["corpus", "ingest", "tei", str(tmp_path), "--to", str(target)])
    assert result.exit_code == 0, result.output
    assert "cite 2 works in 2 places" in " ".join(result.output.split())
    assert "scan.xml" in result.output
    assert json.loads(target.read_text())["id"] == "moth-1"
    result = CliRunner().invoke(app, ["corpus", "ingest", "tei", str(tmp_path), "--to", str(target), "--json"])
    document = json.loads(result.stdout)
    assert (document["file"], document["written"], document["works"]) == (str(target), 1, 2)
    assert "scan.xml" in document["refused"][0]


def test_existing_output_file_is_kept_when_every_input_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "scan.xml").write_bytes(b"<html/>")
    target = tmp_path / "full.jsonl"
    target.write_text("last month's\n")
    result = CliRunner().invoke(app, ["corpus", "ingest", "tei", str(tmp_path), "--to", str(target)])
    assert isinstance(result.exception, InputError)
    assert f"nothing was written to {target}" in str(result.exception)
    assert "scan.xml" in result.output
    assert target.read_text() == "last month's\n"


def test_unwritable_output_path_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "moth-1.tei.xml").write_bytes(PAPER)
    with pytest.raises(InputError, match="cannot be written: No such file"):
        write_tei_records(list_tei_files(tmp_path), tmp_path / "none" / "full.jsonl")


def test_missing_and_invalid_tei_files_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="contains no TEI files"):
        list_tei_files(tmp_path)
    with pytest.raises(Unreadable):
        parse_tei_record(b"<TEI", "x")
