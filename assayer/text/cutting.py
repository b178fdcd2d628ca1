"""Truncation of texts at a word boundary, or anywhere in scripts without spaces."""

_LONGEST_WORD = 40
"""Maximum characters of a word. A longer run without a space is Chinese, Japanese, Thai or a similar script."""


def first_words(text: str, most: int) -> str:
    """Return the text, or its beginning of at most `most` characters."""
    if len(text) <= most:
        return text
    whole, _, begun = text[:most].rpartition(" ")
    return text[:most] if len(begun + text[most : most + _LONGEST_WORD].partition(" ")[0]) > _LONGEST_WORD else whole


def last_words(text: str, most: int) -> str:
    """Return the text, or its end of at most `most` characters."""
    return first_words(text[::-1], most)[::-1]
