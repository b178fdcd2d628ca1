"""Point scores of ideas from the JSON reports of `assayer evaluate`: where a ranking starts."""

import json
from collections import defaultdict
from pathlib import Path

from pydantic import ValidationError

from assayer.errors import InputError
from assayer.models import IdeaId, Report, Verdict
from assayer.reports.page import share

__all__ = ["read_scores", "score_of"]


def read_scores(folder: Path) -> dict[IdeaId, float]:
    """Of every idea with a report that scores it, 0 to 1; the mean where there are several reports.

    Raises InputError for a folder without reports, for reports that cannot be read, and for several methods at once.
    """
    reports = [report for path in _files(folder) if (report := _report(path)) is not None]
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


def score_of(report: Report) -> float | None:
    """Mean of the parts' scores on their scales; without any, the mean place of the outcome that labelled ideas
    give, where outcomes have an order. None where neither is there."""
    parts = [value for part in report.parts if (value := share(part.score)) is not None]
    if parts:
        return sum(parts) / len(parts)
    verdict = report.verdict
    if not isinstance(verdict, Verdict) or not verdict.probabilities or not verdict.graph.ordered:
        return None
    last = len(verdict.graph.outcomes) - 1
    return sum(one.probability * verdict.graph.outcomes.index(one.name) / last for one in verdict.probabilities)


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
