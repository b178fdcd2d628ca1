"""Link records from several sources to papers. All of a paper's records share an id, which never changes once
assigned."""

from collections.abc import Iterable, Sequence

from assayer.literature.paper_identity import build_work_key, map_identifiers_by_scheme, merge_identifiers
from assayer.models import Identifiers, Paper, PaperId
from workers.literature.record_merging import (
    add_url_identifiers,
    group_by_paper,
    identifiers_agree,
    merge_records,
    record_identifiers,
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
        new = {record: add_url_identifiers(record) for record in records if record not in self._ids_by_record}
        for records_of_paper in group_by_paper(new.values()):
            self._store(
                self._matching_id(records_of_paper) or self._unused_id(records_of_paper[0].id), records_of_paper
            )
        for record, filled in new.items():
            self._ids_by_record[record] = self._ids_by_record[filled]
        return [self._papers[self._ids_by_record[record]] for record in records]

    def id_for(self, identifiers: Identifiers) -> PaperId | None:
        """Return the id of the paper with these identifiers, assigning one if needed; None if there are no
        identifiers."""
        known = map_identifiers_by_scheme(identifiers)
        for identifier in known.items():
            if identifier in self._ids_by_identifier:
                return self._ids_by_identifier[identifier]
        if not known:
            return None
        paper_id = PaperId(":".join(next(iter(known.items()))))
        self._index(paper_id, known)
        return paper_id

    def paper(self, paper_id: PaperId) -> Paper | None:
        return self._papers.get(paper_id)

    def identifiers(self, paper_id: PaperId) -> Identifiers:
        """Return all of a paper's known identifiers, even if there is no record of it."""
        known = self._identifiers.get(paper_id, {})
        mentioned = Identifiers(**{scheme: known[scheme] for scheme in Identifiers.model_fields if scheme in known})
        paper = self._papers.get(paper_id)
        return merge_identifiers([paper.identifiers, mentioned]) if paper else mentioned

    def id_in_source(self, paper_id: PaperId, source: str) -> PaperId | None:
        """Return the paper's id in a source, or None if the source has no record of it. An id that was not assigned
        here is returned unchanged."""
        known = self._identifiers.get(paper_id)
        if known is None:
            return paper_id
        return PaperId(known[source]) if source in known else None

    def _matching_id(self, records: Sequence[Paper]) -> PaperId | None:
        identifiers = _identifiers_of(records)
        links: list[tuple[str, str]] = list(identifiers.items())
        if key := build_work_key(merge_records(records)):
            links.append((_BY_TITLE, key))
        ids = (self._ids_by_identifier[link] for link in links if link in self._ids_by_identifier)
        return next((item for item in ids if identifiers_agree(self._identifiers[item], identifiers)), None)

    def _unused_id(self, paper_id: PaperId) -> PaperId:
        """Return the id or, if it is in use, a variant, because a source may give one id to records of different
        papers."""
        return paper_id if paper_id not in self._identifiers else self._unused_id(PaperId(f"{paper_id}'"))

    def _store(self, paper_id: PaperId, records: Iterable[Paper]) -> None:
        held = self._records.setdefault(paper_id, [])
        held += records
        for record in records:
            self._ids_by_record[record] = paper_id
        naming_record = next((record for record in held if record.id == paper_id), None)
        paper = merge_records(held, naming_record)
        self._papers[paper_id] = paper if paper.id == paper_id else paper.model_copy(update={"id": paper_id})
        self._index(paper_id, _identifiers_of(held))
        if key := build_work_key(paper):
            self._ids_by_identifier.setdefault((_BY_TITLE, key), paper_id)

    def _index(self, paper_id: PaperId, known: dict[str, str]) -> None:
        self._identifiers[paper_id] = self._identifiers.get(paper_id, {}) | known
        for identifier in known.items():
            self._ids_by_identifier.setdefault(identifier, paper_id)


def _identifiers_of(records: Iterable[Paper]) -> dict[str, str]:
    return {scheme: value for record in records for scheme, value in record_identifiers(record).items()}
