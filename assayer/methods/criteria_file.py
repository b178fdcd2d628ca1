"""Read the criteria of a call for proposals from a TOML file: `[[criteria]]` entries with name, question, anchors and
weight."""

from pathlib import Path

from assayer.errors import InputError
from assayer.methods.toml_files import parse_entries, parse_toml, read_text_file, require_distinct
from assayer.models import MAX_CRITERIA, Criterion


def load_criteria(path: Path) -> tuple[Criterion, ...]:
    """Load the criteria from a file. Raises InputError, naming the file, entry and field, if they are invalid."""
    return parse_criteria(read_text_file(path), path.name)


def parse_criteria(text: str, file: str) -> tuple[Criterion, ...]:
    """Parse the criteria in a TOML text. Raises InputError, naming the file, entry and field, if they are invalid."""
    criteria = parse_entries(parse_toml(text, file, ("criteria",)), "criteria", Criterion, file)
    require_distinct((criterion.name for criterion in criteria), "criterion", file)
    if len(criteria) > MAX_CRITERIA:
        raise InputError(
            f"{file} has {len(criteria)} criteria; at most {MAX_CRITERIA} are allowed.", "Merge some of them."
        )
    return criteria
