"""What a person or a program reads of a ranking: one HTML file, Markdown, JSON or a table."""

from assayer.reports.ranking.pages import as_ranking_html, as_ranking_markdown
from assayer.reports.ranking.records import as_csv, as_ranking_json, ranking_schema

__all__ = ["as_csv", "as_ranking_html", "as_ranking_json", "as_ranking_markdown", "ranking_schema"]
