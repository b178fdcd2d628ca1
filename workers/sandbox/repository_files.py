"""Read a repository's files at one commit from its archive, and find the definitions in its Python code.

Runs in the sandboxed process. Nothing is written to disk, and links are not followed."""

import io
import tarfile
import zlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assayer.errors import InputError
from assayer.text.decoding import decode_text
from workers.sandbox.python_definitions import read_definitions
from workers.sandbox.refusal import Refused

_README_NAMES = ("readme.md", "readme.rst", "readme.txt", "readme", "readme.markdown")
_SECONDARY_FOLDERS = frozenset(
    {"test", "tests", "testing", "doc", "docs", "example", "examples", "third_party", "vendor", "build"}
)
_MAX_LEFT_OUT = 200


class ArchivedFile(NamedTuple):
    path: str
    """Path inside the repository."""
    size: int
    is_regular: bool = True
    """False for links and devices."""

    @property
    def is_file(self) -> bool:
        """Return whether this is a regular file whose path stays inside the repository."""
        return self.is_regular and not {"", ".", ".."} & set(self.path.split("/"))


class SelectedFiles(NamedTuple):
    readme: ArchivedFile | None
    sources: list[ArchivedFile]
    left_out: list[str]
    """Paths of links, and of READMEs and Python files over the size limit."""


def read_repository(
    archive: bytes, paths: int, sources: int, file_bytes: int, *, definitions: bool
) -> dict[str, object]:
    """Read a `.tar.gz` archive whose files are all in one folder. `paths` and `sources` limit how many paths are listed
    and how many Python files are read. Raises Refused if the archive cannot be read."""
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz", encoding="utf-8", errors="replace") as tar:
            members = {member.name.partition("/")[2]: member for member in tar if not member.isdir()}
            files = [ArchivedFile(path, member.size, member.isreg()) for path, member in members.items()]
            selection = select_files(files, sources, file_bytes)
            selected_files = [*([selection.readme] if selection.readme else []), *selection.sources]
            texts, no_texts = _read_texts(
                tar, [members[file.path] for file in selected_files], [file.path for file in selected_files]
            )
    except (tarfile.TarError, zlib.error, EOFError, OSError, ValueError) as error:
        raise Refused("damaged") from error
    code = {file.path: texts[file.path] for file in selection.sources if file.path in texts}
    definitions_found, unparsed = read_definitions(code) if definitions else ([], list(code))
    return {
        "paths": sorted(members)[:paths],
        "files": len(members),
        "readme": texts.get(selection.readme.path, "") if selection.readme else "",
        "sources": code,
        "definitions": definitions_found,
        "left_out": list(dict.fromkeys([*selection.left_out, *no_texts, *unparsed]))[:_MAX_LEFT_OUT],
    }


def select_files(files: Sequence[ArchivedFile], max_sources: int, file_bytes: int) -> SelectedFiles:
    """Select the files to read: the top-level README and Python files. Files near the top level come first; tests,
    examples and similar files come last."""
    files_by_name = {file.path.lower(): file for file in reversed(files) if "/" not in file.path}
    readmes = [files_by_name[name] for name in _README_NAMES if name in files_by_name]
    sources = sorted((file for file in files if file.path.endswith(".py")), key=_build_sort_key)
    readable_readmes = [file for file in readmes if _is_small_file(file, file_bytes)][:1]
    chosen = [file for file in sources if _is_small_file(file, file_bytes) and file.size][:max_sources]
    link_paths = [file.path for file in files if not file.is_file]
    large_paths = [file.path for file in (*readmes, *sources) if file.is_file and file.size > file_bytes]
    return SelectedFiles(readable_readmes[0] if readable_readmes else None, chosen, sorted({*link_paths, *large_paths}))


def _is_small_file(file: ArchivedFile, file_bytes: int) -> bool:
    return file.is_file and file.size <= file_bytes


def _build_sort_key(file: ArchivedFile) -> tuple[bool, int, str]:
    folders = file.path.lower().split("/")
    is_secondary = bool(_SECONDARY_FOLDERS & set(folders[:-1])) or folders[-1].startswith("test_")
    return is_secondary, len(folders), file.path


def _read_texts(
    tar: tarfile.TarFile, members: Sequence[tarfile.TarInfo], paths: Sequence[str]
) -> tuple[Mapping[str, str], list[str]]:
    """Return the decoded texts by path, and the paths of files that are not text. Files are read in archive order,
    because the archive is decompressed again from the start for each step back."""
    texts: dict[str, str] = {}
    unreadable: list[str] = []
    for member, path in sorted(zip(members, paths, strict=True), key=lambda item: item[0].offset):
        content = tar.extractfile(member)
        try:
            texts[path] = decode_text(content.read() if content else b"", path)
        except InputError:
            unreadable.append(path)
    return texts, unreadable
