"""Pack a TeX document on disk for the process that parses it: its main file, and those included files that are inside
its folder."""

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from assayer.errors import InputError
from assayer.text.tex import is_tex_document

TEX_SUFFIXES = (".tex", ".ltx")

_INCLUDED_NAME = re.compile(
    rb"\\(?:(?:@@?)?input|InputIfFileExists|include|usepackage|RequirePackage|subfile|subfileinclude|bibliography|addbibresource|addglobalbib)(?![a-zA-Z])\*?\s*"
    rb"(?:\[[^\]]*\])?\s*(?:\{([^{}]*)\}|([\w./-]+))"
    rb"|\\(?:import|subimport|includefrom|inputfrom)\*?\s*\{([^{}]*)\}\s*\{([^{}]*)\}"
)
_TRIED_SUFFIXES = ("", ".tex", ".bib", ".ltx", ".sty")
_READ_SUFFIXES = (".tex", ".ltx", ".bib", ".bbl", ".txt", ".sty")
_MAX_FILES = 500
_MAX_BYTES = 50_000_000


def is_tex_archive(data: bytes) -> bool:
    """Return whether a ZIP archive contains a file that is named like a TeX file."""
    try:
        names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        return False
    return any(name.lower().endswith((".tex", ".ltx")) for name in names)


class FolderDocument(NamedTuple):
    """TeX document in a folder."""

    main: Path
    parts: frozenset[str]
    """Names of other files in the folder that belong to it: included files, pictures, and generated files."""


def list_folder_documents(folder: Path, names: Sequence[str]) -> list[FolderDocument]:
    """Return the TeX documents in a folder, each with the files that belong to it. A file that cannot be read counts as
    a document, so that the error is reported when the document is read."""
    mains = [folder / name for name in names if name.lower().endswith(TEX_SUFFIXES) and _is_document(folder / name)]
    return [FolderDocument(main, _list_document_parts(main, names)) for main in mains]


def _is_document(file: Path) -> bool:
    try:
        return is_tex_document(file.read_bytes())
    except OSError:
        return True


def _list_document_parts(main: Path, names: Sequence[str]) -> frozenset[str]:
    try:
        files = _read_document_files(main, _MAX_BYTES)
    except InputError:
        return frozenset()
    source = b"\n".join(files.values())
    accompanying = ("readme", "license", "changelog")
    return frozenset(
        name
        for name in names
        if name != main.name
        and (
            name in files
            or Path(name).stem == main.stem
            or name.lower().startswith(accompanying)
            or (name.lower().endswith(".pdf") and Path(name).stem.encode() in source)
        )
    )


def pack_document(main: Path, max_bytes: int) -> bytes:
    """Return the content of a TeX file that includes no others; otherwise a ZIP archive of the file and all that it
    includes, directly or indirectly, with the file's name as the archive's comment. Files outside its folder are left
    out. Raises InputError."""
    files = _read_document_files(main, max_bytes)
    if len(files) == 1:
        return files[main.name]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.comment = main.name.encode()
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def _read_document_files(main: Path, max_bytes: int) -> dict[str, bytes]:
    """Return the files of a document by name, with all `.bib` files of its folder if it names none that is there.
    Raises InputError."""
    folder = main.parent.resolve()
    files: dict[str, bytes] = {}
    unread_names = [main.name]
    total_bytes = 0
    while unread_names and len(files) < _MAX_FILES:
        name = unread_names.pop(0)
        if name in files:
            continue
        files[name] = _read_content(folder / name)
        total_bytes += len(files[name])
        if total_bytes > max_bytes:
            raise InputError(f"{main} and its files have more than {max_bytes / 1e6:g} MB.", "Shorten it.")
        unread_names += _find_included_files(files[name], name, folder)
        unread_names += _find_bibliography(main, folder) if name == main.name else []
        if not unread_names and not any(map(_is_bibtex, files)):
            unread_names += [path.name for path in sorted(folder.glob("*.bib")) if _is_inside(path, folder)]
    return files


def _is_bibtex(name: str) -> bool:
    return name.lower().endswith(".bib")


def _read_content(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}.") from error


def _find_bibliography(main: Path, folder: Path) -> list[str]:
    """Return the name of the `.bbl` file that BibTeX generated for the document; empty if there is none."""
    name = f"{main.stem}.bbl"
    return [name] if _is_inside(folder / name, folder) else []


def _find_included_files(source: bytes, name: str, folder: Path) -> Iterator[str]:
    """Yield the names, relative to the folder, of existing files that a file includes."""
    for match in _INCLUDED_NAME.finditer(source):
        braced, unbraced, import_folder, imported_name = (
            part.decode("utf-8", "replace").strip() if part else "" for part in match.groups()
        )
        for file_name in (
            [f"{import_folder}/{imported_name}"] if import_folder or imported_name else (braced or unbraced).split(",")
        ):
            path = _find_file(file_name.strip(), (folder / name).parent, folder) if file_name.strip() else None
            if path is not None:
                yield path


def _find_file(file_name: str, including_folder: Path, folder: Path) -> str | None:
    for base in (folder, including_folder):
        for suffix in _TRIED_SUFFIXES:
            path = base / f"{file_name}{suffix}"
            if path.suffix.lower() in _READ_SUFFIXES and _is_inside(path, folder):
                return path.resolve().relative_to(folder).as_posix()
    return None


def _is_inside(path: Path, folder: Path) -> bool:
    """Return whether a path, after following links, is a file in the folder."""
    try:
        return path.is_file() and path.resolve().is_relative_to(folder)
    except (OSError, ValueError):
        return False
