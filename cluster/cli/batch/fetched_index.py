"""Index page for a folder of fetched reports, which lists every proposal by row, title and name, with its files."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from assayer.reports.escaping import join_lines

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Reports of {{ name }}</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; margin: 1.5rem auto; max-width: 80rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { border-bottom: 1px solid; padding: 0.3rem 0.6rem; text-align: start; vertical-align: top }
.figure { text-align: end; white-space: nowrap }
</style>
</head>
<body>
<h1>Reports of {{ name }}</h1>
<p>{{ reports | length }} reports. Scores from 0 to 100; no score is not a low score. From <code>{{ batch }}</code>.</p>
<table>
<thead><tr><th scope="col" class="figure">Row</th><th scope="col">Proposal</th><th scope="col">File or reference</th>\
<th scope="col" class="figure">Score</th><th scope="col">Why there is none</th><th scope="col">Report</th></tr></thead>
<tbody>
{% for report in reports %}<tr><td class="figure">{{ report.row or "" }}</td><td dir="auto">{{ report.title }}</td>\
<td>{{ report.source }}</td><td class="figure">{{ report.score }}</td><td>{{ report.lacking }}</td>\
<td>{% for kind, link in report.links %}<a href="{{ link }}">{{ kind }}</a> \
{% endfor %}</td></tr>
{% endfor %}
</tbody>
</table>
</body>
</html>
"""


class FetchedReport(NamedTuple):
    row: int | None
    title: str
    source: str
    id: str
    files: Sequence[Path]
    score: str
    lacking: str
    """Reason why there is no score; empty if there is one."""

    @property
    def links(self) -> Iterable[tuple[str, str]]:
        """Format of each file, and its URL relative to the folder."""
        return [(file.suffix.removeprefix("."), quote(file.name)) for file in self.files]


def index_page(batch: str, name: str, reports: Sequence[FetchedReport]) -> str:
    """Return the index page; `name` is the submitter's name for the batch."""
    from jinja2 import Environment

    rows = [report._replace(title=join_lines(report.title), source=join_lines(report.source)) for report in reports]
    return (
        Environment(autoescape=True)
        .from_string(_PAGE)
        .render(batch=batch, name=join_lines(name) or batch, reports=rows)
    )
