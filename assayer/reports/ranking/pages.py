"""A ranking as one HTML file and as Markdown, by the means and under the policy of the reports."""

import re
from collections.abc import Sequence

from assayer.models.ranking import Comparison, Ranking
from assayer.reports import html, markdown
from assayer.reports.ranking.page import RankingPage

__all__ = ["as_ranking_html", "as_ranking_markdown"]


def as_ranking_html(ranking: Ranking, comparisons: Sequence[Comparison]) -> str:
    """`comparisons` are those that the ranking rests on; the reasons shown for small groups stand in them."""
    css, css_hash = html.stylesheet("report.css", "ranking.css")
    template = html.environment().get_template("ranking.html")
    page = RankingPage(ranking, comparisons)
    return template.render(page=page, ranking=ranking, css=css, css_hash=css_hash) + "\n"


def as_ranking_markdown(ranking: Ranking, comparisons: Sequence[Comparison]) -> str:
    template = markdown.environment().get_template("ranking.md")
    text = template.render(page=RankingPage(ranking, comparisons), ranking=ranking)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
