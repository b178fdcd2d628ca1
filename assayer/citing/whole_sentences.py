"""Extend a quote to whole sentences, so that it is not separated from words that negate, limit or question it."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache

from assayer.citing.quotes import SourceSpan
from assayer.text.content_words import content_words
from assayer.text.headings import find_headings
from assayer.text.scripts import WORD_LETTER, count_unspaced_letters
from assayer.text.sentences import sentence_spans

MIN_WORDS = 8
"""Minimum number of words in a quote, unless it is a whole sentence."""
MIN_CONTENT_WORDS = 4
"""Minimum number of distinct content words in a quote."""
_MAX_CONTEXT_CHARS = 400
"""Maximum number of characters of a sentence shown on either side of a quote."""
_WORD = re.compile(rf"{WORD_LETTER}+")
_sentence_spans = lru_cache(maxsize=256)(sentence_spans)  # many quotes come from the same paragraphs


def find_quoted_sentences(source: str, spans: Sequence[SourceSpan]) -> list[SourceSpan]:
    """Return the paragraph's sentences that contain the spans, in order; adjacent sentences form one span. A very long
    sentence is cut to the text around its span."""
    quoted_sentences: list[SourceSpan] = []
    for span in spans:
        start, end = _find_sentence(source, span)
        if quoted_sentences and not source[quoted_sentences[-1].end : start].strip():
            quoted_sentences[-1] = SourceSpan(quoted_sentences[-1].start, max(end, quoted_sentences[-1].end))
        else:
            quoted_sentences.append(SourceSpan(start, end))
    return quoted_sentences


def _find_sentence(source: str, span: SourceSpan) -> SourceSpan:
    sentences = _sentence_spans(source)
    start = sentences[bisect_right(sentences, span.start, key=lambda item: item[0]) - 1][0]
    end = sentences[min(bisect_left(sentences, span.end, key=lambda item: item[1]), len(sentences) - 1)][1]
    start = max([start, *(heading.end for heading in find_headings(source[: span.start]))])
    if span.start - start > _MAX_CONTEXT_CHARS:
        start = min(source.find(" ", span.start - _MAX_CONTEXT_CHARS) % len(source), span.start)
    if end - span.end > _MAX_CONTEXT_CHARS:
        end = max(source.rfind(" ", 0, span.end + _MAX_CONTEXT_CHARS), span.end)
    return SourceSpan(start, end)


def explain_too_short(source: str, spans: Sequence[SourceSpan]) -> str | None:
    """Return why a quote has too few words to be informative, worded to follow `not verified:`. None if it has
    enough."""
    text = " ".join(source[span.start : span.end] for span in spans)
    unspaced_words = count_unspaced_letters(text) // 2
    word_count = len(_WORD.findall(text))
    if unspaced_words >= MIN_WORDS:
        return None
    if len(content_words(text)) < MIN_CONTENT_WORDS:
        return "too few words to be informative"
    sentences = " ".join(source[span.start : span.end] for span in find_quoted_sentences(source, spans))
    is_whole = word_count == len(_WORD.findall(sentences))
    return (
        None
        if word_count + unspaced_words >= MIN_WORDS or is_whole
        else f"fewer than {MIN_WORDS} words of a longer sentence"
    )
