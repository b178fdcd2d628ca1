"""What a person or a program reads: a report as JSON, Markdown or one self-contained HTML file."""

from assayer.reports.html import as_html
from assayer.reports.markdown import as_markdown
from assayer.reports.schema import as_json, report_schema

__all__ = ["as_html", "as_json", "as_markdown", "report_schema"]
