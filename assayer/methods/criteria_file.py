"""Criteria of a call for proposals in a TOML file: `[[criteria]]` with name, question, anchors and weight."""

from pathlib import Path

from assayer.errors import InputError
from assayer.methods.toml_files import parse_entries, parse_toml, read_text_file, require_distinct
from assayer.models import MOST_CRITERIA, Criterion


def load_criteria(path: Path) -> tuple[Criterion, ...]:
    """Return the criteria in a file. Raises an InputError that names the file, entry and field."""
    return criteria_of(read_text_file(path), path.name)


def criteria_of(text: str, file: str) -> tuple[Criterion, ...]:
    """Return the criteria in the text of a TOML file. Raises an InputError that names the file, entry and field."""
    criteria = parse_entries(parse_toml(text, file, ("criteria",)), "criteria", Criterion, file)
    require_distinct((criterion.name for criterion in criteria), "criterion", file)
    if len(criteria) > MOST_CRITERIA:
        raise InputError(
            f"{file} has {len(criteria)} criteria, but at most {MOST_CRITERIA} are allowed.", "Merge some."
        )
    return criteria
