"""Ideas in JSON: which fields of a record are read, and how."""

import datetime as dt
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from assayer.errors import InputError
from assayer.ideas.parsing import idea_of_sections, parse_idea
from assayer.models import Idea, Section

__all__ = ["decode_json", "holds_idea", "idea_of_record", "named_source"]

_PARTS = (
    "abstract", "summary", "idea", "background", "introduction", "motivation", "problem", "problem_statement",
    "research_question", "research_questions", "hypothesis", "hypotheses", "related_work", "objective",
    "objectives", "aims", "approach", "proposed_approach", "method", "methods", "proposed_method",
    "methodology", "data", "experiment", "experiments", "experiment_design", "experiment_plan",
    "experimental_design", "step_by_step_experiment_plan", "evaluation", "analysis", "test_case_examples",
    "expected_results", "expected_outcomes", "contributions", "impact", "limitations", "risks", "fallback_plan",
    "timeline",
)  # fmt: skip
"""Fields that make up an idea when there is no `text`, in the order in which they are put together."""
_MOST_NAMED = 12


def decode_json(text: str, source: str) -> Any:
    """Raises InputError that names line and column."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{source} is not valid JSON: {error.msg} at {place}.", "Check quotes and commas.") from None
    except RecursionError:
        raise InputError(f"{source} is nested too deeply to be an idea.") from None
    except ValueError as error:
        raise InputError(f"{source} is not valid JSON: {error}.") from None


def _normal(field: str) -> str:
    return re.sub(r"[\s_-]+", "_", field.strip().casefold())


def holds_idea(fields: Iterable[str]) -> bool:
    """Whether one of the fields is read as the words of an idea: a title alone is none."""
    return not {_normal(field) for field in fields}.isdisjoint(("text", *_PARTS))


def _words(value: Any, depth: int = 0) -> str:
    """A field's text: strings as they are, lists as items, objects as named parts; anything else counts as none."""
    if isinstance(value, str):
        return value.strip()
    if depth < 4 and isinstance(value, list):
        items = [words for item in value if (words := _words(item, depth + 1))]
        return "\n".join(f"- {item}" for item in items)
    if depth < 4 and isinstance(value, Mapping):
        parts = {name: words for name, item in value.items() if (words := _words(item, depth + 1))}
        return "\n\n".join(f"**{name}**: {words}" for name, words in parts.items())
    return ""


def _cutoff(value: Any, source: str, latest: dt.date | None) -> dt.date | None:
    if value is None:
        return None
    remedy = "Write it as YYYY-MM-DD, for example 2024-09-30."
    if not isinstance(value, str) or not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        raise InputError(f"{source}: the cutoff {value!r} is not a date.", remedy, "cutoff")
    try:
        day = dt.date.fromisoformat(value)
    except ValueError as error:
        raise InputError(f"{source}: the cutoff {value!r} is not a date: {error}.", remedy, "cutoff") from None
    if latest and day > latest:
        raise InputError(f"{source}: the cutoff {value} lies in the future.", f"Give a day up to {latest}.", "cutoff")
    return day


def named_source(source: str, record: Mapping[Any, Any]) -> str:
    """A record's own id is only shown: it stands in the source, and the idea gets assayer's id."""
    value = next((value for name, value in record.items() if _normal(str(name)) == "id"), None)
    if not isinstance(value, str | int) or isinstance(value, bool) or not str(value).strip():
        return source
    shown = re.sub(r"[^\w.-]+", "_", str(value).strip())[:80]
    return f"{source} ({shown})"


def idea_of_record(record: Any, source: str, latest_cutoff: dt.date | None = None) -> Idea:
    """An idea from a JSON string or object: `text`, or the fields of `_PARTS`. Raises InputError."""
    if isinstance(record, str):
        return parse_idea(record, source)
    if not isinstance(record, Mapping):
        kind = {list: "a list", type(None): "null", bool: "true or false"}.get(type(record), "a number")
        raise InputError(
            f"{source} is {kind}, not an idea.", "Give an object with a `text`, or with `problem`, `method` …"
        )
    fields = {_normal(str(name)): value for name, value in record.items()}
    source = named_source(source, record)
    cutoff = _cutoff(fields.get("cutoff"), source, latest_cutoff)
    title = fields.get("title")
    if title is not None and not isinstance(title, str):
        raise InputError(f"{source}: the title is not a string.", "Put it in quotes.", "title")
    if text := _words(fields.get("text")):
        return parse_idea(text, source, title, cutoff)
    sections = [
        Section(title=name.replace("_", " ").capitalize(), text=words)
        for name in _PARTS
        if (words := _words(fields.get(name)))
    ]
    if not sections:
        named = ", ".join(map(repr, list(record)[:_MOST_NAMED])) or "none"
        raise InputError(
            f"{source} holds no text of an idea; its fields are: {named}.",
            "Give a `text`, or fields such as `title` and `abstract`, or `problem`, `method` and `experiment`.",
        )
    return idea_of_sections(sections, source, title, cutoff)
