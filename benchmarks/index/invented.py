"""Any number of invented papers, and an embedding model for them that costs nothing.

Words are drawn by Zipf's law from a vocabulary of pseudo-words, and each paper has one topic, so that word lists and
clusters of vectors have about the same sizes as in a real corpus.
"""

import datetime as dt
import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assayer.ports import Vectors

_VOCABULARY, _WORDS_OF_TOPIC, _TOPICS = 200_000, 400, 4_000
_WORDS_OF_TITLE, _WORDS_OF_ABSTRACT = 10, 170
_FIRST_DAY, _DAYS = dt.date(2005, 1, 1), 7_600
_BLOCK_SIZE = 1000
_SYLLABLES = [
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "la",
    "me",
    "ni",
    "po",
    "ru",
    "sa",
    "te",
    "vi",
    "xo",
    "zu",
    "ar",
    "en",
    "is",
]


def generate_papers(count: int, seed: int, first_number: int = 0) -> Iterator[dict[str, Any]]:
    """Yield records numbered from `first_number`; the same seed gives the same records."""
    rng = np.random.default_rng(seed)
    words = _generate_vocabulary(np.random.default_rng(0))
    for start in range(first_number, first_number + count, _BLOCK_SIZE):
        numbers = np.arange(start, min(start + _BLOCK_SIZE, first_number + count))
        topics = rng.integers(_TOPICS, size=len(numbers))
        lengths = _WORDS_OF_TITLE + rng.normal(_WORDS_OF_ABSTRACT, 40, len(numbers)).clip(40, 400).astype(int)
        words_by_paper = np.split(_draw_words(rng, topics.repeat(lengths)), np.cumsum(lengths)[:-1])
        days = rng.integers(_DAYS, size=len(numbers)).tolist()
        cited_numbers = (rng.random((len(numbers), 10)) * numbers[:, None]).astype(int).tolist()
        for number, topic, text, day, references in zip(
            numbers.tolist(), topics.tolist(), words_by_paper, days, cited_numbers, strict=True
        ):
            text_words = [words[word_number] for word_number in text.tolist()]
            yield {
                "id": f"P{number}",
                "title": " ".join(text_words[:_WORDS_OF_TITLE]),
                "abstract": " ".join(text_words[_WORDS_OF_TITLE:]) + ".",
                "authors": [
                    f"{text_words[0].title()} {text_words[1].title()}",
                    f"{text_words[2].title()} {text_words[3].title()}",
                ],
                "publication_date": (_FIRST_DAY + dt.timedelta(days=day)).isoformat(),
                "venue": f"Proceedings on {words[topic]}",
                "fields": [words[topic % 20]],
                "references": [f"P{reference}" for reference in references],
            }


def generate_questions(count: int, seed: int) -> list[str]:
    """Return queries of six words from one topic each."""
    rng = np.random.default_rng(seed)
    words = _generate_vocabulary(np.random.default_rng(0))
    topics = rng.integers(_TOPICS, size=count)
    question_words = (topics[:, None] * 7919 + rng.integers(20, _WORDS_OF_TOPIC, size=(count, 6))) % _VOCABULARY
    return [" ".join(words[word_number] for word_number in word_numbers) for word_numbers in question_words.tolist()]


def write_records(path: Path, records: Iterator[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record) + "\n")
    return path


class InventedEmbedder:
    """An `assayer.ports.Embedder` that derives a text's vector from its checksum, near one of several thousand
    centres."""

    def __init__(self, dimensions: int = 384) -> None:
        rng = np.random.default_rng(1)
        self._centres = _normalise(rng.standard_normal((_TOPICS, dimensions), np.float32))
        self._around = 0.8 * _normalise(rng.standard_normal((1 << 15, dimensions), np.float32))

    @property
    def name(self) -> str:
        return f"invented-{self.dimensions}"

    @property
    def dimensions(self) -> int:
        return int(self._centres.shape[1])

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        checksums = np.array([zlib.crc32(text.encode()) for text in texts], np.int64)
        return _normalise(self._centres[checksums % _TOPICS] + self._around[checksums >> 17])


def _draw_words(rng: np.random.Generator, topics: NDArray[np.int64]) -> NDArray[np.int64]:
    """Draw a word for each topic: about half from the whole vocabulary, half from the topic's own words."""
    common = rng.zipf(1.2, len(topics)) % _VOCABULARY
    topic_words = (topics * 7919 + rng.zipf(1.3, len(topics)) % _WORDS_OF_TOPIC) % _VOCABULARY
    return np.where(rng.random(len(topics)) < 0.5, common, topic_words)


def _generate_vocabulary(rng: np.random.Generator) -> list[str]:
    lengths = rng.integers(2, 6, _VOCABULARY)
    drawn = rng.integers(len(_SYLLABLES), size=(_VOCABULARY, 5))
    return [
        "".join(_SYLLABLES[syllable_number] for syllable_number in syllable_numbers[:length])
        for syllable_numbers, length in zip(drawn.tolist(), lengths, strict=True)
    ]


def _normalise(vectors: Vectors) -> Vectors:
    normed: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return normed
