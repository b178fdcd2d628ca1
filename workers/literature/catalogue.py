"""The papers of one evaluation: what every source said of each, under an id that stays once it is given."""

from collections.abc import Iterable, Sequence

from assayer.identity import same_key
from assayer.models import Identifiers, Paper, PaperId
from workers.literature.merging import agree, group, identified, merged, names, spaces, united

__all__ = ["Catalogue"]

_BY_TITLE = "title, year and first author"


class Catalogue:
    """Ids given out are never taken back: two papers that turn out to be one later stay two in this evaluation."""

    def __init__(self) -> None:
        self._records: dict[PaperId, list[Paper]] = {}
        self._papers: dict[PaperId, Paper] = {}
        self._names: dict[PaperId, dict[str, str]] = {}
        self._by_name: dict[tuple[str, str], PaperId] = {}
        self._filed: dict[Paper, PaperId] = {}

    def add(self, records: Sequence[Paper]) -> list[Paper]:
        """The paper of each record, in their order; two records may be of one paper."""
        new = {record: identified(record) for record in records if record not in self._filed}
        for some in group(new.values()):
            self._file(self._known(some) or self._free(some[0].id), some)
        for record, filled in new.items():
            self._filed[record] = self._filed[filled]
        return [self._papers[self._filed[record]] for record in records]

    def mention(self, identifiers: Identifiers) -> PaperId | None:
        """The id of a paper that is only known by name so far; None without any name."""
        known = spaces(identifiers)
        for name in known.items():
            if name in self._by_name:
                return self._by_name[name]
        if not known:
            return None
        paper_id = PaperId(":".join(next(iter(known.items()))))
        self._note(paper_id, known)
        return paper_id

    def paper(self, paper_id: PaperId) -> Paper | None:
        return self._papers.get(paper_id)

    def identifiers(self, paper_id: PaperId) -> Identifiers:
        """All that is known of them, of a paper or a mere mention."""
        known = self._names.get(paper_id, {})
        mentioned = Identifiers(**{space: known[space] for space in Identifiers.model_fields if space in known})
        paper = self._papers.get(paper_id)
        return united([paper.identifiers, mentioned]) if paper else mentioned

    def local_id(self, paper_id: PaperId, source: str) -> PaperId | None:
        """What the paper is called by one source; the id itself if it was never given out here."""
        known = self._names.get(paper_id)
        if known is None:
            return paper_id
        return PaperId(known[source]) if source in known else None

    def _known(self, records: Sequence[Paper]) -> PaperId | None:
        together = _names_of(records)
        links: list[tuple[str, str]] = list(together.items())
        if key := same_key(merged(records)):
            links.append((_BY_TITLE, key))
        found = (self._by_name[link] for link in links if link in self._by_name)
        return next((one for one in found if agree(self._names[one], together)), None)

    def _free(self, paper_id: PaperId) -> PaperId:
        """Ids of one source may be given twice, to records that contradict each other."""
        return paper_id if paper_id not in self._names else self._free(PaperId(f"{paper_id}'"))

    def _file(self, paper_id: PaperId, records: Iterable[Paper]) -> None:
        held = self._records.setdefault(paper_id, [])
        held += records
        for record in records:
            self._filed[record] = paper_id
        named_by = next((record for record in held if record.id == paper_id), None)
        paper = merged(held, named_by)
        self._papers[paper_id] = paper if paper.id == paper_id else paper.model_copy(update={"id": paper_id})
        self._note(paper_id, _names_of(held))
        if key := same_key(paper):
            self._by_name.setdefault((_BY_TITLE, key), paper_id)

    def _note(self, paper_id: PaperId, known: dict[str, str]) -> None:
        self._names[paper_id] = self._names.get(paper_id, {}) | known
        for name in known.items():
            self._by_name.setdefault(name, paper_id)


def _names_of(records: Iterable[Paper]) -> dict[str, str]:
    return {space: value for record in records for space, value in names(record).items()}
