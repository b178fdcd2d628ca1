"""Work item of `assayer evaluate` that runs in this process or another: evaluate an idea and write its report."""

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from assayer.models import Idea, Report
from assayer.reports.bibliographies import correct_entries, render_bibtex, render_ris
from assayer.reports.graphml import render_graphml
from assayer.reports.html import render_html
from assayer.reports.json_and_csv import render_json
from assayer.reports.markdown import render_report_markdown
from cluster.cli.evaluation_summary import ReportRecord, SummaryRow, build_report_record
from cluster.cli.output import ReportFormat, write_files, write_formats

if TYPE_CHECKING:
    from assayer.ports import Progress
    from cluster.engine import Engine
    from cluster.run_request import RunRequest

_RENDER: dict[ReportFormat, Callable[[Report], str]] = {
    ReportFormat.html: render_html,
    ReportFormat.md: render_report_markdown,
    ReportFormat.json: render_json,
    ReportFormat.bibtex: lambda report: render_bibtex(correct_entries(report)),
    ReportFormat.ris: lambda report: render_ris(correct_entries(report)),
}

_PAGES = (ReportFormat.html, ReportFormat.md, ReportFormat.json)


class WrittenReport(NamedTuple):
    line: SummaryRow
    record: ReportRecord
    report: Report | None
    """The idea's report. None if there are too many to show in a terminal, because thousands of reports are not kept in
    memory."""


def write_report(stem: Path, report: Report, formats: Sequence[ReportFormat] | None = None) -> list[Path]:
    """Write a report in the formats (by default its pages), and the method's graph, if any; return the paths. `stem` is
    their common path without suffixes. Raises InputError if a file cannot be written."""
    files = write_formats(stem, report, _RENDER, formats or _PAGES)
    if report.graph is not None:
        files += write_files({stem.with_name(f"{stem.name}.graphml"): render_graphml(report, report.graph)})
    return files


@dataclass(frozen=True)
class WriteReport:
    """Work item for an engine: evaluate one idea and write its report."""

    idea: Idea
    stem: Path
    """Path of the files, without suffixes."""
    method: str
    cutoff: dt.date | None
    run_request: "RunRequest"
    formats: Sequence[ReportFormat] | None
    kept: bool
    """Whether to return the report as well as write it."""

    async def __call__(self, engine: "Engine", progress: "Progress") -> WrittenReport:
        """Evaluate the idea and write its report files. Raises AssayerError if either fails."""
        report = (await engine.evaluate(self.idea, self.method, self.cutoff, progress, self.run_request)).report
        files = write_report(self.stem, report, self.formats)
        return WrittenReport(
            SummaryRow.from_report(report, files), build_report_record(report, files), report if self.kept else None
        )
