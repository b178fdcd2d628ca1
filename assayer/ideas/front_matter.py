"""Front matter of a text: the fields above it, written as in Markdown programs (YAML, TOML or `Title: …` lines), as
pandoc's `% title` block, or as in Org, reStructuredText or AsciiDoc."""

import re
import tomllib
from collections.abc import Mapping

import yaml

from assayer.ideas.light_markup import READERS
from assayer.ideas.record_fields import normalise_field_name
from assayer.models import FrontMatterField
from assayer.text.section_titles import is_known_title

_YAML = re.compile(r"\A\ufeff?\s*---[ \t]*\r?\n(?P<block>.*?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\A\ufeff?\s*\+\+\+[ \t]*\r?\n(?P<block>.*?)\r?\n\+\+\+[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_LINES = re.compile(
    r"\A\ufeff?\s*(?P<block>title:[ \t]*\S[^\n]*\n(?:(?:authors?|by|date|affiliations?|institutions?|e-?mail|address|"
    r"copyright|version|keywords|bibliography|subtitle|language|format):[^\n]*\n){1,12})[ \t]*\r?\n",
    re.IGNORECASE,
)
"""Pattern for MultiMarkdown's `Name: value` lines; a title alone is not enough, because plans also begin with one."""
_PERCENT = re.compile(
    r"\A\ufeff?(?P<block>%[ \t]+[^\n]+\n(?:[ \t]+[^\n]+\n){0,3}(?:%[^\n]*\n(?:[ \t]+[^\n]+\n){0,8}){1,2})[ \t]*\r?\n"
)
_FIELD = re.compile(r"^(?P<name>[\w /()-]{2,42}):[ \t]*(?P<value>[^\n]*?)[ \t\r]*$", re.MULTILINE)
_PROPERTIES = re.compile(
    r"\A\ufeff?\s*(?P<title>#[ \t]+[^\n]+\n\s*\n)"
    r"(?P<block>(?:[^\W\d_][\w /()-]{0,40}:[ \t]+[^\n]*\n){1,40})[ \t]*(?:\n|\Z)"
)
"""Title and properties of a page exported from Notion."""
_NOTION = frozenset({
    "owner", "status", "tags", "assign", "assignee", "assigned_to", "created", "created_time", "created_by", "date",
    "last_edited_time", "last_edited_by", "priority", "person", "people", "due", "due_date", "stage", "done", "url",
})  # fmt: skip
_MAX_PROPERTY_WORDS = 15
"""Maximum number of words of a property; longer values are text."""
_MAX_BLOCK_CHARS = 8_000
_MAX_BRACKETS = 100
"""Maximum number of opening brackets in a block. PyYAML's running time grows with the square of the nesting depth."""
_MAX_VALUE_CHARS = 2_000


def split_front_matter(text: str) -> tuple[tuple[FrontMatterField, ...], str]:
    """Return the fields of a block at the beginning of a text, and the text below it, in Markdown. A block that cannot
    be parsed, or is nested too deeply, counts as text."""
    for pattern, parse in _FORMS:
        match = pattern.match(text[:_MAX_BLOCK_CHARS])
        if match is None or sum(map(match["block"].count, "[{")) > _MAX_BRACKETS:
            continue
        try:
            fields = parse(match["block"])
        except (yaml.YAMLError, tomllib.TOMLDecodeError, RecursionError):
            continue
        if isinstance(fields, Mapping) and fields and all(isinstance(name, str) for name in fields):
            found = (
                FrontMatterField(name=name.strip().casefold(), value=_value(item)) for name, item in fields.items()
            )
            return tuple(found), text[match.end() :]
    if properties := _split_properties(text):
        return properties
    for reader in READERS:
        if read := reader(text.removeprefix("\ufeff")):
            named, body = read
            fields_read = tuple(
                FrontMatterField(name=name, value=value[:_MAX_VALUE_CHARS]) for name, value in named.items()
            )
            return fields_read, body
    return (), text


def _split_properties(text: str) -> tuple[tuple[FrontMatterField, ...], str] | None:
    """Return the properties between the title and the text of a page exported from Notion, and the page without them;
    None if there are none."""
    match = _PROPERTIES.match(text[:_MAX_BLOCK_CHARS])
    fields = [(line["name"], line["value"]) for line in _FIELD.finditer(match["block"])] if match else []
    if match is None or not any(normalise_field_name(name) in _NOTION for name, _ in fields):
        return None
    read = tuple((name, value) for name, value in fields if not _is_text_property(name, value))
    text_fields = "".join(f"{name}: {value}\n\n" for name, value in fields if (name, value) not in read)
    above = tuple(FrontMatterField(name=name.casefold(), value=value[:_MAX_VALUE_CHARS]) for name, value in read)
    return above, f"{match['title']}{text_fields}{text[match.end() :]}"


def _is_text_property(name: str, value: str) -> bool:
    return len(value.split()) > _MAX_PROPERTY_WORDS or is_known_title(name)


def _yaml(block: str) -> object:
    return yaml.load(block, Loader=yaml.BaseLoader)  # noqa: S506 - BaseLoader makes strings only


def _read_field_lines(block: str) -> Mapping[str, object]:
    return {match["name"]: match["value"] for match in _FIELD.finditer(block)}


def _percent(block: str) -> Mapping[str, object]:
    """Return title, authors and date of pandoc's title block; authors are separated by line breaks or semicolons."""
    fields = [" ".join(part.split()) for part in re.sub(r"\n[ \t]+", "; ", block).split("%")[1:]]
    named = dict(zip(("title", "author", "date"), fields, strict=False))
    return {name: value for name, value in named.items() if value}


_FORMS = (
    (_YAML, _yaml),
    (_TOML, tomllib.loads),
    (_LINES, _read_field_lines),
    (_PERCENT, _percent),
)


def _value(item: object) -> str:
    if isinstance(item, dict):
        # The names of authors may be keys: `- Jane Roe: {institute: X}`.
        parts = ((name if name[:1].isupper() else "", _value(part)) for name, part in item.items())
        return "; ".join(text for pair in parts for text in pair if text)[:_MAX_VALUE_CHARS]
    if isinstance(item, list):
        return "; ".join(map(_value, item))[:_MAX_VALUE_CHARS]
    return " ".join(str(item or "").split())[:_MAX_VALUE_CHARS]
