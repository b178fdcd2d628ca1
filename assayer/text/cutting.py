"""Truncation of texts at a word boundary or, in scripts without spaces, at any character."""

_MAX_WORD_CHARS = 40
"""Maximum characters of a word. A longer run without a space is text in Chinese, Japanese, Thai or a similar script."""


def keep_beginning(text: str, most: int) -> str:
    """Return the text; if it is longer than `most` characters, only its beginning."""
    if len(text) <= most:
        return text
    whole, _, begun = text[:most].rpartition(" ")
    return (
        text[:most] if len(begun + text[most : most + _MAX_WORD_CHARS].partition(" ")[0]) > _MAX_WORD_CHARS else whole
    )


def keep_end(text: str, most: int) -> str:
    """Return the text; if it is longer than `most` characters, only its end."""
    return keep_beginning(text[::-1], most)[::-1]
