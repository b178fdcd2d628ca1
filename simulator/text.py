"""Sentences and phrases of a text, with a cache, because the idea is part of every prompt."""

import re
from functools import lru_cache
from random import Random

MIN_LENGTH, MAX_LENGTH = 25, 200
"""Minimum and maximum characters of a sentence to quote."""
MIN_QUOTE_WORDS = 8
"""Minimum number of words in a quote."""

_WORD_OR_BREAK = re.compile(r"[^\W\d_][\w-]*|[.,;:!?()\[\]\n]")
_LABEL = re.compile(
    r"\[[A-Z]\d|://|www\.|\bet\.? al|[(\[, ](?:19|20)\d\d[a-z]?[)\]]|\[\d|arxiv|\bdoi\b|\\cite", re.IGNORECASE
)
"""Labels and citations, which must not get into a sound answer by accident."""
_STOPWORDS = """
    a about above across after again against all also although among an and any approach are as at be because
    been before being between both but by can could did do does doing each either et etc evaluate existing few first
    for from further given had has have having how however if in into is it its itself many may method methods might
    more most much must new no nor not novel of often on once one only or other our out over own paper per problem
    propose proposed same second several should show since so some such than that the their them then there these
    they third this those three through thus to two under until up use used using various very via was we well were
    what when where whether which while who whose why will with within without would yet you your"""
_STOPWORD = frozenset(_STOPWORDS.split())


@lru_cache(maxsize=2048)
def split_sentences(text: str) -> tuple[str, ...]:
    """Return the verbatim sentences of 25 to 200 characters that contain nothing like a label or a citation."""
    candidates = []
    for line in text.splitlines():
        parts = line.split(". ")
        for part in parts[:-1]:
            candidates.append(part.strip() + ".")
        candidates.append(parts[-1].strip())
    return tuple(
        candidate
        for candidate in candidates
        if MIN_LENGTH <= len(candidate) <= MAX_LENGTH and not _LABEL.search(candidate)
    )


@lru_cache(maxsize=2048)
def extract_phrases(text: str) -> tuple[str, ...]:
    """Return runs of two to four content words, longer ones first; if there are none, single words."""
    runs: list[list[str]] = [[]]
    for token in _WORD_OR_BREAK.findall(text[:6000]):
        if len(token) < 3 or token.lower() in _STOPWORD:
            runs.append([])
        else:
            runs[-1].append(token)
    distinct_phrases = dict.fromkeys(" ".join(run[:4]) for run in runs if len(run) > 1)
    if not distinct_phrases:
        distinct_phrases = dict.fromkeys(run[0] for run in runs if run)
    return tuple(sorted(distinct_phrases, key=lambda phrase: -phrase.count(" ")))


def draw_passage(text: str, random: Random) -> str:
    """Return a random verbatim sentence, preferably not from the first paragraph, which is a title; if there is no
    suitable sentence, the beginning of the text."""
    body = text.partition("\n\n")[2]
    candidates = _select_quotable(body) or _select_quotable(text) or split_sentences(body) or split_sentences(text)
    return random.choice(candidates) if candidates else clip(_LABEL.split(text)[0].strip(), MAX_LENGTH)


def _select_quotable(text: str) -> tuple[str, ...]:
    return tuple(sentence for sentence in split_sentences(text) if len(sentence.split()) >= MIN_QUOTE_WORDS)


def clip(text: str, max_length: int) -> str:
    """Return the text cut to at most `max_length` characters, at the end of a word if possible."""
    if len(text) <= max_length:
        return text
    cut = text.rfind(" ", 0, max_length + 1)
    return text[: cut if cut > 0 else max_length]
