"""Excerpt around a quote, so that the check of a claim sees the conditions stated beside the quoted words."""

from assayer.text.sentences import sentences

_EXCERPT_CHARS = 700
"""Maximum number of characters that the support check reads of a quote and the text around it."""


def excerpt(quote: str, text: str) -> str:
    """Return the quote with the preceding and following sentences, or the quote alone if it was joined from several
    pieces."""
    line = " ".join(text.split())
    start = line.find(quote)
    if start < 0:
        return quote
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
    # Sentences are returned without Markdown marks, so those of a text with marks may not be found in it.
    found = line[begin:end]
    return found if quote in found and len(found) <= _EXCERPT_CHARS else quote
