"""Exports that are recognised by their fields: answers to a form, projects of ANR, grants of Crossref, items of Zotero
and databases of Notion. Records of some are rewritten; an export without a proposal is refused by its name."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from assayer.ideas.record_fields import normalise_field_name

METADATA = "data about the item, not its text"
_MAX_DEPTH = 4
_TIMES = frozenset({
    "timestamp", "zeitstempel", "horodateur", "marca_temporal", "carimbo_de_data_hora", "informazioni_cronologiche",
    "tijdstempel", "tidsstämpel", "tidsstempel", "sygnatura_czasowa", "отметка_времени", "时间戳记",
    "タイムスタンプ", "타임스탬프",
})  # fmt: skip
"""Names of the first column in answers to Google Forms."""
_SURVEYS = (
    {"start_time", "completion_time"}, {"respondent_id", "collector_id"}, {"start_date_utc", "submit_date_utc"},
    {"startdate", "enddate", "recordeddate"}, {"start_date", "end_date", "recorded_date"},
)  # fmt: skip
"""Columns of answers to Microsoft Forms, SurveyMonkey, Typeform and Qualtrics."""
_NOTION = frozenset({
    "owner", "status", "tags", "assign", "assignee", "created_time", "last_edited_time", "created_by", "last_edited_by",
    "created", "priority", "person", "due_date",
})  # fmt: skip
_READ_OF_ITEM = frozenset({"title", "abstract", "abstract_note", "creators", "author", "authors", "editor", "id"})
_GRANT_PEOPLE = ("lead-investigator", "co-lead-investigator", "investigator")


class Export(NamedTuple):
    name: str
    remedy: str


_FORM = Export(
    "answers to a form", "Export a form in which people describe the proposal, or name such a column `text`."
)
_ANR = Export(
    "a list of ANR without summaries",
    "Use ANR's list of projects, with Projet.Resume.Anglais or Projet.Resume.Francais.",
)
_GRANT = Export(
    "a grant in Crossref's format without a description",
    "Use grants that have a `project-description`, or add a `text`.",
)
_ITEM = Export(
    "an export from Zotero without abstracts",
    "Add abstracts in Zotero, or name the file as the `bibliography` of a proposal.",
)
_DATABASE = Export(
    "a database exported from Notion without text",
    "Export it from Notion as Markdown, with subpages.",
)


def find_export(record: Any) -> Export | None:
    """Return the export that a record, or a record nested in it, comes from; None if it is unknown."""
    return next((export for names in _nested_names(record, 0) if (export := export_of(names))), None)


def _nested_names(value: Any, depth: int) -> Iterator[Collection[str]]:
    if isinstance(value, Mapping):
        yield [str(name) for name in value]
    if depth < _MAX_DEPTH and isinstance(value, Mapping | list):
        for child in list(value.values() if isinstance(value, Mapping) else value)[:20]:
            yield from _nested_names(child, depth + 1)


def export_of(names: Iterable[str]) -> Export | None:
    """Return the export that has fields with these names; None if it is unknown."""
    known = {normalise_field_name(name) for name in names}
    if is_form(known):
        return _FORM
    if any("anr" in name.split("_") for name in known) and any(name.startswith(("projet", "code")) for name in known):
        return _ANR
    if "doi" in known and known & {"award", "award_start", "project"}:
        return _GRANT
    if "item_type" in known:
        return _ITEM
    return _DATABASE if "name" in known and len(known & _NOTION) > 1 else None


def is_form(names: Collection[str]) -> bool:
    """Return whether fields with these normal names are answers to a form."""
    return bool(_TIMES & set(names)) or any(survey <= set(names) for survey in _SURVEYS)


def metadata_fields(fields: Mapping[str, Any]) -> frozenset[str]:
    """Return the fields of an item of a reference manager that are not its text."""
    names = {name: normalise_field_name(name) for name in fields}
    if "item_type" not in names.values():
        return frozenset()
    return frozenset(name for name, normal in names.items() if normal not in _READ_OF_ITEM)


def flatten_grant(record: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the fields of a grant in Crossref's format: title and description of its projects, the people, and all
    other fields; None for other records."""
    projects = record.get("project")
    projects = [project for project in projects if isinstance(project, Mapping)] if isinstance(projects, list) else []
    if not any("project-title" in project or "project-description" in project for project in projects):
        return None
    titles, descriptions = (
        [text for project in projects for text in _texts(project.get(name), part)]
        for name, part in (("project-title", "title"), ("project-description", "description"))
    )
    people = {
        name: [person for project in projects for person in project.get(name) or ()]
        for name in _GRANT_PEOPLE
        if any(project.get(name) for project in projects)
    }
    rest = {name: value for name, value in record.items() if name != "project"}
    funding = {"funding": [project.get("funding") for project in projects]} if projects else {}
    return {"title": titles[0] if titles else "", "abstract": "\n\n".join(descriptions), **people, **funding, **rest}


def _texts(value: Any, part: str) -> Iterator[str]:
    """Yield the texts in a list of objects; of several languages, English alone."""
    items = [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []
    english = [item for item in items if str(item.get("language", "en")).startswith("en")]
    yield from (str(item[part]) for item in english or items if item.get(part))


def person_names(value: Any, depth: int = 0) -> Iterator[str]:
    """Yield the names of people in a field: texts, or objects with a given and a family name."""
    if isinstance(value, str):
        yield from filter(None, [" ".join(value.split())])
    elif isinstance(value, Mapping):
        parts = {normalise_field_name(str(name)): item for name, item in value.items() if isinstance(item, str)}
        given = next((parts[name] for name in ("given", "first_name", "firstname", "given_name") if name in parts), "")
        family = next((parts[name] for name in ("family", "last_name", "lastname", "surname") if name in parts), "")
        full = next((parts[name] for name in ("name", "full_name", "display_name") if name in parts), "")
        yield from filter(None, [f"{given} {family}".strip() or full])
    elif isinstance(value, list) and depth < _MAX_DEPTH:
        for item in value:
            yield from person_names(item, depth + 1)
