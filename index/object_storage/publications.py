"""Which versions of a corpus a bucket has: numbered lists, of which the highest number counts.

A list is an object of its own that is created and never changed. Of two publishers who read number 12, one creates 13
and the other is told so: nothing is locked, and nobody's version is lost.
"""

import datetime as dt
import hashlib
from collections.abc import Sequence

from pydantic import Field, ValidationError

from assayer.errors import CorpusError
from assayer.models import Frozen
from index.object_storage.inventory import VersionInventory
from index.object_storage.storage import ObjectNotFound, ObjectStorage

__all__ = [
    "Publication",
    "PublicationLog",
    "PublishedMeanwhile",
    "PublishedVersion",
    "inventory_digest",
    "inventory_names",
]

_FOLDER = "published"
_DIGITS = 12
_LISTS_KEPT = 50
_DIGEST_SHOWN = 16


class PublishedMeanwhile(CorpusError):
    """Somebody else published between the look at what is there and the own publication."""


class PublishedVersion(Frozen):
    version: str
    inventory: str = Field(pattern=r"^[0-9a-f]{64}$")
    """SHA-256 of the list of its files."""
    published: dt.datetime
    papers: int
    retired: dt.datetime | None = None
    """Since when it is not among those kept; its files stay a while for who reads it."""


class Publication(Frozen):
    number: int = Field(ge=1)
    versions: tuple[PublishedVersion, ...] = Field(min_length=1)
    """The current one first, then those published before it that are kept."""
    retired: tuple[PublishedVersion, ...] = ()
    publisher: str = ""
    """Host and process, for people."""

    @property
    def current(self) -> PublishedVersion:
        return self.versions[0]

    def find(self, version: str) -> PublishedVersion | None:
        return next((one for one in (*self.versions, *self.retired) if one.version == version), None)


class PublicationLog:
    def __init__(self, storage: ObjectStorage) -> None:
        self.storage = storage

    def newest(self) -> Publication | None:
        """None where nothing was published. Raises CorpusError."""
        numbers = self._numbers()
        if not numbers:
            return None
        try:
            return self._read(numbers[-1])
        except ObjectNotFound:  # removed as one of many old ones, after a long pause between the two requests
            return self._read(self._numbers()[-1])

    def add(self, publication: Publication) -> None:
        """Raises PublishedMeanwhile where there is one with this number already."""
        content = (publication.model_dump_json(indent=1) + "\n").encode()
        name = _name(publication.number)
        try:
            self.storage.create(name, content)
        except FileExistsError:
            raise self.meanwhile(publication.number) from None
        if self.storage.read(name) != content:
            # A store that knows no conditional writes lets the last of two win.
            raise self.meanwhile(publication.number)

    def names(self, version: str) -> bool:
        """Whether a list that is still there has it, the newest or one of those before. Raises CorpusError."""
        for number in reversed(self._numbers()):
            try:
                found = self._read(number).find(version)
            except ObjectNotFound:  # removed meanwhile, as all before it
                return False
            if found is not None:
                return True
        return False

    def forget_old(self) -> None:
        """Removes all but the last lists."""
        for number in self._numbers()[:-_LISTS_KEPT]:
            self.storage.remove(_name(number))

    def inventory(self, version: str) -> VersionInventory:
        """Raises CorpusError, also for a version that is not there any more."""
        newest = self.newest()
        if newest is None:
            raise self.nothing_published()
        found = newest.find(version)
        if found is None:
            raise CorpusError(f"Version {version} of the corpus in {self.storage.address} has been removed.")
        return self.inventory_of(found)

    def inventory_of(self, version: PublishedVersion) -> VersionInventory:
        """Raises CorpusError."""
        name, former = inventory_names(version)
        try:
            content = self.storage.read(name)
        except ObjectNotFound:
            content = self.storage.read(former)
        damaged = CorpusError(
            f"The corpus in {self.storage.address} is damaged: {name} is not as it was written.",
            "Publish again: assayer corpus publish.",
        )
        if hashlib.sha256(content).hexdigest() != version.inventory:
            raise damaged
        try:
            inventory = VersionInventory.model_validate_json(content)
        except ValidationError:
            raise damaged from None
        if inventory.version != version.version:
            raise damaged
        return inventory

    def inventories(self, versions: Sequence[PublishedVersion]) -> list[VersionInventory]:
        return [self.inventory_of(one) for one in versions]

    def write_inventory(self, inventory: VersionInventory) -> str:
        """Returns its SHA-256. Two builds of one version have lists of their own, so none is ever written over by
        another: who comes too late with its own has changed nothing."""
        content = _written(inventory)
        digest = hashlib.sha256(content).hexdigest()
        self.storage.write(_inventory_name(inventory.version, digest), content)
        return digest

    def nothing_published(self) -> CorpusError:
        return CorpusError(
            f"No corpus has been published in {self.storage.address}.", "Publish one: assayer corpus publish."
        )

    def _numbers(self) -> list[int]:
        names = (name.removesuffix(".json") for name in self.storage.names(_FOLDER) if name.endswith(".json"))
        return sorted(int(name) for name in names if name.isdecimal())

    def _read(self, number: int) -> Publication:
        name = _name(number)
        try:
            found = Publication.model_validate_json(self.storage.read(name))
        except ValidationError:
            found = None
        if found is None or found.number != number:
            raise CorpusError(
                f"The corpus in {self.storage.address} is damaged: {name} cannot be read.",
                "Remove it, so that the one before counts, and publish again.",
            )
        return found

    def meanwhile(self, number: int) -> PublishedMeanwhile:
        there = self.newest()
        who = f" by {there.publisher}" if there and there.publisher else ""
        what = f" (version {there.current.version}{who})" if there else ""
        return PublishedMeanwhile(
            f"Somebody else has published in {self.storage.address} meanwhile: number {number}{what}. "
            "Nothing there was changed.",
            "Run it again: it then begins from what is there.",
        )


def inventory_digest(inventory: VersionInventory) -> str:
    return hashlib.sha256(_written(inventory)).hexdigest()


def inventory_names(version: PublishedVersion) -> tuple[str, str]:
    """Under which its list may lie: releases before named it by the version alone."""
    return _inventory_name(version.version, version.inventory), f"versions/{version.version}.json"


def _inventory_name(version: str, digest: str) -> str:
    return f"versions/{version}.{digest[:_DIGEST_SHOWN]}.json"


def _written(inventory: VersionInventory) -> bytes:
    return (inventory.model_dump_json(indent=1) + "\n").encode()


def _name(number: int) -> str:
    return f"{_FOLDER}/{number:0{_DIGITS}d}.json"
