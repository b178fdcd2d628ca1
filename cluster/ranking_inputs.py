"""Starting data of a ranking: scores from reports of `assayer evaluate`, and comparisons from an earlier ranking."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from assayer.errors import InputError
from assayer.models import Absent, Idea, IdeaId, Report
from assayer.ranking.comparison import sanitised_comparison
from assayer.ranking.known_comparisons import (
    HandedInComparison,
    Judging,
    KnownComparisons,
    explain_refused,
    split_comparisons,
)
from assayer.ranking.report_evidence import evidence_of
from assayer.reports.scores import score_of
from assayer.text.sanitise import sanitise
from assayer_client.comparisons import Comparison
from cluster.whole_files import read_whole_text


class KnownFile(NamedTuple):
    """Comparisons read from a file of an earlier ranking."""

    comparisons: list[Comparison]
    names: dict[IdeaId, str]
    """Names that the submitters gave the ideas, if the file contains them."""


class ReportScores(NamedTuple):
    by_idea: dict[IdeaId, float]
    """Score of each idea, from 0 to 1; the mean if an idea has several reports."""
    absent: Counter[str]
    """Reasons why reports have no starting score, with the number of reports for each reason."""


def read_scores(folder: Path) -> ReportScores:
    """Return the score of every idea for which a report has a score.

    Raises InputError for a folder without reports, for reports that cannot be read, and for reports of several methods.
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
    absent: Counter[str] = Counter()
    for report in reports:
        score = score_of(report)
        if isinstance(score, Absent):
            absent[score.reason] += 1
        else:
            found[report.idea.id].append(score)
    return ReportScores({idea: sum(scores) / len(scores) for idea, scores in found.items()}, absent)


class ReportEvidence(NamedTuple):
    by_idea: dict[IdeaId, str]
    blind: dict[IdeaId, bool]
    """True for ideas that were masked when the report was made."""


def read_evidence(folder: Path, chars: int) -> ReportEvidence:
    """Return the evidence of each report shown to a judge, at most `chars` characters each; if an idea has several
    reports, the first by file name is used. Raises InputError under the same conditions as `read_reports`, and for
    a folder without reports."""
    by_idea: dict[IdeaId, str] = {}
    blind: dict[IdeaId, bool] = {}
    for report in read_reports(folder):
        if report.idea.id not in by_idea:
            by_idea[report.idea.id] = evidence_of(report, chars)
            blind[report.idea.id] = report.idea.blinding is not None
    if not by_idea:
        raise InputError(f"{folder} holds no report.", "Give a folder that `assayer evaluate --format json` wrote.")
    return ReportEvidence(by_idea, blind)


def read_reports(folder: Path) -> Iterator[Report]:
    """Yield the reports one by one, ordered by file name. Raises InputError if the path is not a folder or a report
    cannot be read."""
    return (report for path in _files(folder) if (report := _report(path)) is not None)


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise InputError(f"{folder} is no folder.", "Give the folder that `assayer evaluate --format json` wrote.")
    return sorted(folder.glob("*.json"))


def _report(path: Path) -> Report | None:
    """Return the report, or None for JSON that is not a report, such as a ranking in the same folder."""
    try:
        content = json.loads(path.read_text("utf-8"))
        if not isinstance(content, dict) or "evaluation_id" not in content:
            return None
        return Report.model_validate(content)
    except (OSError, ValueError, ValidationError):
        raise InputError(f"{path} cannot be read as a report.", "Evaluate its idea again, or take it away.") from None


def read_comparisons(path: Path) -> KnownFile:
    """Read the comparisons of an earlier ranking, with texts sanitised like all external text. Raises InputError naming
    the first line that is not a valid comparison."""
    found, names = list[Comparison](), dict[IdeaId, str]()
    for number, line in enumerate(read_whole_text(path).split("\n"), start=1):
        if line.strip():
            named = _comparison(line, f"{path}:{number}")
            found.append(sanitised_comparison(named.without_names()))
            for idea, name in ((named.first, named.first_reference), (named.second, named.second_reference)):
                if clean := " ".join(sanitise(name)[0].split()):
                    names[idea] = clean
    return KnownFile(found, names)


def comparisons_between(
    ideas: Sequence[Idea], known: Sequence[Comparison], judging: Judging, path: Path
) -> KnownComparisons:
    """Return the comparisons between two of these ideas that were judged under the current conditions. Raises
    InputError if none can be used, because the file is then probably not the intended one."""
    usable = split_comparisons(known, {idea.id for idea in ideas}, judging)
    if usable.refused and not usable.usable:
        raise InputError(
            f"{path}: {explain_refused(usable.refused, judging)}",
            "Leave out --known, or judge as those were judged: --blind or --no-blind, with or without --evidence, by "
            "the same model and respects.",
        )
    if not usable.usable:
        raise InputError(
            f"None of the {len(known)} comparisons in {path} is between two of these {len(ideas)} ideas.",
            "An idea whose words have changed is another idea; give the file of a ranking of these ones.",
        )
    return usable


def _comparison(line: str, place: str) -> HandedInComparison:
    try:
        return HandedInComparison.model_validate_json(line)
    except ValidationError:
        raise InputError(
            f"{place} is not a valid comparison.", "Give the comparisons.jsonl that an earlier `assayer rank` wrote."
        ) from None
