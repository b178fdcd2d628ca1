"""Cut excerpts around quotes, so that the support check sees conditions stated next to the quoted words."""

from collections.abc import Collection
from typing import NamedTuple

from assayer.text.sentences import sentences

_EXCERPT_CHARS = 700
"""Maximum number of characters in an excerpt, including the quote."""


class _Span(NamedTuple):
    start: int
    end: int


def excerpt(quote: str, text: str) -> str:
    """Return the quote with the sentences before and after it. Returns the quote alone if it was joined from several
    pieces or the excerpt would be too long."""
    line = " ".join(text.split())
    span = _excerpt_span(quote, line)
    return quote if span is None else line[span.start : span.end]


def joined_excerpts(quotes: Collection[str], text: str) -> dict[str, str]:
    """Return the excerpt of each quote. Excerpts that overlap are joined if the result is not too long, so that a
    prompt with several of them shows each sentence once."""
    line = " ".join(text.split())
    spans = {quote: span for quote in quotes if (span := _excerpt_span(quote, line))}
    found = {quote: quote for quote in quotes}
    joined = _Span(0, 0)
    members: list[str] = []
    for quote, span in sorted(spans.items(), key=lambda item: item[1]):
        end = max(joined.end, span.end)
        if members and span.start < joined.end and end - joined.start <= _EXCERPT_CHARS:
            joined = _Span(joined.start, end)
        else:
            joined, members = span, []
        members.append(quote)
        found |= dict.fromkeys(members, line[joined.start : joined.end])
    return found


def _excerpt_span(quote: str, line: str) -> _Span | None:
    """Return the span of a quote's excerpt in a text on one line; None if the excerpt is the quote alone."""
    start = line.find(quote)
    if start < 0:
        return None
    around = sentences(line, min_words=1)
    begin, end = start, start + len(quote)
    at = 0
    for place, sentence in enumerate(around):
        at = line.find(sentence, at)
        if at <= start < at + len(sentence):
            before = around[place - 1] if place else ""
            begin = max(line.rfind(before, 0, at), 0) if before else at
        if at < start + len(quote) <= at + len(sentence):
            after = around[place + 1] if place + 1 < len(around) else ""
            end = line.find(after, at) + len(after) if after else at + len(sentence)
    # Sentences are returned without Markdown marks, so in a text with such marks they may not be found.
    found = line[begin:end]
    return _Span(begin, end) if quote in found and len(found) <= _EXCERPT_CHARS else None
