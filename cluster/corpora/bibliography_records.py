"""Convert bibliographies exported by reference managers to paper records. Entries without an abstract are rejected."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from assayer.errors import InputError
from assayer.reference_lists.bibliography_files import BibliographyEntry, read_bibliography
from assayer.text.decoding import decode_text
from cluster.whole_files import open_atomic, read_whole
from index.records.paper_record import PaperRecord, describe_first_problem

_MAX_BYTES = 200_000_000


def write_bibliography_records(file: Path, target: Path) -> tuple[str, ...]:
    """Write one JSON line for each usable entry in a bibliography, and return the other entries with the reasons.
    Raises InputError if the file is not a bibliography or contains no usable entry."""
    results = list(_read_records(file))
    records = [record for record in results if isinstance(record, PaperRecord)]
    rejection_reasons = tuple(record for record in results if isinstance(record, str))
    if not records:
        reasons = "; ".join(rejection_reasons[:3]) or "It has no entries"
        raise InputError(
            f"No entry in {file} can be added to the corpus. {reasons}.",
            "Re-export the entries with their titles and abstracts.",
        )
    with open_atomic(target) as output:
        for record in records:
            output.write(record.model_dump_json(exclude={"year"}).encode() + b"\n")
    return rejection_reasons


def _read_records(file: Path) -> Iterator[PaperRecord | str]:
    works = read_bibliography(decode_text(read_whole(file, _MAX_BYTES), str(file)), str(file))
    yield from (f"{file.name}: cannot parse the entry {entry!r}" for entry in works.unparsed_entries)
    for entry in works.entries:
        try:
            yield _build_record(entry)
        except ValidationError as error:
            yield f"{file.name}: {entry.work.title[:60]!r}: {describe_first_problem(error)}"


def _build_record(entry: BibliographyEntry) -> PaperRecord:
    work = entry.work
    name = f"doi:{work.doi}" if work.doi else f"arxiv:{work.arxiv}" if work.arxiv else ""
    identifying_text = f"{work.title.casefold()} {work.year or ''}".encode()
    return PaperRecord.model_validate(
        {
            "id": name or f"entry:{hashlib.sha256(identifying_text).hexdigest()[:16]}",
            "title": work.title,
            "abstract": entry.abstract,
            "authors": work.authors,
            "publication_date": entry.date or None,
            "venue": entry.venue,
            "url": entry.url,
            "identifiers": {"doi": work.doi, "arxiv": work.arxiv},
        }
    )
