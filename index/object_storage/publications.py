"""Read and write a bucket's publications: numbered lists of corpus versions, of which the highest number is valid.

Each list is a separate object that is created once and never changed. If two publishers read number 12, one creates 13
and the other gets an error: no lock is needed, and no version is lost."""

import datetime as dt
import hashlib
from collections.abc import Sequence

from pydantic import Field, ValidationError

from assayer.errors import CorpusError
from assayer.models import Frozen
from index.object_storage.inventory import VersionInventory
from index.object_storage.storage import ObjectNotFound, ObjectStorage

_FOLDER = "published"
_DIGITS = 12
_LISTS_KEPT = 50
_DIGEST_SHOWN = 16


class PublicationConflict(CorpusError):
    """Raised if another process has published since the caller last read the publications. Nothing was changed."""


class PublishedVersion(Frozen):
    version: str
    inventory: str = Field(pattern=r"^[0-9a-f]{64}$")
    """SHA-256 of the list of the version's files."""
    published: dt.datetime
    papers: int
    retired: dt.datetime | None = None
    """Time when the version was retired; None if it is still kept. A retired version's files remain available to
    readers for a while."""


class Publication(Frozen):
    number: int = Field(ge=1)
    versions: tuple[PublishedVersion, ...] = Field(min_length=1)
    """Current version first, then the earlier versions that are kept."""
    retired: tuple[PublishedVersion, ...] = ()
    publisher: str = ""
    """Host and process that published, for display."""

    @property
    def current(self) -> PublishedVersion:
        return self.versions[0]

    def find(self, version: str) -> PublishedVersion | None:
        return next(
            (
                published_version
                for published_version in (*self.versions, *self.retired)
                if published_version.version == version
            ),
            None,
        )


class PublicationLog:
    def __init__(self, storage: ObjectStorage) -> None:
        self.storage = storage

    def read_newest(self) -> Publication | None:
        """Return the newest publication, or None if there is none. Raises CorpusError if it cannot be read."""
        numbers = self._list_numbers()
        if not numbers:
            return None
        try:
            return self._read(numbers[-1])
        except ObjectNotFound:  # removed as an old publication, during a long pause between the two requests
            return self._read(self._list_numbers()[-1])

    def add(self, publication: Publication) -> None:
        """Add a publication. Raises PublicationConflict if its number already exists."""
        content = (publication.model_dump_json(indent=1) + "\n").encode()
        name = _build_publication_name(publication.number)
        try:
            self.storage.create(name, content)
        except FileExistsError:
            raise self.build_conflict_error(publication.number) from None
        if self.storage.read(name) != content:
            # In a store without conditional writes, the last of two writers wins.
            raise self.build_conflict_error(publication.number)

    def is_listed(self, version: str) -> bool:
        """Return whether any remaining publication lists the version. Raises CorpusError if one cannot be read."""
        for number in reversed(self._list_numbers()):
            try:
                publication = self._read(number).find(version)
            except ObjectNotFound:  # removed in the meantime, like all earlier ones
                return False
            if publication is not None:
                return True
        return False

    def remove_old(self) -> None:
        """Remove all but the most recent publications."""
        for number in self._list_numbers()[:-_LISTS_KEPT]:
            self.storage.remove(_build_publication_name(number))

    def read_inventory(self, version: str) -> VersionInventory:
        """Return a version's inventory. Raises CorpusError if it cannot be read or the version no longer exists."""
        newest = self.read_newest()
        if newest is None:
            raise self.build_not_published_error()
        publication = newest.find(version)
        if publication is None:
            raise CorpusError(f"Version {version} of the corpus in {self.storage.address} has been removed.")
        return self.read_listed_inventory(publication)

    def read_listed_inventory(self, version: PublishedVersion) -> VersionInventory:
        """Read the inventory of a listed version. Raises CorpusError if it is damaged or cannot be read."""
        name = build_inventory_name(version.version, version.inventory)
        content = self.storage.read(name)
        damage_error = CorpusError(
            f"The corpus in {self.storage.address} is damaged: {name} has changed since it was written.",
            "Publish again: assayer corpus publish.",
        )
        if hashlib.sha256(content).hexdigest() != version.inventory:
            raise damage_error
        try:
            inventory = VersionInventory.model_validate_json(content)
        except ValidationError:
            raise damage_error from None
        if inventory.version != version.version:
            raise damage_error
        return inventory

    def read_inventories(self, versions: Sequence[PublishedVersion]) -> list[VersionInventory]:
        return [self.read_listed_inventory(version) for version in versions]

    def write_inventory(self, inventory: VersionInventory) -> str:
        """Write the inventory and return its SHA-256. Different builds of a version have separate inventories, so they
        never overwrite each other's."""
        content = _to_bytes(inventory)
        digest = hashlib.sha256(content).hexdigest()
        self.storage.write(build_inventory_name(inventory.version, digest), content)
        return digest

    def build_not_published_error(self) -> CorpusError:
        return CorpusError(
            f"No corpus has been published in {self.storage.address}.", "Publish one: assayer corpus publish."
        )

    def _list_numbers(self) -> list[int]:
        names = (name.removesuffix(".json") for name in self.storage.list_names(_FOLDER) if name.endswith(".json"))
        return sorted(int(name) for name in names if name.isdecimal())

    def _read(self, number: int) -> Publication:
        name = _build_publication_name(number)
        try:
            publication = Publication.model_validate_json(self.storage.read(name))
        except ValidationError:
            publication = None
        if publication is None or publication.number != number:
            raise CorpusError(
                f"The corpus in {self.storage.address} is damaged: {name} cannot be read.",
                "Delete that object, so that the previous publication becomes valid, and publish again.",
            )
        return publication

    def build_conflict_error(self, number: int) -> PublicationConflict:
        newest = self.read_newest()
        publisher_text = f" by {newest.publisher}" if newest and newest.publisher else ""
        version = f" (version {newest.current.version}{publisher_text})" if newest else ""
        return PublicationConflict(
            f"Another process has published to {self.storage.address} in the meantime: number {number}{version}. "
            "Nothing was changed.",
            "Run the command again, so that it starts from the new publication.",
        )


def compute_inventory_digest(inventory: VersionInventory) -> str:
    return hashlib.sha256(_to_bytes(inventory)).hexdigest()


def build_inventory_name(version: str, digest: str) -> str:
    return f"versions/{version}.{digest[:_DIGEST_SHOWN]}.json"


def _to_bytes(inventory: VersionInventory) -> bytes:
    return (inventory.model_dump_json(indent=1) + "\n").encode()


def _build_publication_name(number: int) -> str:
    return f"{_FOLDER}/{number:0{_DIGITS}d}.json"
