"""Point scores of ideas from the JSON reports of `assayer evaluate`: where a ranking starts."""

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from assayer.errors import InputError
from assayer.models import IdeaId, Report
from assayer.reports.point_score import score_of

__all__ = ["read_reports", "read_scores"]


def read_scores(folder: Path) -> dict[IdeaId, float]:
    """Of every idea with a report that scores it, 0 to 1; the mean where there are several reports.

    Raises InputError for a folder without reports, for reports that cannot be read, and for several methods at once.
    """
    reports = list(read_reports(folder))
    methods = sorted({report.method for report in reports})
    if not methods:
        raise InputError(f"{folder} holds no report.", "Give a folder that `assayer evaluate --format json` wrote.")
    if len(methods) > 1:
        raise InputError(
            f"{folder} holds reports of {' and '.join(methods)}, whose scores cannot be compared.",
            "Give the reports of one method.",
        )
    found: dict[IdeaId, list[float]] = defaultdict(list)
    for report in reports:
        if (score := score_of(report)) is not None:
            found[report.idea.id].append(score)
    return {idea: sum(scores) / len(scores) for idea, scores in found.items()}


def read_reports(folder: Path) -> Iterator[Report]:
    """One after another, by file name. Raises InputError for what is no folder and for reports that cannot be read."""
    return (report for path in _files(folder) if (report := _report(path)) is not None)


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder.", "Give the folder that `assayer evaluate --format json` wrote.")
    return sorted(folder.glob("*.json"))


def _report(path: Path) -> Report | None:
    """None for JSON that is no report, such as a ranking in the same folder."""
    try:
        content = json.loads(path.read_text("utf-8"))
        if not isinstance(content, dict) or "evaluation_id" not in content:
            return None
        return Report.model_validate(content)
    except (OSError, ValueError, ValidationError):
        raise InputError(f"{path} cannot be read as a report.", "Evaluate its idea again, or take it away.") from None
