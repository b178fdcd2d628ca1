"""Comparisons of a ranking as a file, so that a later ranking of more ideas starts from them."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from assayer.errors import InputError
from assayer.models import Idea
from assayer.models.ranking import Comparison
from assayer.ranking.handed_in import sanitised

__all__ = ["among", "read_comparisons"]


def read_comparisons(path: Path) -> list[Comparison]:
    """Raises InputError naming the first line that is none; reasons are sanitised like all text from outside."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or 'it is no text'}.") from None
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            found.append(_comparison(line, f"{path}:{number}"))
    return found


def among(ideas: Sequence[Idea], known: Sequence[Comparison], path: Path) -> int:
    """How many are of two of these ideas. Raises InputError where none is: it is then not the file that was meant."""
    ids = {idea.id for idea in ideas}
    used = sum(one.first in ids and one.second in ids for one in known)
    if not used:
        raise InputError(
            f"None of the {len(known)} comparisons in {path} is between two of these {len(ideas)} ideas.",
            "An idea whose words have changed is another idea; give the file of a ranking of these ones.",
        )
    return used


def _comparison(line: str, place: str) -> Comparison:
    try:
        one = Comparison.model_validate_json(line)
    except ValidationError:
        raise InputError(
            f"{place} is not a comparison.", "Give the comparisons.jsonl that an earlier `assayer rank` wrote."
        ) from None
    return sanitised(one)
