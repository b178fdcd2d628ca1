"""Conversion of bibliographies exported by reference managers to paper records. Entries without an abstract are
rejected."""

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from assayer.errors import InputError
from assayer.reference_lists.bibliography_files import BibliographyEntry, read_bibliography
from assayer.text.decoding import decode_text
from cluster.whole_files import read_whole, whole_file
from index.records.paper_record import PaperRecord, first_problem

_MOST_BYTES = 200_000_000


class BibliographyRecords(NamedTuple):
    written: int
    refused: tuple[str, ...]
    """Entries that cannot become paper records, with the reason."""


def write_bibliography_records(files: Sequence[Path], to: Path) -> BibliographyRecords:
    """Write a JSON line for each entry of the bibliographies, or for the first of several entries with the same id.
    Raises InputError if a file is not a bibliography or if no entry can be converted; `to` is then unchanged."""
    records: dict[str, PaperRecord] = {}
    refused: list[str] = []
    for file in files:
        for record in _records(file):
            if isinstance(record, str):
                refused.append(record)
            else:
                records.setdefault(record.id, record)
    if not records:
        hint = "; ".join(refused[:3]) or "The bibliographies have no entries."
        raise InputError(
            f"No entry of {', '.join(map(str, files))} can be converted to a paper; {to} was not written.", hint
        )
    with whole_file(to) as lines:
        for record in records.values():
            lines.write(record.model_dump_json(exclude={"year"}).encode() + b"\n")
    return BibliographyRecords(len(records), tuple(refused))


def _records(file: Path) -> Iterator[PaperRecord | str]:
    read = read_bibliography(decode_text(read_whole(file, _MOST_BYTES), str(file)), str(file))
    yield from (f"{file.name}: cannot parse the entry {entry!r}" for entry in read.unread)
    for entry in read.entries:
        try:
            yield _record(entry)
        except ValidationError as error:
            yield f"{file.name}: {entry.work.title[:60]!r}: {first_problem(error)}"


def _record(entry: BibliographyEntry) -> PaperRecord:
    work = entry.work
    name = f"doi:{work.doi}" if work.doi else f"arxiv:{work.arxiv}" if work.arxiv else ""
    words = f"{work.title.casefold()} {work.year or ''}".encode()
    return PaperRecord.model_validate(
        {
            "id": name or f"entry:{hashlib.sha256(words).hexdigest()[:16]}",
            "title": work.title,
            "abstract": entry.abstract,
            "authors": work.authors,
            "publication_date": entry.date or None,
            "venue": entry.venue,
            "url": entry.url,
            "identifiers": {"doi": work.doi, "arxiv": work.arxiv},
        }
    )
