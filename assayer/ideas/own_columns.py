"""Columns of a proposal's record that are not part of its text, such as the applicant, institution and amount."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from assayer.ideas.record_fields import (
    extract_field_text,
    find_part_of_field,
    normalise_field_name,
    title_field,
    why_unread,
)
from assayer.ideas.record_vocabulary import TEXTS

_MAX_COLUMNS = 60
_MAX_NAME_CHARS = 80
_MAX_VALUE_CHARS = 1_000
_READ_ELSEWHERE = ("id", "cutoff")
_NAMES = (
    *("applicant", "applicant_name", "name_of_applicant", "applicants", "pi", "pi_name", "principal_investigator"),
    *("main_applicant", "lead_applicant", "submitter", "investigator", "author", "authors", "contact_name"),
)
"""Names of columns that hold the applicant's name, in order of preference."""
_INSTITUTIONS = (
    *("institution", "host_institution", "applicant_institution", "organisation", "organization", "affiliation"),
    *("university", "org_name", "institution_name"),
)
_AMOUNTS = (
    *("amount_requested", "requested_amount", "budget", "budget_requested", "requested_budget", "amount"),
    *("requested_funding", "funding_requested", "total_cost", "total_budget", "award_amount", "total_amount"),
)
_CURRENCY = re.compile(r"_(?:usd|eur|gbp|chf|jpy|cad|aud|sek|nok|dkk|pln|czk|inr|cny)$")
_AMOUNT = re.compile(r"[^\d]*(\d[\d.,'\u2019\s]*)(?:\s*(?:[A-Za-z]{3}|[€$£]|,-|\.-))?\s*")


class ApplicantRecord(NamedTuple):
    name: str = ""
    institution: str = ""
    amount: float | None = None
    """Amount requested; None if no column states one."""
    columns: Mapping[str, str] = {}
    """All columns that are not read as the proposal's text, by name."""


def applicant_of(record: Any) -> ApplicantRecord:
    """Return what a record says about the applicant, and its columns that are not read as text. Values are shortened,
    and at most 60 columns are kept."""
    if not isinstance(record, Mapping):
        return ApplicantRecord()
    fields = {str(name): value for name, value in record.items() if not isinstance(value, Mapping | list)}
    has_text = any(normalise_field_name(name) in TEXTS and extract_field_text(value) for name, value in fields.items())
    title = title_field(fields)
    own = {
        name.strip()[:_MAX_NAME_CHARS]: " ".join(str(value).split())[:_MAX_VALUE_CHARS]
        for name, value in fields.items()
        if name != title and value is not None and _is_own(name, value, has_text=has_text) and str(value).strip()
    }
    columns = dict(list(own.items())[:_MAX_COLUMNS])
    named = {_CURRENCY.sub("", normalise_field_name(name)): value for name, value in reversed(columns.items())}
    return ApplicantRecord(
        next((named[name] for name in _NAMES if name in named), ""),
        next((named[name] for name in _INSTITUTIONS if name in named), ""),
        next((amount for name in _AMOUNTS if (amount := amount_in(named.get(name, ""))) is not None), None),
        columns,
    )


def _is_own(name: str, value: Any, *, has_text: bool) -> bool:
    normal = normalise_field_name(name)
    if not normal or normal in (*_READ_ELSEWHERE, *TEXTS):
        return False
    return why_unread(name, value) is not None or (has_text and find_part_of_field(name) is None)


def amount_in(text: str) -> float | None:
    """Return the sum of money in a cell, such as `1,200,000`, `1.200.000,50 EUR` or `$ 75000`; None if there is none.
    A single separator before three digits separates thousands."""
    match = _AMOUNT.fullmatch(text)
    if not match:
        return None
    digits = re.sub(r"['\u2019\s]", "", match[1]).rstrip(".,")
    last = max(digits.rfind("."), digits.rfind(","))
    separators = {character for character in digits if character in ".,"}
    decimal = last >= 0 and (len(separators) == 2 or (digits.count(digits[last]) == 1 and len(digits) - last - 1 != 3))
    whole, part = (digits[:last], digits[last + 1 :]) if decimal else (digits, "")
    return float(f"{re.sub('[.,]', '', whole) or '0'}.{part or '0'}")
