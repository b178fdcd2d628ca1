"""`make bench` fails if a figure got worse, or could not be measured in this checkout."""

from pathlib import Path

import pytest

from benchmarks.paired import Figure, Tree, compare

_FIGURE = Figure("start", "pass", ())


@pytest.mark.parametrize(
    ("baseline", "current", "problems", "cell"),
    [
        (1.0, 1.05, [], "1.05 (1.05, 1.05)"),
        (1.0, 1.2, ["start: 1.20 times the baseline"], "1.20 (1.20, 1.20)"),
        (None, 1.0, [], "no baseline"),
        (1.0, None, ["start: failed in this checkout"], "failed"),
    ],
    ids=["equal", "slower", "new", "broken"],
)
def test_figure_that_got_worse_or_fails_in_this_checkout_is_a_problem(
    baseline: float | None,
    current: float | None,
    problems: list[str],
    cell: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    seconds = {"baseline": baseline, "now": current}
    monkeypatch.setattr(Tree, "measure_cpu_seconds", lambda tree, figure: seconds[tree.root.name])
    trees = [Tree(Path(name), Path(name)) for name in seconds]
    assert list(compare(trees, [_FIGURE], pairs=2)) == problems
    assert f"| {cell} |" in capsys.readouterr().out


def test_command_that_fails_has_no_cpu_seconds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = Tree(tmp_path, tmp_path / "home")
    assert tree.measure_cpu_seconds(Figure("stop", "raise SystemExit('no')", ())) is None
    assert "stop failed: ['no']" in capsys.readouterr().err
    measured = tree.measure_cpu_seconds(Figure("count", "sum(range(3_000_000))", ()))
    assert measured is not None
    assert measured > 0.01
