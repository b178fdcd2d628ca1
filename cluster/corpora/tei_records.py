"""Convert papers parsed by GROBID to corpus records: full texts whose passages include their citations."""

import datetime as dt
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree
from pydantic import ValidationError

from assayer.errors import InputError, Unreadable
from assayer.literature.paper_identity import find_doi, parse_arxiv_id
from assayer.text.sanitise import clean_text
from cluster.whole_files import open_atomic
from index.records.paper_record import PaperRecord, describe_first_problem
from workers.full_texts.cited_places import CitedWorkPlaces, read_citing_paper
from workers.full_texts.grobid_tei import read_tei

_SUFFIX = re.compile(r"(?:\.grobid)?(?:\.tei)?\.xml$")
_TEI = {"t": "http://www.tei-c.org/ns/1.0"}
_SOURCE = "./t:teiHeader/t:fileDesc/t:sourceDesc/t:biblStruct"


class TeiRecords(NamedTuple):
    written: int
    works: int
    """Total number of reference-list entries that the texts cite."""
    places: int
    """Total number of in-text citations of those entries."""
    refused: tuple[str, ...]
    """Files that cannot be converted to papers, each with the reason."""


def list_tei_files(folder: Path) -> list[Path]:
    """Return the TEI files in a folder. Raises InputError if there are none."""
    files = sorted(path for path in folder.rglob("*.xml") if path.is_file())
    if not files:
        raise InputError(f"{folder} contains no TEI files.", "Pass a folder of TEI files from GROBID (NAME.tei.xml).")
    return files


def write_tei_records(files: Sequence[Path], to: Path) -> TeiRecords:
    """Write one JSON line for each paper. Files that are not papers are reported and skipped; if no file is a paper,
    `to` is unchanged. Raises InputError if `to` cannot be written."""
    refusals: list[str] = []
    written = works = places = 0
    with suppress(_NotAPaper), open_atomic(to) as output:
        for path in files:
            record = _try_to_parse(path)
            if isinstance(record, str):
                refusals.append(f"{path.name}: {record}")
                continue
            output.write(record.model_dump_json(exclude={"year"}).encode() + b"\n")
            written += 1
            works += len(record.cited_in_text)
            places += sum(len(work.at) for work in record.cited_in_text)
        if not written:
            raise _NotAPaper
    return TeiRecords(written, works, places, tuple(refusals))


class _NotAPaper(Exception):
    """Raised if no file is a paper, so that the output file is not replaced."""


def _try_to_parse(path: Path) -> PaperRecord | str:
    try:
        return parse_tei_record(path.read_bytes(), _SUFFIX.sub("", path.name))
    except (Unreadable, OSError) as error:
        return str(error)
    except ValidationError as error:
        return describe_first_problem(error)


def parse_tei_record(tei: bytes, paper: str) -> PaperRecord:
    """Convert a TEI document to a paper record; `paper` is its id in the corpus. Raises Unreadable if the document
    cannot be parsed, or ValidationError if the title or abstract is missing."""
    root = read_tei(tei, paper)
    citing = read_citing_paper(tei, paper)
    sections = citing.paper.sections
    first_section = 1 if sections[0].title == "Abstract" else 0
    return PaperRecord.model_validate(
        {
            "id": paper,
            "title": citing.paper.title,
            "abstract": sections[0].text if first_section else "",
            "authors": list(_parse_authors(root)),
            "publication_date": _parse_day(root),
            **_parse_identifiers(root),
            "sections": [
                {"title": section.title, "text": clean_text(section.text)} for section in sections[first_section:]
            ],
            "cited_in_text": [_convert_cited_work(work, first_section) for work in citing.cited],
        }
    )


def _convert_cited_work(work_cited: CitedWorkPlaces, first_section: int) -> dict[str, Any]:
    positions = [
        (place.section - first_section, place.character) for place in work_cited.at if place.section >= first_section
    ]
    return {
        "doi": work_cited.work.doi,
        "arxiv": work_cited.work.arxiv,
        "title": work_cited.work.title,
        "year": work_cited.work.year,
        "at": positions,
    }


def _parse_authors(root: etree._Element) -> Iterator[str]:
    for person in root.iterfind(f"{_SOURCE}/t:analytic/t:author/t:persName", _TEI):
        name = " ".join(_read_text(part) for part in person)
        if name.strip():
            yield name


def _read_text(element: etree._Element) -> str:
    return " ".join("".join(map(str, element.itertext())).split())


def _parse_day(root: etree._Element) -> str | None:
    """Return the publication date found by GROBID: a day, a month or a year. Returns None if it is not a date."""
    date = root.find("./t:teiHeader/t:fileDesc/t:publicationStmt/t:date", _TEI)
    text = "" if date is None else date.get("when", "")
    try:
        return dt.date.fromisoformat(text).isoformat()
    except ValueError:
        return text if re.fullmatch(r"\d{4}(?:-\d{2})?", text) else None


def _parse_identifiers(root: etree._Element) -> dict[str, str]:
    values = {
        element.get("type", "").casefold(): _read_text(element) for element in root.iterfind(f"{_SOURCE}/t:idno", _TEI)
    }
    return {"doi": find_doi(values.get("doi", "")), "arxiv": parse_arxiv_id(values.get("arxiv", ""))}
