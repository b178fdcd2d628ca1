"""Records from which a corpus was built, for comparison with finished reports. Uses only the standard library."""

import datetime as dt
import gzip
import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def select_records(path: Path, ids: set[str]) -> dict[str, Json]:
    """Return the records with the wanted ids from a corpus's input file."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        records = (json.loads(line) for line in lines if line.strip())
        return {record["id"]: record for record in records if record.get("id") in ids}


def find_differences(reference: Json, record: Json) -> Iterator[str]:
    """Yield the differences between a report's reference and the record."""
    label = reference["label"]
    if _split_words(reference["title"]) != _split_words(record["title"]):
        yield f"the title of {label} is not the record's: {reference['title']!r}"
    if reference["url"] != (record.get("url") or ""):
        yield f"the address of {label} is not the record's: {reference['url']!r}"
    if reference["publication_date"] != _compute_last_day(record.get("publication_date") or record.get("year")):
        yield f"the date of {label} is not the record's: {reference['publication_date']!r}"


def _compute_last_day(date: Any) -> str | None:
    """Return the day itself, or the last day of a month or year."""
    text = str(date or "")
    if not text or len(text) == 10:
        return text or None
    year, month = (int(text[:4]), int(text[5:7])) if len(text) == 7 else (int(text), 12)
    first_of_next = dt.date(year + month // 12, month % 12 + 1, 1)
    return (first_of_next - dt.timedelta(days=1)).isoformat()


def list_texts(record: Json) -> list[str]:
    """Return the texts of a record in which a quote may occur."""
    sections = [section["text"] for section in record.get("sections") or []]
    return [record["title"], record.get("abstract") or "", *sections]


def _split_words(text: str) -> list[str]:
    """Return lower-case words without accents and invisible characters; punctuation and spaces only separate."""
    normalised = unicodedata.normalize("NFKD", text.casefold())
    characters = (character for character in normalised if unicodedata.category(character) not in {"Mn", "Cf"})
    return re.findall(r"\w+", "".join(characters))
