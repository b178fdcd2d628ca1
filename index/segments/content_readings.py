"""Names and claims that a language model read, kept beside the versions of a corpus: a line a paper, appended durably,
known by the hash of title and abstract. Whoever writes a segment takes them in place of what patterns find."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from assayer.models import ContentKind, Frozen
from assayer.text.contents import FoundContents, Mention, TextPart, text_with_title
from assayer.text.names import normalised_name
from index.hashing import hash64

__all__ = [
    "NOTHING_READ",
    "READINGS_FILE",
    "ContentReading",
    "ContentReadings",
    "StoredMention",
    "append_reading",
    "text_key",
]

READINGS_FILE = "readings.jsonl"


class StoredMention(NamedTuple):
    kind: ContentKind
    name: str
    introduced: bool
    built_on: bool
    start: int
    end: int


class ContentReading(Frozen):
    """Of one paper, in characters of title and abstract."""

    text: int
    """As `text_key` has it."""
    reader: str
    """The model and the version of the prompt."""
    usd: float | None
    """None where the model has no price."""
    mentions: tuple[StoredMention, ...]
    claims: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, text: int, reader: str, usd: float | None, found: FoundContents) -> "ContentReading":
        return cls(
            text=text,
            reader=reader,
            usd=usd,
            mentions=tuple(
                StoredMention(one.kind, one.name, one.introduced, one.built_on, *one.sentence) for one in found.mentions
            ),
            claims=tuple((one.start, one.end) for one in found.claims),
        )

    @property
    def contents(self) -> FoundContents:
        return FoundContents(
            [
                Mention(
                    one.kind,
                    one.name,
                    normalised_name(one.name),
                    one.introduced,
                    one.built_on,
                    TextPart(one.start, one.end),
                )
                for one in self.mentions
            ],
            [TextPart(*one) for one in self.claims],
        )


def text_key(title: str, abstract: str) -> int:
    return int(hash64([text_with_title(title, abstract)])[0])


class ContentReadings(NamedTuple):
    """Held in memory while a version is built: some kilobytes a paper that was read."""

    by_text: Mapping[int, ContentReading]

    @classmethod
    def open(cls, path: Path) -> "ContentReadings":
        """Empty where there is no file. A line that was cut off is passed over."""
        if not path.is_file():
            return NOTHING_READ
        found = (_parsed(line) for line in path.read_bytes().splitlines())
        return cls({one.text: one for one in found if one is not None})

    def of(self, title: str, abstract: str) -> ContentReading | None:
        return self.by_text.get(text_key(title, abstract)) if self.by_text else None


NOTHING_READ = ContentReadings({})


def append_reading(path: Path, reading: ContentReading) -> None:
    """On disk when it returns. Raises OSError."""
    with path.open("ab+") as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(reading.model_dump_json().encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _parsed(line: bytes) -> ContentReading | None:
    try:
        return ContentReading.model_validate_json(line)
    except ValidationError:
        return None
