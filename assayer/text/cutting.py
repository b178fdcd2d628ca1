"""Truncation of texts at a word boundary or, in scripts without spaces, at any character."""

_MAX_WORD_CHARS = 40
"""Maximum characters of a word. A longer run without a space is text in Chinese, Japanese, Thai or a similar script."""


def keep_beginning(text: str, max_chars: int) -> str:
    """Return the text; if it is longer than `max_chars` characters, only its beginning."""
    if len(text) <= max_chars:
        return text
    whole, _, begun = text[:max_chars].rpartition(" ")
    return (
        text[:max_chars]
        if len(begun + text[max_chars : max_chars + _MAX_WORD_CHARS].partition(" ")[0]) > _MAX_WORD_CHARS
        else whole
    )


def keep_end(text: str, max_chars: int) -> str:
    """Return the text; if it is longer than `max_chars` characters, only its end."""
    return keep_beginning(text[::-1], max_chars)[::-1]
