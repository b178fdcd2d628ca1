"""How search time, build time and size grow with the rows, as a picture."""

from collections.abc import Sequence
from pathlib import Path

__all__ = ["draw"]


def draw(points: Sequence[tuple[int, float, float, float, float]], path: Path) -> None:
    """Rows, milliseconds a query asked alone and in a batch, seconds of a processor to build, megabytes of the index;
    each against the rows, all logarithmic."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    matplotlib.rcParams["svg.hashsalt"] = "assayer"
    rows = [point[0] for point in points]
    figure, axes = pyplot.subplots(1, 4, figsize=(14, 3.4), layout="constrained")
    names = ("one query, ms", "one query of a batch, ms", "build, s of processor", "index, MB")
    for axis, name, column in zip(axes, names, zip(*[point[1:] for point in points], strict=True), strict=True):
        axis.loglog(rows, column, marker="o")
        axis.set_title(name)
        axis.set_xlabel("vectors of 384 dimensions")
        axis.grid(visible=True, which="both", alpha=0.3)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
