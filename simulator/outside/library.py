"""Papers of all simulated services, with the ids that each service uses for them.

Everything is derived from the records, so that a test that reads the same file knows the contents of the services.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from simulator.outside.citing import choose_all_references
from simulator.outside.lookup import Lookup
from simulator.outside.records import NoticeKind, Record

_ACL_VENUES = frozenset({"ACL", "EMNLP", "NAACL", "COLING"})
_FIRST_ARXIV = dt.date(2007, 4, 1)
"""First day with ids of the form YYMM.NNNN(N)."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Retraction, withdrawal or expression of concern."""

    kind: NoticeKind
    doi: str
    date: dt.date


@dataclass(frozen=True, slots=True)
class Entry:
    number: int
    """Position in the library, from 0."""
    record: Record
    s2: str
    """Semantic Scholar id: 40 hex digits."""
    corpus_id: int
    openalex: str
    """OpenAlex id: `W…`."""
    doi: str
    """DOI in lower case; empty for a fifth of the papers."""
    arxiv: str
    """arXiv id without version; empty for a third of the papers."""
    arxiv_date: dt.date | None
    """Submission of the first version: up to half a year before publication."""
    acl: str
    versions: int
    """Number of arXiv versions."""
    free_pdf: bool
    """Whether a service other than arXiv knows a free copy."""
    notice: Notice | None

    @property
    def date(self) -> dt.date | None:
        """Date of publication; the end of the year if the record has only the year."""
        if self.record.publication_date or self.record.year is None:
            return self.record.publication_date
        return dt.date(self.record.year, 12, 31)

    @property
    def is_day_known(self) -> bool:
        """Whether services know the day of publication; for the other papers, most know only the year."""
        return self.record.publication_date is not None and self.corpus_id % 100 >= 15

    @property
    def known_day(self) -> dt.date | None:
        """Day of the paper as filters of services see it: January 1 if only the year is known."""
        if self.is_day_known:
            return self.record.publication_date
        return dt.date(self.record.year, 1, 1) if self.record.year else None

    @property
    def pdf_path(self) -> str:
        """Path of the free copy on the simulator itself."""
        return f"/files/pdf/{self.record.id}.pdf"


class Library:
    def __init__(self, records: Iterable[Record]) -> None:
        taken_ids: set[str] = set()
        self.entries: tuple[Entry, ...] = tuple(
            _build_entry(number, record, taken_ids) for number, record in enumerate(records)
        )
        self.by_id = {entry.record.id: entry for entry in self.entries}
        self.by_s2 = {entry.s2: entry for entry in self.entries}
        self.by_corpus_id = {entry.corpus_id: entry for entry in self.entries}
        self.by_openalex = {entry.openalex: entry for entry in self.entries}
        self.by_doi = {entry.doi: entry for entry in self.entries if entry.doi}
        self.by_arxiv = {entry.arxiv: entry for entry in self.entries if entry.arxiv}
        self.by_acl = {entry.acl: entry for entry in self.entries if entry.acl}
        self.lookup = Lookup([(entry.record.title, entry.record.abstract) for entry in self.entries])
        self._references = choose_all_references([(entry.date, entry.record.title) for entry in self.entries])
        self._citations: list[list[int]] = [[] for _ in self.entries]
        for number, reference_numbers in enumerate(self._references):
            for cited_number in reference_numbers:
                self._citations[cited_number].append(number)

    def list_references(self, entry: Entry) -> list[Entry]:
        """Return the papers that it cites, all published before it."""
        return [self.entries[number] for number in self._references[entry.number]]

    def list_citations(self, entry: Entry) -> list[Entry]:
        """Return the papers that cite it, newest first."""
        citing_entries = [self.entries[number] for number in self._citations[entry.number]]
        return sorted(citing_entries, key=lambda entry: (entry.date or dt.date.min, entry.number), reverse=True)

    def search(self, query: str) -> list[Entry]:
        """Return all papers that share a word other than stop words with the query, best first."""
        return [self.entries[number] for number in self.lookup.rank(query)]

    def find_similar(self, entries: Sequence[Entry]) -> list[Entry]:
        """Return papers similar to the given ones taken together, best first, without the given ones."""
        excluded_numbers = {entry.number for entry in entries}
        query = " ".join(f"{entry.record.title} {' '.join(entry.record.keywords)}" for entry in entries)
        return [entry for entry in self.search(query) if entry.number not in excluded_numbers]


def _build_entry(number: int, record: Record, taken_ids: set[str]) -> Entry:
    digest = blake2b(record.id.encode(), digest_size=32).digest()
    random_bytes, name = digest[20:], digest[:20].hex()
    date = record.publication_date
    arxiv_date = date - dt.timedelta(days=random_bytes[0] * 180 // 255) if date and random_bytes[1] >= 85 else None
    arxiv = (
        "" if arxiv_date is None or arxiv_date < _FIRST_ARXIV else _choose_arxiv_id(arxiv_date, random_bytes, taken_ids)
    )
    venue = record.venue.split(" ")[0]
    acl = _choose_free_id(
        lambda attempt: f"{record.year}.{venue.lower()}-main.{(int.from_bytes(random_bytes[2:4]) + attempt) % 99_999}",
        taken_ids,
    )
    return Entry(
        number=number,
        record=record,
        s2=name,
        corpus_id=_choose_corpus_id(digest, taken_ids),
        openalex=_choose_free_id(
            lambda attempt: f"W{4_000_000_000 + (int.from_bytes(random_bytes[4:8]) + attempt) % 400_000_000}", taken_ids
        ),
        doi=f"10.{5000 + random_bytes[8]}/sim.{name[:12]}" if random_bytes[9] >= 51 else "",
        arxiv=arxiv,
        arxiv_date=arxiv_date if arxiv else None,
        acl=acl if venue in _ACL_VENUES and record.year and record.year >= 2020 else "",
        versions=1 + random_bytes[10] % 3,
        free_pdf=random_bytes[11] >= 102,
        notice=_build_notice(record, digest, bool(arxiv)),
    )


def _choose_arxiv_id(date: dt.date, random_bytes: bytes, taken_ids: set[str]) -> str:
    """Return an unused arXiv id for this month, with four digits before 2015 and five since."""
    width = 5 if date.year >= 2015 else 4
    start = int.from_bytes(random_bytes[2:6])
    return _choose_free_id(lambda attempt: f"{date:%y%m}.{(start + attempt) % 10**width:0{width}}", taken_ids)


def _choose_corpus_id(digest: bytes, taken_ids: set[str]) -> int:
    return int(
        _choose_free_id(
            lambda attempt: str(1_000_000 + (int.from_bytes(digest[4:8]) + attempt) % 280_000_000), taken_ids
        )
    )


def _choose_free_id(make_id: Callable[[int], str], taken_ids: set[str]) -> str:
    """Return the first of `make_id(0)`, `make_id(1)`, … that is not taken yet, and mark it as taken."""
    attempt = 0
    while make_id(attempt) in taken_ids:
        attempt += 1
    taken_ids.add(make_id(attempt))
    return make_id(attempt)


def _build_notice(record: Record, digest: bytes, is_on_arxiv: bool) -> Notice | None:
    kind = record.notice or _draw_notice(int.from_bytes(digest[12:16]) % 1000, is_on_arxiv)
    if kind is None or record.publication_date is None:
        return None
    date = record.publication_date + dt.timedelta(days=90 + digest[16])
    return Notice(kind, f"10.{5000 + digest[28]}/sim.notice.{digest[:4].hex()}", date)


def _draw_notice(number: int, is_on_arxiv: bool) -> NoticeKind | None:
    """Return a notice for 1% of the papers, depending on `number` (0 to 999); None for the others."""
    if number >= 10:
        return None
    if number >= 7:
        return "concern"
    return "withdrawn" if is_on_arxiv and number >= 4 else "retracted"
