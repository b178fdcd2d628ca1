"""Word lists used by the blinding rules, one file per list."""

from functools import cache
from importlib.resources import files


def _read_lines(name: str) -> list[str]:
    text = (files("assayer.blinding") / name).read_text(encoding="utf-8")
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def split_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


@cache
def load_phrases(name: str) -> frozenset[str]:
    """Return the phrases of a file, which are separated by semicolons, casefolded."""
    return frozenset(phrase.strip().casefold() for line in _read_lines(name) for phrase in line.split(";"))


@cache
def load_groups(name: str) -> dict[str, str]:
    """Return the patterns of a file whose lines begin with the name of a group, joined into one alternation for each
    group."""
    groups: dict[str, list[str]] = {}
    for line in _read_lines(name):
        group, _, patterns = line.partition(": ")
        groups.setdefault(group, []).extend(patterns.split("; "))
    return {group: "|".join(patterns) for group, patterns in groups.items()}


@cache
def load_given_names() -> frozenset[str]:
    return frozenset(name for line in _read_lines("given_names.txt") for name in line.split())


@cache
def english_words() -> frozenset[str]:
    """Return common English words and words in names of places and funders, all in lower case."""
    others = split_words(
        """
        united states kingdom america africa asia europe republic zealand puerto rico carolina dakota north south
        central national international american nsf stem reu nih nasa usa university
        """
    )
    return others | {word for line in _read_lines("english_words.txt") for word in line.split()}


@cache
def english_words_not_surnames() -> frozenset[str]:
    return english_words() - split_words(
        """
        strong rich short field fields bank forest power best little major case chance day early fair free gold good
        hand head key law light low north page post self small white cross grant root sharp speed
        """
    )


@cache
def eponyms() -> frozenset[str]:
    """Return surnames that are also names of methods, laws or units."""
    return frozenset(name for line in _read_lines("eponyms.txt") for name in line.split())


@cache
def institutions() -> tuple[str, ...]:
    """Return the institutions whose names lack a word such as `University`, longest name first."""
    return tuple(sorted(_read_lines("institutions.txt"), key=len, reverse=True))


@cache
def load_surnames() -> frozenset[str]:
    """Return surnames in scripts without capitals."""
    return frozenset(name for line in _read_lines("surnames.txt") for name in line.split())
