"""Read a ranking's inputs: scores and evidence from reports by `assayer evaluate`, and comparisons from an earlier
ranking."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from assayer.errors import InputError
from assayer.models import Absent, Idea, IdeaId, Report
from assayer.ranking.comparison import sanitise_comparison
from assayer.ranking.known_comparisons import (
    Judging,
    KnownComparisons,
    SubmittedComparison,
    explain_refused,
    split_comparisons,
)
from assayer.ranking.report_evidence import format_evidence
from assayer.reports.scores import compute_total_score
from assayer.text.sanitise import sanitise
from assayer_client.comparisons import Comparison
from cluster.whole_files import read_whole_text


class KnownFile(NamedTuple):
    """Comparisons read from an earlier ranking's file."""

    comparisons: list[Comparison]
    names: dict[IdeaId, str]
    """Submitters' names for the ideas, where the file contains them."""


class ReportScores(NamedTuple):
    by_idea: dict[IdeaId, float]
    """Score of each idea, from 0 to 1; the mean if an idea has several reports."""
    absent: Counter[str]
    """Why reports have no initial score, with the number of reports for each reason."""


def read_scores(folder: Path) -> ReportScores:
    """Return the score of each idea that has a report with a score.

    Raises InputError if the folder contains no reports, an unreadable report, or reports by different methods."""
    reports = list(read_reports(folder))
    methods = sorted({report.method for report in reports})
    if not methods:
        raise InputError(f"{folder} contains no reports.", "Pass an output folder of `assayer evaluate --format json`.")
    if len(methods) > 1:
        raise InputError(
            f"{folder} contains reports by different methods ({', '.join(methods)}), whose scores are not comparable.",
            "Pass a folder with reports by one method.",
        )
    scores_by_idea: dict[IdeaId, list[float]] = defaultdict(list)
    reasons: Counter[str] = Counter()
    for report in reports:
        score = compute_total_score(report)
        if isinstance(score, Absent):
            reasons[score.reason] += 1
        else:
            scores_by_idea[report.idea.id].append(score)
    return ReportScores({idea: sum(scores) / len(scores) for idea, scores in scores_by_idea.items()}, reasons)


class ReportEvidence(NamedTuple):
    by_idea: dict[IdeaId, str]
    blind: dict[IdeaId, bool]
    """Whether the idea was masked when the report was made."""


def read_evidence(folder: Path, chars: int) -> ReportEvidence:
    """Return the evidence that a ranking judge is shown from each report, at most `chars` characters per idea. If an
    idea has several reports, the first by file name is used. Raises the errors of `read_reports`, and InputError if the
    folder contains no reports."""
    by_idea: dict[IdeaId, str] = {}
    blind: dict[IdeaId, bool] = {}
    for report in read_reports(folder):
        if report.idea.id not in by_idea:
            by_idea[report.idea.id] = format_evidence(report, chars)
            blind[report.idea.id] = report.idea.blinding is not None
    if not by_idea:
        raise InputError(f"{folder} contains no reports.", "Pass an output folder of `assayer evaluate --format json`.")
    return ReportEvidence(by_idea, blind)


def read_reports(folder: Path) -> Iterator[Report]:
    """Yield the reports one by one, ordered by file name. Raises InputError if the path is not a folder or a report
    cannot be read."""
    return (report for path in _list_report_files(folder) if (report := _parse_report(path)) is not None)


def _list_report_files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder.", "Pass an output folder of `assayer evaluate --format json`.")
    return sorted(folder.glob("*.json"))


def _parse_report(path: Path) -> Report | None:
    """Return the report, or None for JSON that is not a report, such as a ranking in the same folder."""
    try:
        content = json.loads(path.read_text("utf-8"))
        if not isinstance(content, dict) or "evaluation_id" not in content:
            return None
        return Report.model_validate(content)
    except (OSError, ValueError, ValidationError):
        raise InputError(f"{path} is not a readable report.", "Evaluate its idea again, or remove the file.") from None


def read_comparisons(path: Path) -> KnownFile:
    """Read an earlier ranking's comparisons and sanitise their texts. Raises InputError for the first line that is not
    a valid comparison."""
    comparisons, names = list[Comparison](), dict[IdeaId, str]()
    for number, line in enumerate(read_whole_text(path).split("\n"), start=1):
        if line.strip():
            comparison = _parse_comparison(line, f"{path}:{number}")
            comparisons.append(sanitise_comparison(comparison.drop_names()))
            for idea, name in (
                (comparison.first, comparison.first_reference),
                (comparison.second, comparison.second_reference),
            ):
                if clean_text := " ".join(sanitise(name)[0].split()):
                    names[idea] = clean_text
    return KnownFile(comparisons, names)


def select_comparisons_between(
    ideas: Sequence[Idea], known: Sequence[Comparison], judging: Judging, path: Path
) -> KnownComparisons:
    """Return the known comparisons between two of these ideas that were judged under the current conditions. If there
    are none, raises InputError, because the file is probably the wrong one."""
    split = split_comparisons(known, {idea.id for idea in ideas}, judging)
    if split.refused and not split.usable:
        raise InputError(
            f"{path}: {explain_refused(split.refused, judging)}",
            "Omit --known, or use the options of the ranking that made the comparisons: --blind or --no-blind, "
            "--evidence, the model and the dimensions.",
        )
    if not split.usable:
        raise InputError(
            f"None of the {len(known)} comparisons in {path} is about two of these {len(ideas)} ideas.",
            "An idea whose text has changed counts as a different idea. Pass the file of a ranking of these ideas.",
        )
    return split


def _parse_comparison(line: str, place: str) -> SubmittedComparison:
    try:
        return SubmittedComparison.model_validate_json(line)
    except ValidationError:
        raise InputError(
            f"{place} is not a valid comparison.", "Pass the comparisons.jsonl written by an earlier `assayer rank`."
        ) from None
