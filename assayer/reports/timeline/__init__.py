"""When an evaluation did what, drawn: what ran side by side, what waited, how deep the calls depend on each other."""

from assayer.reports.timeline.chart import Chart, chart_of
from assayer.reports.timeline.page import as_timeline_html

__all__ = ["Chart", "as_timeline_html", "chart_of"]
