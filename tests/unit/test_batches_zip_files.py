"""Archives of files: what lies in them becomes rows, and what is made to do harm is refused with its name."""

import io
import stat
import struct
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import InputError
from orchestrator.batches.uploaded_files import ArchiveRefused
from tests.unit.batch_bodies import WORDS, make_idea_text, make_zip, render_form, render_jsonl
from tests.unit.batch_reading import PDF_BYTES, list_rejections, read_batch

ENCRYPTED = 0x1


def make_zip_with_entry(name: str, mode: int = 0o644) -> bytes:
    """Return an archive with one entry of this name and mode."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        entry = zipfile.ZipInfo("x" * len(name.encode()))
        entry.external_attr = mode << 16
        archive.writestr(entry, PDF_BYTES)
    return file.getvalue().replace(b"x" * len(name.encode()), name.encode())


def test_zip_files_become_rows_and_system_files_are_ignored() -> None:
    intake = read_batch(
        make_zip(
            {
                "call/": b"",
                "call/a.pdf": PDF_BYTES,
                "__MACOSX/call/._a.pdf": b"\0",
                "call/.DS_Store": b"\0",
                "call/b.pdf": b"<html>login</html>",
                "call/deep/c.txt": WORDS.encode(),
                "d.jsonl": render_jsonl([make_idea_text(5), make_idea_text(6)]),
                "e.zip": make_zip({"f.pdf": PDF_BYTES}),
                "g.pdf": PDF_BYTES + b"x" * 5_000,
            }
        ),
        "zip",
    )
    assert [(row.number, row.source) for row in intake.accepted] == [
        (1, "a.pdf"), (3, "c.txt"), (4, "d.jsonl:1"), (5, "d.jsonl:2"),
    ]  # fmt: skip
    assert intake.accepted[0].document == PDF_BYTES
    reasons = [(row, detail.split(" ")[0]) for row, _, detail in list_rejections(intake)]
    assert reasons == [(2, "b.pdf"), (6, "e.zip"), (7, "g.pdf")]


def test_zip_file_in_form_is_expanded_in_place() -> None:
    files = {
        "a.pdf": PDF_BYTES,
        "b.zip": make_zip({"c.txt": WORDS.encode(), "d.pdf": PDF_BYTES}),
        "broken.zip": b"PK",
        "e.pdf": PDF_BYTES,
    }
    intake = read_batch(render_form(files), "form")
    assert [row.source for row in intake.accepted] == ["a.pdf", "c.txt", "d.pdf", "e.pdf"]
    ((row, _, detail),) = list_rejections(intake)
    assert (row, detail.split(":")[0]) == (4, "broken.zip is not a ZIP archive")


def test_unreadable_zip_entry_becomes_a_rejected_row() -> None:
    good = {"a.txt": WORDS.encode(), "b.pdf": PDF_BYTES, "c.txt": make_idea_text(3).encode()}
    broken = make_zip(good, zipfile.ZIP_STORED).replace(PDF_BYTES, PDF_BYTES[:-1] + b"!")
    secret = bytearray(make_zip(good, zipfile.ZIP_STORED))
    second = secret.index(b"PK\x01\x02", secret.index(b"PK\x01\x02") + 1)
    secret[second + 8] |= ENCRYPTED
    unusual = make_zip({"b.pdf": PDF_BYTES}, zipfile.ZIP_LZMA)
    for archive, message in ((broken, "Bad CRC-32"), (bytes(secret), "is encrypted"), (unusual, "unsupported method")):
        ((_, _, detail),) = list_rejections(read_batch(archive, "zip"))
        assert detail.startswith("b.pdf")
        assert message in detail


@pytest.mark.parametrize("name", ["../a.pdf", "call/../../a.pdf", "/etc/a.pdf", "..\\a.pdf", "C:\\a.pdf", "C:a.pdf"])
def test_archive_with_path_traversal_name_is_rejected(name: str) -> None:
    with pytest.raises(ArchiveRefused, match="would be extracted outside of its folder") as caught:
        read_batch(make_zip_with_entry(name), "zip")
    assert repr(name.replace("\\", "/")) in str(caught.value)


@pytest.mark.parametrize("name", ["a\n.pdf", "a\0.pdf", "a\x1b[31m.pdf"])
def test_archive_with_control_characters_in_file_name_is_rejected(name: str) -> None:
    with pytest.raises(ArchiveRefused, match="control characters"):
        read_batch(make_zip_with_entry(name), "zip")


@pytest.mark.parametrize("name", ["Screenshot 9.41\u202fPM.pdf", "Projet\u00a0: plan.pdf", "计划书.pdf", "e\u0301.pdf"])
def test_file_names_with_unicode_spaces_and_letters_are_accepted(name: str) -> None:
    assert [row.source for row in read_batch(make_zip({name: PDF_BYTES}), "zip").accepted] == [" ".join(name.split())]


def test_archive_with_symlink_is_rejected() -> None:
    with pytest.raises(ArchiveRefused, match=r"'a\.pdf' is a link or would"):
        read_batch(make_zip_with_entry("a.pdf", stat.S_IFLNK | 0o777), "zip")


def test_zip_bomb_is_rejected_even_when_declared_sizes_are_false() -> None:
    zeros = PDF_BYTES + b"\0" * 4_900
    bomb = make_zip({f"{number}.pdf": zeros for number in range(9)})
    assert len(bomb) < 2_000
    lying = bomb.replace(struct.pack("<I", len(zeros)), struct.pack("<I", 10))
    for body, kind in ((bomb, "zip"), (render_form({"a.zip": bomb, "b.zip": bomb}), "form")):
        with pytest.raises(ArchiveRefused, match=r"With \d\.pdf in .* exceed 0\.04 MB when unpacked"):
            read_batch(body, kind)  # type: ignore[arg-type]  # both are kinds of bodies
    assert read_batch(lying, "zip").accepted == []


def test_oversized_zip_directory_is_rejected_before_it_is_read() -> None:
    archive = bytearray(make_zip({"a.pdf": PDF_BYTES}))
    end = archive.rindex(b"PK\x05\x06")
    padding = b"\0" * 9_000_000
    archive[end + 12 : end + 16] = struct.pack("<I", len(padding) + 60)
    with pytest.raises(ArchiveRefused, match="too many files: its directory is larger than 4 MB"):
        read_batch(bytes(archive[:end]) + padding + bytes(archive[end:]), "zip")


@pytest.mark.parametrize("data", [b"", b"no archive", make_zip({"a.pdf": PDF_BYTES})[:-10]])
def test_non_archive_upload_is_rejected(data: bytes) -> None:
    with pytest.raises(InputError, match="is not a ZIP archive"):
        read_batch(data, "zip")


def test_archive_entry_with_negative_offset_is_rejected() -> None:
    archive = bytearray(make_zip({"a.pdf": PDF_BYTES}))
    archive[archive.rfind(b"PK\5\6") + 17] += 1  # the directory seems to begin 256 bytes later
    ((_, _, detail),) = list_rejections(read_batch(bytes(archive), "zip"))
    assert detail.startswith("a.pdf cannot be unpacked")


@given(st.data())
def test_corrupted_archive_is_read_or_rejected(data: st.DataObject) -> None:
    archive = bytearray(make_zip({"a.txt": WORDS.encode(), "b.pdf": PDF_BYTES}))
    for _ in range(data.draw(st.integers(1, 5))):
        archive[data.draw(st.integers(0, len(archive) - 1))] = data.draw(st.integers(0, 255))
    try:
        intake = read_batch(bytes(archive), "zip")
    except InputError:
        return
    assert intake.row_count <= 2
