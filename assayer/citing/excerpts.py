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


def join_excerpts(quotes: Collection[str], text: str) -> dict[str, str]:
    """Return the excerpt of each quote. Excerpts that overlap are joined if the result is not too long, so that a
    prompt with several of them shows each sentence once."""
    line = " ".join(text.split())
    spans = {quote: span for quote in quotes if (span := _excerpt_span(quote, line))}
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


def _excerpt_span(quote: str, line: str) -> _Span | None:
    """Return the span of a quote's excerpt in a text on one line; None if the excerpt is the quote alone."""
    start = line.find(quote)
    if start < 0:
        return None
    line_sentences = sentences(line, min_words=1)
    begin, end = start, start + len(quote)
    position = 0
    for index, sentence in enumerate(line_sentences):
        position = line.find(sentence, position)
        if position <= start < position + len(sentence):
            previous_sentence = line_sentences[index - 1] if index else ""
            begin = max(line.rfind(previous_sentence, 0, position), 0) if previous_sentence else position
        if position < start + len(quote) <= position + len(sentence):
            next_sentence = line_sentences[index + 1] if index + 1 < len(line_sentences) else ""
            end = line.find(next_sentence, position) + len(next_sentence) if next_sentence else position + len(sentence)
    # Sentences are returned without Markdown marks, so in a text with such marks they may not be found.
    excerpt_text = line[begin:end]
    return _Span(begin, end) if quote in excerpt_text and len(excerpt_text) <= _EXCERPT_CHARS else None
