"""Survey of a repository: the files that are read, and the definitions of its Python files."""

import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import InputError
from workers.code.commits import validate_repository_name
from workers.sandbox.python_definitions import find_definitions
from workers.sandbox.refusal import Refused
from workers.sandbox.repository_files import ArchivedFile, read_repository, select_files


def make_file(path: str, size: int = 10, *, is_regular: bool = True) -> ArchivedFile:
    return ArchivedFile(path, size, is_regular)


@pytest.mark.parametrize("name", ["a/b", "hugging-face/transformers", "x/.github", "a/b.c_d-e", "A1/..."])
def test_valid_repository_name_is_accepted(name: str) -> None:
    assert validate_repository_name(name) == name


@pytest.mark.parametrize(
    "name", ["", "a", "a/", "/b", "a/..", "a/.", "a/b/c", "-a/b", "a b/c", "a/b?x", "a/b\n", "../b", "a/%2e%2e", "ä/b"]
)
def test_invalid_repository_name_is_rejected(name: str) -> None:
    with pytest.raises(InputError):
        validate_repository_name(name)


def test_readme_and_shallow_sources_are_chosen_without_links() -> None:
    files = [
        make_file("docs/README.md"),
        make_file("readme.rst"),
        make_file("README.md", is_regular=False),
        make_file("pkg/deep/inner.py"),
        make_file("pkg/model.py"),
        make_file("train.py"),
        make_file("tests/test_model.py"),
        make_file("large.py", size=5_000),
        make_file("link.py", is_regular=False),
        make_file("empty.py", size=0),
    ]
    choice = select_files(files, max_sources=4, file_bytes=1_000)
    assert choice.readme == make_file("readme.rst")
    assert [source.path for source in choice.sources] == [
        "train.py",
        "pkg/model.py",
        "pkg/deep/inner.py",
        "tests/test_model.py",
    ]
    assert choice.left_out == ["README.md", "large.py", "link.py"]
    assert [source.path for source in select_files(files, 1, 1_000).sources] == ["train.py"]


@pytest.mark.parametrize("path", ["../x.py", "a/../../x.py", "..", "/etc/x.py", "a//x.py", "./x.py"])
def test_unsafe_path_is_never_selected(path: str) -> None:
    choice = select_files([make_file(path)], 9, 1_000)
    assert choice.sources == []
    assert choice.left_out == [path]


@given(st.lists(st.tuples(st.text("ab./REDMEpy", max_size=12), st.booleans())))
def test_only_regular_files_are_ever_chosen(files: list[tuple[str, bool]]) -> None:
    choice = select_files([make_file(path, is_regular=regular) for path, regular in files], 5, 1_000)
    assert all(source.is_regular and ".." not in source.path.split("/") for source in choice.sources)
    assert choice.readme is None or choice.readme.is_file


def pack_repository(*files: tuple[str, bytes], link: str = "") -> bytes:
    """Return an archive with these files and one link to /etc/passwd, as a host packs a commit."""
    archive_buffer = io.BytesIO()
    with tarfile.open(fileobj=archive_buffer, mode="w:gz") as archive:
        for path, content in files:
            member = tarfile.TarInfo(f"name-0/{path}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        if link:
            member = tarfile.TarInfo(f"name-0/{link}")
            member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
            archive.addfile(member)
    return archive_buffer.getvalue()


def test_files_outside_the_repository_and_links_are_not_read() -> None:
    code = b"def escaped(): pass\n"
    archive = pack_repository(
        ("../x.py", code), ("a/../../b.py", code), ("late.py", b"z = 1"), ("in.py", code), link="README.md"
    )
    read = read_repository(archive, 10, 10, 1_000, definitions=True)
    assert read["paths"] == ["../x.py", "README.md", "a/../../b.py", "in.py", "late.py"]
    assert read["sources"] == {"late.py": "z = 1", "in.py": code.decode()}
    assert read["left_out"] == ["../x.py", "README.md", "a/../../b.py"]
    assert read["readme"] == ""


def test_numbers_of_paths_and_sources_are_limited() -> None:
    archive = pack_repository(*((f"{name}.py", b"x = 1") for name in "abcd"))
    read = read_repository(archive, 2, 3, 1_000, definitions=False)
    assert (read["paths"], read["files"]) == (["a.py", "b.py"], 4)
    assert read["left_out"] == ["a.py", "b.py", "c.py"]  # no definitions were looked for


@pytest.mark.parametrize("archive", [b"", b"\x1f\x8b", b"no archive", pack_repository(("a.py", bytes(100_000)))[:-20]])
def test_damaged_archive_is_refused(archive: bytes) -> None:
    with pytest.raises(Refused, match="damaged"):
        read_repository(archive, 10, 10, 1_000_000, definitions=True)


def test_definitions_are_listed_with_docstrings_and_calls() -> None:
    text = '''
class Model(Base):
    """Learns.

    More.
    """

    async def forward(self, x):
        """One
        step."""
        return self.scale(np.tanh(x))(2)

if True:
    def late():
        def inner(): late()
        return [f() for f in ()]
'''
    assert list(find_definitions("m.py", text)) == [
        ("m.py", 2, "class", "Model", "Learns.", ()),
        ("m.py", 8, "function", "Model.forward", "One step.", ("self.scale", "np.tanh")),
        ("m.py", 14, "function", "late", "", ("late", "f")),
        ("m.py", 15, "function", "late.inner", "", ("late",)),
    ]
