"""Survey of a repository: the files that are read, and the definitions of its Python files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import InputError
from workers.code.checkout import TreeEntry, checked_repository_name
from workers.code.repository_survey import select_files
from workers.sandbox.python_definitions import find_definitions

SHA = "0" * 40


def entry(path: str, mode: str = "100644", size: int = 10) -> TreeEntry:
    return TreeEntry(path, mode, SHA, size)


@pytest.mark.parametrize("name", ["a/b", "hugging-face/transformers", "x/.github", "a/b.c_d-e", "A1/..."])
def test_valid_repository_name_is_accepted(name: str) -> None:
    assert checked_repository_name(name) == name


@pytest.mark.parametrize(
    "name", ["", "a", "a/", "/b", "a/..", "a/.", "a/b/c", "-a/b", "a b/c", "a/b?x", "a/b\n", "../b", "a/%2e%2e", "ä/b"]
)
def test_invalid_repository_name_is_rejected(name: str) -> None:
    with pytest.raises(InputError):
        checked_repository_name(name)


def test_readme_and_shallow_sources_are_chosen_and_links_left_out() -> None:
    entries = [
        entry("docs/README.md"),
        entry("readme.rst"),
        entry("README.md", "120000"),
        entry("pkg/deep/inner.py"),
        entry("pkg/model.py"),
        entry("train.py", "100755"),
        entry("tests/test_model.py"),
        entry("large.py", size=5_000),
        entry("link.py", "120000"),
        entry("sub", "160000"),
        entry("empty.py", size=0),
    ]
    choice = select_files(entries, most_sources=4, file_bytes=1_000)
    assert choice.readme == entry("readme.rst")
    assert [source.path for source in choice.sources] == [
        "train.py",
        "pkg/model.py",
        "pkg/deep/inner.py",
        "tests/test_model.py",
    ]
    assert choice.left_out == ["README.md", "large.py", "link.py", "sub"]
    assert [source.path for source in select_files(entries, 1, 1_000).sources] == ["train.py"]


@pytest.mark.parametrize("path", ["../x.py", "a/../../x.py", "..", "/etc/x.py", "a//x.py", "./x.py"])
def test_unsafe_path_is_never_selected(path: str) -> None:
    choice = select_files([entry(path)], 9, 1_000)
    assert choice.sources == []
    assert choice.left_out == [path]


@given(st.lists(st.tuples(st.text("ab./REDMEpy", max_size=12), st.sampled_from(["100644", "120000", "160000", "x"]))))
def test_only_regular_files_are_ever_chosen(listed: list[tuple[str, str]]) -> None:
    choice = select_files([entry(path, mode) for path, mode in listed], 5, 1_000)
    assert all(source.mode == "100644" and ".." not in source.path.split("/") for source in choice.sources)
    assert choice.readme is None or choice.readme.is_file


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
