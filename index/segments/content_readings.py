"""Readings: names and claims that a language model extracted from papers. They are stored next to the corpus's
versions, in a file with one JSON line per paper. A paper is identified by the hash of its title and abstract. If it has
a reading, segments use that instead of pattern matching."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from assayer.models import ContentKind, Frozen
from assayer.text.contents import FoundContents, Mention, TextPart, text_with_title
from assayer.text.names import normalise_name
from index.disk_access import append_line
from index.hashing import hash64

READINGS_FILE = "readings.jsonl"


class StoredMention(NamedTuple):
    kind: ContentKind
    name: str
    introduced: bool
    built_on: bool
    start: int
    end: int


class ContentReading(Frozen):
    """Names and claims in one paper. Positions are character offsets in the text that `text_with_title` makes of title
    and abstract."""

    text: int
    """Key of the paper's text; see `compute_text_key`."""
    reader: str
    """Model and prompt version."""
    usd: float | None
    """Cost in US dollars; None if the model has no price."""
    mentions: tuple[StoredMention, ...]
    claims: tuple[tuple[int, int], ...]

    @classmethod
    def build(cls, text: int, reader: str, usd: float | None, contents: FoundContents) -> "ContentReading":
        return cls(
            text=text,
            reader=reader,
            usd=usd,
            mentions=tuple(
                StoredMention(mention.kind, mention.name, mention.introduced, mention.built_on, *mention.sentence)
                for mention in contents.mentions
            ),
            claims=tuple((claim.start, claim.end) for claim in contents.claims),
        )

    @property
    def contents(self) -> FoundContents:
        return FoundContents(
            [
                Mention(
                    mention.kind,
                    mention.name,
                    normalise_name(mention.name),
                    mention.introduced,
                    mention.built_on,
                    TextPart(mention.start, mention.end),
                )
                for mention in self.mentions
            ],
            [TextPart(*claim) for claim in self.claims],
        )


def compute_text_key(title: str, abstract: str) -> int:
    return int(hash64([text_with_title(title, abstract)])[0])


class ContentReadings(NamedTuple):
    """Readings held in memory while a version is built; a few kilobytes per paper."""

    by_text: Mapping[int, ContentReading]

    @classmethod
    def open(cls, path: Path) -> "ContentReadings":
        """Load all readings; empty if the file does not exist. Invalid lines, such as truncated ones, are skipped."""
        if not path.is_file():
            return NOTHING_READ
        readings = (_parse_line(line) for line in path.read_bytes().splitlines())
        return cls({reading.text: reading for reading in readings if reading is not None})

    def find(self, title: str, abstract: str) -> ContentReading | None:
        return self.by_text.get(compute_text_key(title, abstract)) if self.by_text else None


NOTHING_READ = ContentReadings({})


def append_reading(path: Path, reading: ContentReading) -> None:
    """Append a reading to the file and sync it to disk. Raises OSError if that fails."""
    append_line(path, reading.model_dump_json())


def _parse_line(line: bytes) -> ContentReading | None:
    try:
        return ContentReading.model_validate_json(line)
    except ValidationError:
        return None
