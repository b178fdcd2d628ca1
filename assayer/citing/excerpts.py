"""Cut an excerpt around a quote, so that the support check sees conditions stated next to the quoted words."""

from assayer.text.sentences import sentences

_EXCERPT_CHARS = 700
"""Maximum number of characters in an excerpt, including the quote."""


def excerpt(quote: str, text: str) -> str:
    """Return the quote with the sentences before and after it. Returns the quote alone if it was joined from several
    pieces or the excerpt would be too long."""
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
    # Sentences are returned without Markdown marks, so in a text with such marks they may not be found.
    found = line[begin:end]
    return found if quote in found and len(found) <= _EXCERPT_CHARS else quote
