"""Records of PubMed (MEDLINE format) and of Web of Science, as tagged text or as a tab-separated table."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

MEDLINE = re.compile(r"^PMID- ?\d", re.MULTILINE)
WEB_OF_SCIENCE = re.compile(r"^(?:FN (?:Clarivate|ISI|Thomson)|PT [A-Z]\s*$)", re.MULTILINE)
WEB_OF_SCIENCE_TABLE = re.compile(r"^PT\t(?:[A-Z][A-Z0-9]\t){3}")
_MEDLINE_FIELD = re.compile(r"(?P<tag>[A-Z]{2,4}) {0,2}- (?P<value>.*)")
_FIELD = re.compile(r"(?P<tag>[A-Z][A-Z0-9])(?: (?P<value>.*))?$")
_DOI = re.compile(r"(?P<doi>10\.\S+)(?: \[doi\])?$")
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_MAX_FIELD_CHARS = 131_072
_INITIALS = re.compile(r"^(?P<family>.+?),? (?P<given>[A-Z]{1,4})$")


class TaggedRecord(NamedTuple):
    key: str
    title: str
    authors: tuple[str, ...]
    abstract: str
    date: str
    venue: str
    doi: str
    url: str


def medline_records(text: str) -> Iterator[TaggedRecord]:
    for fields in _records(text, _MEDLINE_FIELD, "PMID", ""):
        number = _get_first(fields, "PMID")
        names = [match["doi"] for tag in ("LID", "AID") for item in fields.get(tag, ()) if (match := _DOI.match(item))]
        yield TaggedRecord(
            f"pmid:{number}",
            _get_first(fields, "TI", "BTI").rstrip("."),
            tuple(map(_put_given_name_first, fields.get("FAU") or fields.get("AU") or fields.get("CN") or ())),
            _get_first(fields, "AB"),
            _parse_date(_get_first(fields, "DP")),
            _get_first(fields, "JT", "TA"),
            names[0] if names else "",
            f"https://pubmed.ncbi.nlm.nih.gov/{number}/",
        )


def read_rows(table: "csv.DictReader[str]") -> "Iterator[dict[str | Any, str | Any]]":
    """Yield the rows of a table. Raises csv.Error for a field above the csv module's usual limit, also if other code
    has raised this limit, which applies to the whole process."""
    for row in table:
        if any(isinstance(value, str) and len(value) > _MAX_FIELD_CHARS for value in row.values()):
            raise csv.Error(f"field larger than field limit ({_MAX_FIELD_CHARS})")
        yield row


def web_of_science_records(text: str) -> Iterator[TaggedRecord]:
    """Yield the records of a tagged text, or of a tab-separated table whose column names are the same tags."""
    records: Iterator[Mapping[str, Sequence[str]]]
    if WEB_OF_SCIENCE_TABLE.match(text):
        rows = read_rows(csv.DictReader(io.StringIO(text, newline=""), delimiter="\t", quoting=csv.QUOTE_NONE))
        records = ({tag: _cells(tag, row[tag]) for tag in row if tag and row[tag]} for row in rows)
    else:
        records = _records(text, _FIELD, "PT", "ER")
    for fields in records:
        yield TaggedRecord(
            _get_first(fields, "UT"),
            _get_first(fields, "TI"),
            tuple(map(_put_given_name_first, fields.get("AF") or fields.get("AU") or fields.get("CA") or ())),
            _get_first(fields, "AB"),
            _get_first(fields, "PY"),
            _get_first(fields, "SO"),
            _get_first(fields, "DI"),
            "",
        )


def _cells(tag: str, value: str) -> list[str]:
    return [part.strip() for part in value.split(";")] if tag in ("AF", "AU", "CA") else [value.strip()]


def _records(text: str, pattern: "re.Pattern[str]", first: str, last: str) -> Iterator[dict[str, list[str]]]:
    """Yield the fields of each record. A line that begins with spaces continues the field above it; in the author lists
    of Web of Science, it is the next author."""
    fields: dict[str, list[str]] = {}
    tag = ""
    for line in text.splitlines():
        found = pattern.match(line)
        if found and (found["tag"] in (first, last) or (tag and line[:1] != " ")):
            if found["tag"] == first or (found["tag"] == last and fields):
                if fields:
                    yield fields
                fields = {}
            tag = found["tag"]
            if tag != last:
                fields.setdefault(tag, []).append((found["value"] or "").strip())
        elif tag and line.startswith("  ") and fields.get(tag):
            if last and tag in ("AF", "AU", "CA"):
                fields[tag].append(line.strip())
            else:
                fields[tag][-1] += f" {line.strip()}"
    if fields:
        yield fields


def _get_first(fields: Mapping[str, Sequence[str]], *tags: str) -> str:
    return next((fields[tag][0] for tag in tags if fields.get(tag)), "")


def _parse_date(printed: str) -> str:
    """Turn `2019 Mar 4` into `2019-3-4`; a season or a range is left out."""
    year, *rest = printed.split(" ")
    month = _MONTHS.index(rest[0]) + 1 if rest and rest[0] in _MONTHS else 0
    day = rest[1] if month and len(rest) > 1 and rest[1].isdecimal() else ""
    return "-".join([year, *([str(month)] if month else []), *([day] if day else [])])


def _put_given_name_first(name: str) -> str:
    """Turn `Roe, Jane Q` and `Roe JQ` into `Jane Q Roe` and `J. Q. Roe`."""
    if (short := _INITIALS.match(name)) and "," not in name:
        return f"{' '.join(f'{letter}.' for letter in short['given'])} {short['family']}"
    family, _, given = name.partition(",")
    return " ".join(filter(None, (given.strip(), family.strip())))
