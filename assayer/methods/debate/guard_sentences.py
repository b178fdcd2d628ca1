"""Score, with a linear model over word senses, whether a sentence is an instruction to the judge and whether it lacks
content.

A sentence's features are the senses that occur together in it (`guard_senses.toml`, fifteen languages), its form and,
in English, its words and word pairs. The weights were fitted at commit ec3f1495 with `benchmarks/guards` on
generated wordings and honest texts. Time is linear in the length of a sentence, which is bounded."""

import base64
import binascii
import re
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from itertools import combinations, pairwise
from math import log
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from assayer.text.content_words import is_grammar

BUCKETS = 1 << 15
_PACKAGE = "assayer.methods.debate"
_MAX_CHARS = 600
"""Maximum number of characters in a sentence; longer ones are cut into pieces."""
_END = re.compile(r"(?<=[.!?;])(?=\s)|[\n。！？；।]")
_WORD = re.compile(r"[^\W_]+(?:['’/-][^\W_]+)*")
_DEVANAGARI = re.compile("[\u0900-\u0963\u0966-\u097f]+")
"""Matches runs of Devanagari, whose vowel signs Python does not treat as letters."""
_WITHOUT_SPACES = re.compile("[\u0600-\u06ff\u0900-\u097f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_USUAL_SENTENCES = 10
"""Usual number of sentences in an abstract."""
_SHORT_WORD = 4
"""Maximum length of a short word. Words in the lists that are longer also match any word that begins with them."""
_ENGLISH_SHARE = 0.12
"""Minimum share of function words for a text to count as English."""

_FORMS = {
    "assigned": re.compile(r"[\"'`*]?\b\w{2,30}\b[\"'`*]{0,3}\s{0,3}(?::=|==?|:|=>|->|→)\s{0,3}[\"'`*]{0,3}"
                           r"(?:1(?:\.0{1,3})?|10|100|5|true|yes|match|pass|accept\w{0,4}|positive|full)\b(?!\s?[-%])",
                           re.I),
    "quoted_key": re.compile(r"[\"'][a-z_]{2,30}[\"']\s{0,3}:", re.I),
    "tag": re.compile(r"</?[a-z_]{2,20}>|<\||\|>|\[/?[A-Z]{3,12}\]|###|```|={3}|-{3}|\*{3}|<<|>>"),
    "speaker": re.compile(r"^\W{0,6}(?:system|user|assistant|human|ai|judge|grader|evaluator|analyst|critic|moderator"
                          r"|reviewer|referee|admin|developer|note|p\.?s)\b[^:\n]{0,20}:", re.I),
    "full_marks": re.compile(r"\b(?:10|5|100)\s?(?:/|out of)\s?(?:10|5|100)\b", re.I),
    "question": re.compile(r"[?？]\W{0,3}$"),
    "exclamation": re.compile(r"[!！]\W{0,3}$"),
    "capitals": re.compile(r"\b[A-Z]{4,20} [A-Z]{2,20} [A-Z]{2,20}\b"),
    "gap": re.compile(r"\[[^\[\]\n]{1,60}\]|<[^<>\n]{1,60}>|\{[^{}\n]{1,60}\}|_{3}|\.{3}|…|\?{3}|x{3}", re.I),
    "number_one": re.compile(r"(?<![\w.])1(?:\.0)?(?![\w.,%-])"),
}  # fmt: skip


class SentenceScores(NamedTuple):
    """Log-odds relative to the threshold: a score above 0 means that the property is detected."""

    order: float
    """Score for being an instruction to the judges."""
    nothing: float
    """Score for lacking content where an idea should be stated."""


def split_sentences(text: str) -> Iterator[str]:
    """Yield the text's sentences, then sentences decoded from obfuscated text: spaced-out letters, digits in place of
    letters, base64."""
    for sentence in _END.split(text):
        for start in range(0, len(sentence), _MAX_CHARS):
            if part := sentence[start : start + _MAX_CHARS].strip():
                yield part
    yield from _find_hidden_texts(text)


def contains_instruction(text: str) -> bool:
    """Return whether any sentence in the text sounds like an instruction to the judges."""
    sentences = list(split_sentences(text))
    return any(score_sentence(item).order > compute_threshold(len(sentences)) for item in sentences)


def compute_threshold(sentences: int) -> float:
    """Return the score that a sentence must exceed in a text with this many sentences: the more there are, the likelier
    it is that one sounds odd by chance."""
    return 1.5 * max(0.0, log(sentences / _USUAL_SENTENCES)) if sentences else 0.0


def score_sentence(sentence: str) -> SentenceScores:
    weights, bias = _load_weights()
    order_score, empty_score = weights[:, list(index_features(extract_features(sentence)))].sum(axis=1) + bias
    return SentenceScores(float(order_score), float(empty_score))


def extract_features(sentence: str) -> set[str]:
    """Return the names of all features detected in the sentence."""
    folded_sentence = sentence.casefold()
    words = [item.replace("’", "'") for item in _WORD.findall(_DEVANAGARI.sub(" ", folded_sentence))]
    words += _DEVANAGARI.findall(folded_sentence)
    senses = sorted(_find_senses(folded_sentence, words))
    features = {f"form {name}" for name, form in _FORMS.items() if form.search(sentence)}
    features |= {f"sense {item}" for item in senses} | {
        f"senses {item} {other}" for item, other in combinations(senses, 2)
    }
    features |= {f"{form} {sense}" for form in sorted(features) if form.startswith("form") for sense in senses}
    if words:
        features |= {f"first {item}" for item in _find_senses(words[0], words[:1])}
    features.add(f"length {min(len(words), 40).bit_length()}")
    if _is_english(words):
        features |= {f"word {word}" for word in words}
        features |= {f"words {item} {other}" for item, other in pairwise(["<", *words, ">"])}
    return features


def index_features(names: Iterable[str]) -> set[int]:
    """Return the indices of the features' weights. Several features can share an index."""
    return {crc32(name.encode()) % BUCKETS for name in names}


def _is_english(words: list[str]) -> bool:
    return len(words) < 4 or sum(map(is_grammar, words)) >= _ENGLISH_SHARE * len(words)


def _find_senses(folded_sentence: str, words: list[str]) -> set[str]:
    by_word, beginnings, runs = _load_senses()
    senses = {sense for word in words for sense in by_word.get(word, ())}
    for word in words:
        for size in range(_SHORT_WORD + 1, len(word)):
            senses |= beginnings.get(word[:size], frozenset())
    if _WITHOUT_SPACES.search(folded_sentence):
        senses |= {sense for run, sense in runs if run in folded_sentence}
    return senses


@cache
def _load_senses() -> tuple[dict[str, frozenset[str]], dict[str, frozenset[str]], tuple[tuple[str, str], ...]]:
    """Load the senses of whole words, of word beginnings, and of character sequences in scripts without spaces."""
    words_by_sense = tomllib.loads((files(_PACKAGE) / "guard_senses.toml").read_text(encoding="utf-8"))["senses"]
    pairs = [
        (word.replace("_", " ").casefold(), sense) for sense, text in words_by_sense.items() for word in text.split()
    ]
    by_word: dict[str, frozenset[str]] = {}
    for word, sense in pairs:
        by_word[word] = by_word.get(word, frozenset()) | {sense}
    beginnings = {word: senses for word, senses in by_word.items() if len(word) > _SHORT_WORD}
    return by_word, beginnings, tuple((word, sense) for word, sense in pairs if _WITHOUT_SPACES.search(word))


@cache
def _load_weights() -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Load the weights for `order` and `nothing` per hash bucket, and their bias. The file stores weights as integers
    in units of 1/16."""
    with (files(_PACKAGE) / "guard_weights.npz").open("rb") as file, np.load(file, allow_pickle=False) as archive:
        return archive["weights"].astype(np.float32) / 16, archive["bias"].astype(np.float32)


_SPACED = re.compile(r"(?<!\w)(?:\w[ ._*-]{1,3}){8,200}\w(?!\w)")
_SPACES = re.compile(r"[ ]{2,3}")
_FIGURED = re.compile(r"\b(?=\w{0,20}[a-z])(?=\w{0,20}[013457@$])[a-z013457@$]{3,20}\b", re.I)
_FIGURES = str.maketrans("013457@$", "oleastas")
_ENCODED = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/]{24,4000}={0,2}(?![\w+/=])")


def _find_hidden_texts(text: str) -> Iterator[str]:
    for match in _SPACED.finditer(text):
        yield " ".join(re.sub(r"[ ._*-]", "", part) for part in _SPACES.split(match[0]))
    for match in _ENCODED.finditer(text):
        try:
            decoded_text = base64.b64decode(match[0] + "=" * (-len(match[0]) % 4)).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            continue
        yield from (item for item in (decoded_text[:_MAX_CHARS].strip(),) if item.isprintable())
    if len(_FIGURED.findall(text)) >= 2:
        yield from (
            _FIGURED.sub(lambda m: m[0].translate(_FIGURES), item)[:_MAX_CHARS]
            for item in _END.split(text)
            if len(_FIGURED.findall(item)) >= 2
        )
