"""Texts cut to a length: at a word's border, or anywhere in scripts that write none."""

__all__ = ["first_words", "last_words"]

_LONGEST_WORD = 40
"""Characters. What goes on for longer without a space is Chinese, Japanese, Thai or the like."""


def first_words(text: str, most: int) -> str:
    """The whole text, or its beginning of at most so many characters."""
    if len(text) <= most:
        return text
    whole, _, begun = text[:most].rpartition(" ")
    return text[:most] if len(begun + text[most : most + _LONGEST_WORD].partition(" ")[0]) > _LONGEST_WORD else whole


def last_words(text: str, most: int) -> str:
    """The same from the end."""
    return first_words(text[::-1], most)[::-1]
