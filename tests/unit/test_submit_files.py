"""Files that `assayer batch submit` sends, and their grouping; drawing of `assayer batch timeline`."""

import datetime as dt
from pathlib import Path

import pytest

from assayer.errors import InputError
from assayer.reports.timeline_chart import build_timeline_chart, count_running
from assayer_client.reports import Span, Timeline
from cluster.cli.batch.submit import list_files_to_upload, upload_batches
from cluster.cli.batch.timeline import compute_peak_concurrency, draw_chart
from cluster.cli.output import write_files


def write_sized_files(folder: Path, **sizes: int) -> None:
    for name, size in sizes.items():
        (folder / name.replace("__", ".")).write_bytes(b"x" * size)


def test_folder_upload_includes_only_readable_files_sorted_by_name(tmp_path: Path) -> None:
    write_sized_files(tmp_path, b__pdf=1, a__txt=1, c__csv=1, cutoff__txt=1, notes__xyz=1, __hidden__md=1)
    (tmp_path / "deeper").mkdir()
    assert [file.name for file in list_files_to_upload([tmp_path])] == ["a.txt", "b.pdf", "c.csv"]


def test_symlink_leaving_folder_is_skipped_with_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "ideas"
    folder.mkdir()
    write_sized_files(tmp_path, secret__txt=1)
    write_sized_files(folder, a__txt=1)
    (folder / "b.txt").symlink_to("../secret.txt")
    (folder / "c.txt").symlink_to(folder / "a.txt")
    assert [file.name for file in list_files_to_upload([folder])] == ["a.txt", "c.txt"]
    assert "b.txt is a link to a file outside the folder" in capsys.readouterr().err
    assert list_files_to_upload([folder / "b.txt"]) == [folder / "b.txt"]


def test_report_replaces_symlink_without_writing_through_it(tmp_path: Path) -> None:
    write_sized_files(tmp_path, target__txt=3, there__md=3)
    link = tmp_path / "idea.md"
    link.symlink_to(tmp_path / "target.txt")
    assert write_files({link: "a report", tmp_path / "there.md": "another"}) == [link, tmp_path / "there.md"]
    assert (tmp_path / "target.txt").read_bytes() == b"xxx"
    assert (link.read_text(), link.is_symlink()) == ("a report", False)
    assert (tmp_path / "there.md").read_text() == "another"


def test_explicitly_named_file_is_uploaded_regardless_of_type(tmp_path: Path) -> None:
    write_sized_files(tmp_path, notes__xyz=1)
    assert list_files_to_upload([tmp_path / "notes.xyz"]) == [tmp_path / "notes.xyz"]


@pytest.mark.parametrize("name", ["none.txt", "empty"])
def test_missing_or_empty_path_is_rejected(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=name):
        list_files_to_upload([tmp_path / name])


def test_files_are_batched_in_order_and_oversized_file_sent_alone(tmp_path: Path) -> None:
    write_sized_files(tmp_path, a__txt=40, b__txt=50, c__txt=30, d__txt=500, e__txt=10)
    batches = [[file.name[0] for file in bundle] for bundle in upload_batches(list_files_to_upload([tmp_path]), 100)]
    assert batches == [["a", "b"], ["c"], ["d"], ["e"]]


def make_timeline() -> Timeline:
    start = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)

    def compute_time(seconds: float) -> dt.datetime:
        return start + dt.timedelta(seconds=seconds)

    spans = (
        Span(name="in the queue", kind="wait", start=compute_time(0), end=compute_time(5)),
        Span(name="judge", kind="call", start=compute_time(5), end=compute_time(10)),
        Span(name="judge", kind="call", start=compute_time(7.5), end=compute_time(10)),
    )
    return Timeline(id="ev_1", title="[bold]An idea", state="succeeded", start=start, end=compute_time(10), spans=spans)


def test_timeline_chart_shows_waiting_and_concurrent_requests() -> None:
    lines = [line.plain for line in draw_chart(build_timeline_chart(make_timeline()), 72)]
    assert lines[0] == "[bold]An idea"
    assert "at most 2 at once" in lines[1]
    assert lines[2][30:50] == "━" * 11 + " " * 9
    assert lines[3][30:50] == " " * 10 + "▄" * 5 + "█" * 5
    assert lines[3].endswith("2 (2 at once)")


def test_chart_column_shows_peak_concurrency_of_its_interval() -> None:
    chart = build_timeline_chart(make_timeline())
    assert compute_peak_concurrency(count_running(chart.asked), 10, 4) == [0, 0, 1, 2]
    assert compute_peak_concurrency((), 10, 3) == [0, 0, 0]


def test_timeline_of_an_evaluation_answered_from_the_cache_is_drawn() -> None:
    start = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
    cached = Span(name="judge", kind="call", start=start, end=start, outcome="cached")
    timeline = Timeline(id="ev_1", title="An idea", state="succeeded", start=start, end=start, spans=(cached,))
    lines = [line.plain for line in draw_chart(build_timeline_chart(timeline), 72)]
    assert "1 calls, 1 from the cache" in lines[1]
    assert lines[2].startswith("judge")
