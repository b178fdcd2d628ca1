"""The form for a funding call's terms: the values as typed are parsed into the call's details, with a message for each
error."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from assayer.errors import InputError
from assayer.methods.criteria_file import parse_criteria
from assayer_client.batches import BatchPatch
from assayer_client.calls import CallTerms, ReviewField, ReviewForm
from assayer_client.evaluations import CriterionBody
from orchestrator.jobs.submissions import BatchStatus
from orchestrator.problems import HttpProblem
from orchestrator.services.batch_summaries import parse_tags
from orchestrator.services.call_criteria import parse_criterion_bodies
from orchestrator.validation_wording import describe_validation_error

M = TypeVar("M", bound=BaseModel)

MAX_ROWS = 12
_BLANK_ROWS = 2
_ANCHOR_LINE = re.compile(r"(\d{1,3})[ \t]*[=:\s][ \t]*(.*)")
_TITLES = {
    "name": "Name",
    "tags": "Tags",
    "opinions_due": "Reviews due by",
    "text": "Call text",
    "deadline": "Deadline for proposals",
    "eligibility": "Who may apply",
    "budget": "Budget",
    "currency": "Currency",
    "conflict_policy": "Conflicts of interest",
    "coauthor_years": "Years for co-authors",
    "confidence": "Ask how certain the reviewer is",
    "to_applicant": "Ask for comments to the applicant",
}
"""Field titles, for messages about the fields."""
_TEXT_FIELDS = ("text", "eligibility", "currency", "conflict_policy", "coauthor_years")


class CallForm(NamedTuple):
    """The form's values as typed, and the call details parsed from the valid ones."""

    values: Mapping[str, str]
    details: dict[str, Any]
    faults: list[str]


def parse_form(values: Mapping[str, str]) -> CallForm:
    """Parse a submitted form."""
    faults: list[str] = []
    entered = {name: value.replace("\r\n", "\n").strip() for name, value in values.items()}
    for number in range(MAX_ROWS):
        if not entered.get(f"field-{number}-name") and not entered.get(f"field-{number}-question"):
            entered.pop(f"field-{number}-kind", None)  # an empty row's menu has a value too
    criteria = _parse_criteria(entered, faults)
    fields = [
        field
        for number, row in _parse_rows(entered, "field", ("name", "question", "kind"))
        if (field := _validate(ReviewField, _parse_field(row), f"Question {number + 1} of the review form", faults))
    ]
    form = ReviewForm(fields=tuple(fields), confidence="confidence" in entered, to_applicant="to_applicant" in entered)
    term_names = ("text", "deadline", "eligibility", "budget", "currency", "conflict_policy", "coauthor_years")
    terms = {name: entered[name] for name in term_names if entered.get(name)}
    details = {"name": entered.get("name", ""), "tags": parse_tags(entered.get("tags", ""))}
    if not details["name"]:
        faults.append("Name: give the call a name.")
    call_terms = _validate(CallTerms, terms | {"criteria": criteria, "form": form}, "", faults)
    patch = _validate(BatchPatch, details | {"opinions_due": entered.get("opinions_due") or None}, "", faults)
    if len({field.name.casefold() for field in fields}) < len(fields):
        faults.append("Review form: give every question a different name.")
    patch_fields = {name: getattr(patch, name) for name in ("name", "tags", "opinions_due")} if patch else {}
    return CallForm(entered, patch_fields | {"terms": call_terms}, faults)


def get_form_values(call: BatchStatus, terms: CallTerms) -> dict[str, str]:
    """Return the form values that represent a call's stored details."""
    values = {
        "name": call.name,
        "tags": ", ".join(call.tags),
        "opinions_due": str(call.opinions_due or ""),
        "deadline": str(terms.deadline or ""),
        "budget": "" if terms.budget is None else f"{terms.budget:.15g}",
        **{key: str(getattr(terms, key)) for key in _TEXT_FIELDS},
        **({"confidence": "on"} if terms.form.confidence else {}),
        **({"to_applicant": "on"} if terms.form.to_applicant else {}),
    }
    for number, criterion in enumerate(terms.criteria):
        anchors = sorted(criterion.anchors.items(), key=lambda anchor: int(anchor[0]))
        row = {
            "name": criterion.name,
            "question": criterion.question,
            "anchors": "\n".join(f"{score} = {meaning}" for score, meaning in anchors),
            "weight": f"{criterion.weight:g}",
        }
        values |= {f"criterion-{number}-{key}": value for key, value in row.items()}
    for number, field in enumerate(terms.form.fields):
        values |= {f"field-{number}-name": field.name, f"field-{number}-question": field.question}
        values[f"field-{number}-kind"] = get_field_kind(field)
    return values


def get_field_kind(field: ReviewField) -> str:
    """Return a question's kind as named in the form's menu, such as `scale-5` or `text-optional`."""
    scale = f"-{field.highest}" if field.kind == "scale" else ""
    return f"{field.kind}{scale}{'' if field.required else '-optional'}"


def get_field_title(name: str) -> str:
    """Return a form field's title, for messages about it."""
    kind, _, rest = name.partition("-")
    number, _, part = rest.partition("-")
    if kind in ("criterion", "field") and number.isdigit():
        return f"{'Criterion' if kind == 'criterion' else 'Question'} {int(number) + 1}, {part}"
    return _TITLES.get(name, name)


def count_form_rows(values: Mapping[str, str], kind: str) -> int:
    """Return how many rows for criteria or questions the form shows: those with values, plus some blank ones."""
    used_rows = [int(name.split("-")[1]) + 1 for name, value in values.items() if name.startswith(f"{kind}-") and value]
    return min(MAX_ROWS, max(used_rows, default=0) + _BLANK_ROWS)


def _parse_rows(values: Mapping[str, str], kind: str, keys: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the numbers and values of the rows (for criteria or questions) in which a name or a question was typed."""
    for number in range(MAX_ROWS):
        row = {key: values.get(f"{kind}-{number}-{key}", "") for key in keys}
        if row["name"] or row["question"]:
            yield number, row


def _parse_criteria(values: Mapping[str, str], faults: list[str]) -> list[CriterionBody]:
    if toml := values.get("criteria_toml"):
        try:
            parsed_criteria = parse_criteria(toml, "The text")
        except InputError as error:
            faults.append(f"Criteria: {error}")
            return []
        return [CriterionBody.model_validate_json(criterion.model_dump_json()) for criterion in parsed_criteria]
    criteria = []
    for number, row in _parse_rows(values, "criterion", ("name", "question", "anchors", "weight")):
        location = f"Criterion {number + 1}"
        try:
            fields = row | {"anchors": _parse_anchors(row["anchors"]), "weight": row["weight"] or "1"}
        except ValueError as error:
            faults.append(f"{location}: {error}")
            continue
        if (criterion := _validate(CriterionBody, fields, location, faults)) is not None:
            criteria.append(criterion)
    try:
        parse_criterion_bodies(criteria, "")
    except HttpProblem as problem:
        faults.append(f"Criteria: {problem.detail}")
    return criteria


def _parse_anchors(text: str) -> dict[str, str]:
    """Parse score anchors, one per line, such as `10 = the field would work differently` or `10 new`. Raises ValueError
    if a line does not begin with a score."""
    anchors = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        match = _ANCHOR_LINE.fullmatch(line)
        if not match:
            raise ValueError(f"write “{line[:60]}” as a score and its meaning: 10 = the field would work differently.")
        anchors[str(int(match[1]))] = match[2]
    return anchors


def _parse_field(row: Mapping[str, str]) -> dict[str, Any]:
    kind, _, rest = (row["kind"] or "text").partition("-")
    highest = rest.partition("-")[0]
    return {
        "name": row["name"] or row["question"][:60],
        "question": row["question"],
        "kind": kind,
        "required": not rest.endswith("optional"),
    } | ({"highest": highest} if highest.isdigit() else {})


def _validate(model: type[M], fields: Mapping[str, Any], location: str, faults: list[str]) -> M | None:
    """Return the model built from the fields. If they are invalid, add a message for each error to `faults` and return
    None."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        for field_error in error.errors(include_url=False):
            name = str(field_error["loc"][0]) if field_error["loc"] else ""
            field = f"{location}, {name}" if location else _TITLES.get(name, name)
            faults.append(f"{field}: {describe_validation_error(field_error)}")
        return None
