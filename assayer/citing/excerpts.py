"""Cut excerpts around quotes, so that the support check sees conditions stated next to the quoted words."""

from bisect import bisect_left, bisect_right
from collections.abc import Collection
from typing import NamedTuple

from assayer.text.sentences import sentence_spans

_EXCERPT_CHARS = 700
"""Maximum number of characters in an excerpt, including the quote."""


class _Span(NamedTuple):
    start: int
    end: int


def cut_excerpt(quote: str, text: str) -> str:
    """Return the quote with the sentences before and after it, as far as they fit. Returns the quote alone if it was
    joined from several pieces or if its own sentences are too long."""
    line = " ".join(text.split())
    span = _find_excerpt_span(quote, line)
    return quote if span is None else line[span.start : span.end]


def join_excerpts(quotes: Collection[str], text: str) -> dict[str, str]:
    """Return the excerpt of each quote. Excerpts that overlap are joined if the result is not too long, so that a
    prompt with several of them shows each sentence once."""
    line = " ".join(text.split())
    spans = {quote: span for quote in quotes if (span := _find_excerpt_span(quote, line))}
    excerpts_by_quote = {quote: quote for quote in quotes}
    joined = _Span(0, 0)
    members: list[str] = []
    for quote, span in sorted(spans.items(), key=lambda item: item[1]):
        end = max(joined.end, span.end)
        if members and span.start < joined.end and end - joined.start <= _EXCERPT_CHARS:
            joined = _Span(joined.start, end)
        else:
            joined, members = span, []
        members.append(quote)
        excerpts_by_quote |= dict.fromkeys(members, line[joined.start : joined.end])
    return excerpts_by_quote


def _find_excerpt_span(quote: str, line: str) -> _Span | None:
    """Return the span of a quote's excerpt in a text on one line; None if the excerpt is the quote alone."""
    start = line.find(quote)
    if start < 0:
        return None
    spans = [_Span(*span) for span in sentence_spans(line)]
    first_index = bisect_right(spans, start, key=lambda span: span.start) - 1
    last_index = bisect_left(spans, start + len(quote), key=lambda span: span.end)
    excerpt_span = _Span(spans[first_index].start, spans[last_index].end)
    # The sentence that follows comes first, because it may limit the quoted words.
    for neighbour in (*spans[last_index + 1 : last_index + 2], *spans[max(first_index - 1, 0) : first_index]):
        extended = _Span(min(excerpt_span.start, neighbour.start), max(excerpt_span.end, neighbour.end))
        excerpt_span = extended if _measure_length(extended, line) <= _EXCERPT_CHARS else excerpt_span
    return _strip_trailing_space(excerpt_span, line) if _measure_length(excerpt_span, line) <= _EXCERPT_CHARS else None


def _strip_trailing_space(span: _Span, line: str) -> _Span:
    """Return the span without the space after its last sentence."""
    return span._replace(end=span.start + len(line[span.start : span.end].rstrip()))


def _measure_length(span: _Span, line: str) -> int:
    stripped = _strip_trailing_space(span, line)
    return stripped.end - stripped.start
