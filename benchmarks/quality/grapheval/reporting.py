"""Formatting of numbers and table rows for all parts of the benchmark."""

from assayer.methods.grapheval.scoring.metrics import Estimate


def format_estimate(estimate: Estimate) -> str:
    return f"{estimate.value:.3f} [{estimate.low:.3f}, {estimate.high:.3f}]"


def format_row(*cells: str) -> str:
    """Return a row of a Markdown table."""
    return f"| {' | '.join(cells)} |"
