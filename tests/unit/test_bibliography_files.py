"""Bibliographies as reference managers export them, and the paper records made of them."""

import csv
import json
from pathlib import Path

import pytest

from assayer.errors import InputError
from assayer.reference_lists.bibliography_files import read_bibliography
from cluster.corpora.bibliography_records import write_bibliography_records

BIBTEX = r"""A comment @ the top
@article{rab86, author={Rabindra, Lavanya and {CERN and Friends}}, title={Hidden {M}arkov models}, year=1986,
 journal={IEEE}, abstract={We introduce them.}, doi={10.1000/hmm}}
@article{broken, title={x
@misc{mal97, title="Large {$N$} limits", author={Maldonaro, J}, eprint={hep-th/9711299}, archivePrefix={arXiv},
 year=1997}
"""
RIS = """TY  - JOUR
AU  - Rabindra, Lavanya
A2  - Editor, An
TI  - Hidden Markov models
T2  - IEEE
PY  - 1986/03/01
DO  - 10.1000/hmm
AB  - We introduce them.
ER  -
TY  - BOOK
A1  - Maldonaro, J
T1  - Large N limits
Y1  - 1997
ER  -
"""
CSL = json.dumps(
    [
        {
            "id": "rab86",
            "title": "Hidden <i>Markov</i> models",
            "author": [{"family": "Rabindra", "given": "Lavanya"}, {"literal": "CERN"}],
            "issued": {"date-parts": [["1986", 3, 1]]},
            "DOI": "10.1000/hmm",
            "container-title": "IEEE",
            "abstract": "We introduce them.",
        },
        {"id": "mal97", "title": "Large N limits", "author": [], "issued": {"raw": "1997"}},
    ]
)
ZOTERO = (
    '"Key","Item Type","Publication Year","Author","Title","Publication Title","DOI","Url","Abstract Note","Date"\n'
    '"A","journalArticle","1986","Rabindra, Lavanya; CERN","Hidden Markov models","IEEE","10.1000/hmm","","We '
    'introduce them.","1986-03-01"\n"B","book","1997","Maldonaro, J","Large N limits","","","","",""\n'
)
FORMATS = {"BibTeX": BIBTEX, "RIS": RIS, "CSL JSON": CSL, "Zotero's CSV": ZOTERO}


@pytest.mark.parametrize("name", FORMATS)
def test_bibliography_format_is_detected_from_content(name: str) -> None:
    first, second = read_bibliography(FORMATS[name], "library").entries
    assert (first.work.title, first.work.year, first.work.doi) == ("Hidden Markov models", 1986, "10.1000/hmm")
    assert first.work.authors[0] == "Lavanya Rabindra"
    assert (first.abstract, first.venue) == ("We introduce them.", "IEEE")
    assert (second.work.title, second.work.year) == ("Large N limits", 1997)


def test_broken_bibtex_entry_is_reported_and_others_are_read() -> None:
    read = read_bibliography(BIBTEX, "library.bib")
    assert [entry.key for entry in read.entries] == ["rab86", "mal97"]
    assert [entry[:15] for entry in read.unparsed_entries] == ["@article{broken"]
    assert read.entries[0].work.authors == ("Lavanya Rabindra", "CERN and Friends")
    assert read.entries[1].work.arxiv == "hep-th/9711299"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<rdf:RDF>", "is XML"),
        ("Some words about plans.", "is not a bibliography in BibTeX, RIS, EndNote, CSL JSON"),
        ("[]", "has no entry"),
        ("[{", "is not valid JSON"),
        ("TY  - JOUR\nAU  - A\nER  - \n", "has no entry"),
        ("a," + "b" * 200_000, "is not a bibliography"),  # longer than a field of the csv module may be
    ],
)
def test_non_bibliography_file_is_rejected(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_bibliography(text, "library")


def test_bibliography_entries_without_abstract_are_rejected_with_reason(tmp_path: Path) -> None:
    for name, text in FORMATS.items():
        (tmp_path / name).write_text(text)
        rejections = write_bibliography_records(tmp_path / name, tmp_path / "papers.jsonl")
        (line,) = (tmp_path / "papers.jsonl").read_text().splitlines()
        assert json.loads(line)["id"] == "doi:10.1000/hmm"
        assert any("'Large N limits': abstract is missing" in item for item in rejections)


MEDLINE = """
PMID- 123
DP  - 2019 Mar 4
TI  - Wells in clay of
      the north.
LID - 10.5555/well.1 [doi]
AB  - We drilled.
      Twice.
FAU - Bell, Bo
AU  - Bell B
FAU - Ash, Di Q
JT  - Journal of wells

PMID- 124
DP  - 2020 Spring
TI  - Rain.
AU  - Ash DQ
"""
WEB_OF_SCIENCE = """FN Clarivate Analytics Web of Science
VR 1.0
PT J
AU Bell, B
   Ash, DQ
AF Bell, Bo
   Ash, Di Q
TI Wells in clay of
   the north
SO JOURNAL OF WELLS
AB We drilled.
   Twice.
DI 10.5555/well.1
PY 2019
UT WOS:0001
ER

PT J
AU Ash, DQ
TI Rain
PY 2020
ER

EF
"""
TABLE = (
    "PT\tAF\tTI\tSO\tPY\tDI\tAB\n"
    "J\tBell, Bo; Ash, Di Q\tWells in clay of the north\tJ WELLS\t2019\t10.5555/well.1\tWe drilled. Twice.\n"
    "J\tAsh, D. Q.\tRain\t\t2020\t\t\n"
)


@pytest.mark.parametrize("text", [MEDLINE, WEB_OF_SCIENCE, TABLE], ids=["PubMed", "Web of Science", "its table"])
def test_exports_of_databases_are_read(text: str) -> None:
    first_entry, second_entry = read_bibliography(text, "export.txt").entries
    assert (first_entry.work.title, first_entry.work.authors) == ("Wells in clay of the north", ("Bo Bell", "Di Q Ash"))
    assert (first_entry.work.year, first_entry.work.doi, first_entry.abstract) == (
        2019,
        "10.5555/well.1",
        "We drilled. Twice.",
    )
    assert (second_entry.work.title, second_entry.work.year) == ("Rain", 2020)


def test_date_of_a_pubmed_record_has_its_month_and_day_but_no_season() -> None:
    assert [entry.date for entry in read_bibliography(MEDLINE, "export.txt").entries] == ["2019-03-04", "2020"]


@pytest.mark.parametrize(
    ("start", "message"),
    [("<PubmedArticleSet><PubmedArticle>", "XML from PubMed"), ("<xml><records>", "EndNote XML"), ("<a>", "is XML,")],
)
def test_xml_export_is_refused_by_its_name_with_a_remedy(start: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as raised:
        read_bibliography(start, "export.xml")
    assert raised.value.hint


_ZOTERO_HEADER = "Item Type,Title,Author,Abstract Note\n"
_WEB_OF_SCIENCE_HEADER = "PT\tAU\tTI\tAB\tPY\n"


def test_zotero_table_with_old_macintosh_line_ends_is_read() -> None:
    table = f"{_ZOTERO_HEADER}book,On reading,Roe,We read.\n".replace("\n", "\r")
    (entry,) = read_bibliography(table, "a table").entries
    assert entry.work.title == "On reading"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("a,b\rc,d\n", "is not a bibliography"),
        (f"{_ZOTERO_HEADER}book,On reading,Roe,{'x' * 200_000}\n", "field larger than field limit"),
        (f'{_ZOTERO_HEADER}book,"On reading,{"x" * 200_000}', "field larger than field limit"),
        (f"{_WEB_OF_SCIENCE_HEADER}J\tRoe, A\tOn reading\t{'x' * 200_000}\t2019\n", "field larger than field limit"),
    ],
    ids=["no columns of a known export", "long field", "open quote", "long field of Web of Science"],
)
@pytest.mark.parametrize("limit", [131_072, 400_000], ids=["usual limit", "limit raised by another reader"])
def test_table_that_cannot_be_read_is_refused(table: str, message: str, limit: int) -> None:
    previous_limit = csv.field_size_limit(limit)
    try:
        with pytest.raises(InputError, match=message):
            read_bibliography(table, "a table")
    finally:
        csv.field_size_limit(previous_limit)
