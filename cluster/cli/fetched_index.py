"""The page from which a folder of fetched reports is read: every proposal by row, title and name, with its files."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from assayer.reports.escaping import one_line

__all__ = ["FetchedReport", "index_page"]

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Reports of {{ batch }}</title>
</head>
<body>
<h1>Reports of {{ batch }}</h1>
<table>
<thead><tr><th scope="col">Row</th><th scope="col">Proposal</th><th scope="col">File or reference</th>\
<th scope="col">Id</th><th scope="col">Report</th></tr></thead>
<tbody>
{% for one in reports %}<tr><td>{{ one.row or "" }}</td><td dir="auto">{{ one.title }}</td><td>{{ one.source }}</td>\
<td><code>{{ one.id }}</code></td><td>{% for kind, link in one.links %}<a href="{{ link }}">{{ kind }}</a> \
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

    @property
    def links(self) -> Iterable[tuple[str, str]]:
        """Kind and address, seen from the folder."""
        return [(file.suffix.removeprefix("."), quote(file.name)) for file in self.files]


def index_page(batch: str, reports: Sequence[FetchedReport]) -> str:
    from jinja2 import Environment

    shown = [one._replace(title=one_line(one.title), source=one_line(one.source)) for one in reports]
    return Environment(autoescape=True).from_string(_PAGE).render(batch=batch, reports=shown)
