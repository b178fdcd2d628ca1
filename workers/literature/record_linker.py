"""Link records from several sources to papers. All of a paper's records share an id, which never changes once
assigned."""

from collections.abc import Iterable, Sequence

from assayer.literature.paper_identity import build_work_key, map_identifiers_by_scheme, merge_identifiers
from assayer.models import Identifiers, Paper, PaperId
from workers.literature.record_merging import (
    add_url_identifiers,
    collect_identifiers,
    group_by_paper,
    have_same_identifiers,
    merge_records,
)

_BY_TITLE = "title, year and first author"


class RecordLinker:
    """Assigns ids to papers within one evaluation. Ids are never withdrawn: two papers that later turn out to be the
    same stay separate."""

    def __init__(self) -> None:
        self._records: dict[PaperId, list[Paper]] = {}
        self._papers: dict[PaperId, Paper] = {}
        self._identifiers: dict[PaperId, dict[str, str]] = {}
        self._ids_by_identifier: dict[tuple[str, str], PaperId] = {}
        self._ids_by_record: dict[Paper, PaperId] = {}

    def link(self, records: Sequence[Paper]) -> list[Paper]:
        """Return each record's paper, in order, merged from all records linked to it so far."""
        unlinked = {record: add_url_identifiers(record) for record in records if record not in self._ids_by_record}
        for records_of_paper in group_by_paper(unlinked.values()):
            self._store(
                self._find_matching_id(records_of_paper) or self._make_unused_id(records_of_paper[0].id),
                records_of_paper,
            )
        for record, filled in unlinked.items():
            self._ids_by_record[record] = self._ids_by_record[filled]
        return [self._papers[self._ids_by_record[record]] for record in records]

    def assign_id(self, identifiers: Identifiers) -> PaperId | None:
        """Return the id of the paper with these identifiers, assigning one if needed; None if there are no
        identifiers."""
        identifiers_by_scheme = map_identifiers_by_scheme(identifiers)
        for identifier in identifiers_by_scheme.items():
            if identifier in self._ids_by_identifier:
                return self._ids_by_identifier[identifier]
        if not identifiers_by_scheme:
            return None
        paper_id = PaperId(":".join(next(iter(identifiers_by_scheme.items()))))
        self._index_identifiers(paper_id, identifiers_by_scheme)
        return paper_id

    def get_paper(self, paper_id: PaperId) -> Paper | None:
        return self._papers.get(paper_id)

    def identifiers(self, paper_id: PaperId) -> Identifiers:
        """Return all of a paper's known identifiers, even if there is no record of it."""
        identifiers_by_scheme = self._identifiers.get(paper_id, {})
        mentioned = Identifiers(
            **{
                scheme: identifiers_by_scheme[scheme]
                for scheme in Identifiers.model_fields
                if scheme in identifiers_by_scheme
            }
        )
        paper = self._papers.get(paper_id)
        return merge_identifiers([paper.identifiers, mentioned]) if paper else mentioned

    def find_id_in_source(self, paper_id: PaperId, source: str) -> PaperId | None:
        """Return the paper's id in a source, or None if the source has no record of it. An id that was not assigned
        here is returned unchanged."""
        identifiers_by_scheme = self._identifiers.get(paper_id)
        if identifiers_by_scheme is None:
            return paper_id
        return PaperId(identifiers_by_scheme[source]) if source in identifiers_by_scheme else None

    def _find_matching_id(self, records: Sequence[Paper]) -> PaperId | None:
        identifiers = _collect_identifiers(records)
        links: list[tuple[str, str]] = list(identifiers.items())
        if key := build_work_key(merge_records(records)):
            links.append((_BY_TITLE, key))
        ids = (self._ids_by_identifier[link] for link in links if link in self._ids_by_identifier)
        return next((item for item in ids if have_same_identifiers(self._identifiers[item], identifiers)), None)

    def _make_unused_id(self, paper_id: PaperId) -> PaperId:
        """Return the id or, if it is in use, a variant, because a source may give one id to records of different
        papers."""
        return paper_id if paper_id not in self._identifiers else self._make_unused_id(PaperId(f"{paper_id}'"))

    def _store(self, paper_id: PaperId, records: Iterable[Paper]) -> None:
        paper_records = self._records.setdefault(paper_id, [])
        paper_records += records
        for record in records:
            self._ids_by_record[record] = paper_id
        naming_record = next((record for record in paper_records if record.id == paper_id), None)
        paper = merge_records(paper_records, naming_record)
        self._papers[paper_id] = paper if paper.id == paper_id else paper.model_copy(update={"id": paper_id})
        self._index_identifiers(paper_id, _collect_identifiers(paper_records))
        if key := build_work_key(paper):
            self._ids_by_identifier.setdefault((_BY_TITLE, key), paper_id)

    def _index_identifiers(self, paper_id: PaperId, identifiers: dict[str, str]) -> None:
        self._identifiers[paper_id] = self._identifiers.get(paper_id, {}) | identifiers
        for identifier in identifiers.items():
            self._ids_by_identifier.setdefault(identifier, paper_id)


def _collect_identifiers(records: Iterable[Paper]) -> dict[str, str]:
    return {scheme: value for record in records for scheme, value in collect_identifiers(record).items()}
