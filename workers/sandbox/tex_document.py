"""Read a TeX document from its files: text, bibliography, and the names of missing files.

Runs in the sandboxed process."""

import gzip
import io
import posixpath
import re
import tarfile
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from assayer.errors import InputError
from assayer.models import CitedWork
from assayer.reference_lists.bibtex import AMSREFS, amsrefs_as_bibtex
from assayer.text.decoding import decode_text
from workers.sandbox.office_text import OfficeParagraphs
from workers.sandbox.refusal import Refused
from workers.sandbox.tex_citations import TexCitations
from workers.sandbox.tex_source import expand_list_macros, find_file, find_main_file, join_source
from workers.sandbox.tex_text import read_tex

_READ_SUFFIXES = (".tex", ".ltx", ".bib", ".bbl", ".txt", ".sty")
_MAX_FILES = 5_000
_ZIP_SIGNATURE = b"PK\x03\x04"
_GZIP_SIGNATURE = b"\x1f\x8b"
_BIBLIOGRAPHY = re.compile(r"\\(?:bibliography|addbibresource|addglobalbib)\s*(?:\[[^\]]*\])?\s*\{([^{}]*)\}")
_ALL_CITED = re.compile(r"\\nocite\s*\{\s*\*\s*\}")
_AMSREFS_LIST = re.compile(r"\\begin\{(?P<name>bibdiv|biblist)\}.*?\\end\{(?P=name)\}", re.DOTALL)
_LIST_START = "\\begin{thebibliography}"
_INPUT_ENCODING = re.compile(rb"\\usepackage\s*\[([\w-]+)\]\s*\{inputenc\}")
_ENCODINGS = {
    "latin1": "cp1252", "ansinew": "cp1252", "latin9": "iso8859_15", "latin2": "iso8859_2", "latin5": "cp1254",
    "applemac": "mac_roman", "cp1250": "cp1250", "cp1251": "cp1251", "koi8-r": "koi8_r", "cp1252": "cp1252",
    "cp850": "cp850", "cp437": "cp437",
}  # fmt: skip
_MAX_NAMED_KEYS = 5


class TexFiles(NamedTuple):
    files: Mapping[str, bytes]
    main: str
    """Name of the document's main file; empty if it is unknown."""


def unpack_tex_files(data: bytes, max_bytes: int) -> TexFiles:
    """Return a document's files: a single file, or the files in a ZIP or `.tar.gz` archive that may belong to a TeX
    document. Raises Refused if they cannot be read."""
    if data.startswith(_GZIP_SIGNATURE):
        return _unpack_folder(data, max_bytes)
    if not data.startswith(_ZIP_SIGNATURE):
        return TexFiles({"main.tex": data}, "main.tex")
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        entries = [entry for entry in archive.infolist() if _is_readable(entry.filename)]
        if len(entries) > _MAX_FILES or sum(entry.file_size for entry in entries) > max_bytes:
            raise Refused("too_much_unpacked")
        if any(entry.flag_bits & 1 for entry in entries):
            raise Refused("encrypted")
        main = archive.comment.decode("utf-8", "replace")
        entries.sort(key=lambda entry: entry.filename != main)
        files = {posixpath.normpath(entry.filename.replace("\\", "/")): archive.read(entry) for entry in entries}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OSError, RuntimeError) as error:
        raise Refused("damaged") from error
    return TexFiles(files, main if main in files else "")


def _unpack_folder(data: bytes, max_bytes: int) -> TexFiles:
    """Return the files in a `.tar.gz` archive, or a single file compressed with gzip. arXiv provides both."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            unpacked = stream.read(max_bytes + 1)
    except (zlib.error, EOFError, OSError) as error:
        raise Refused("damaged") from error
    if len(unpacked) > max_bytes:
        raise Refused("too_much_unpacked")
    if unpacked[257:262] != b"ustar":
        return TexFiles({"main.tex": unpacked}, "main.tex")
    files: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(unpacked)) as archive:
            for member in archive:
                if member.isfile() and _is_readable(member.name) and (content := archive.extractfile(member)):
                    files[posixpath.normpath(member.name)] = content.read()
    except (tarfile.TarError, ValueError, EOFError, OSError) as error:
        raise Refused("damaged") from error
    return TexFiles(files, "")


def _is_readable(name: str) -> bool:
    parts = posixpath.normpath(name.replace("\\", "/")).split("/")
    is_hidden = any(part.startswith((".", "__MACOSX")) for part in parts)
    return name.lower().endswith(_READ_SUFFIXES) and not is_hidden and parts[0] != ""


def read_tex_document(package: TexFiles, most_characters: int) -> tuple[OfficeParagraphs, list[CitedWork]]:
    """Return a document's text and the works that it cites. Raises Refused if it cannot be read."""
    files = {name: _decode(data, name) for name, data in package.files.items()}
    main = package.main or find_main_file(files)
    if not main:
        raise Refused("no_tex")
    files = _make_relative(files, main)
    main = posixpath.basename(main)
    source = join_source(
        {name: text for name, text in files.items() if name.endswith((".tex", ".ltx", ".txt", ".sty"))}, main
    )
    all_source = source.preamble + source.body
    bibtex, missing = _read_bibliographies(files, main, all_source)
    included_lists = [name for name in source.missing if name.endswith(".bbl") and find_file(files, name, main)]
    source = source._replace(missing=tuple(name for name in source.missing if name not in included_lists))
    list_file = _read_list_file(files, main, included_lists) if _LIST_START not in source.body else ""
    if _LIST_START in list_file:
        list_file = expand_list_macros(list_file)
        source = source._replace(body=f"{source.body}\n\n{list_file}")
    if AMSREFS.search(source.body):
        bibtex.append(amsrefs_as_bibtex("".join(match[0] for match in _AMSREFS_LIST.finditer(source.body))))
        source = source._replace(body=_AMSREFS_LIST.sub("", source.body))
    citations = TexCitations(bibtex, [source.body, list_file])
    text = read_tex(source, citations, most_characters)
    works = citations.list_cited_works(include_uncited=_ALL_CITED.search(all_source) is not None)
    missing_files = [*source.missing, *([] if list_file else missing)]
    text.left_out += _describe_missing(missing_files, citations, len(text.reference_lines))
    if source.text_after_end:
        text.left_out.append(("the text after \\end{document}", "it is not printed"))
    return text, works


def _decode(data: bytes, name: str) -> str:
    declared = _INPUT_ENCODING.search(data[:50_000])
    try:
        return decode_text(data, name, _ENCODINGS.get(declared[1].decode().lower(), "") if declared else "")
    except InputError:
        raise Refused("encoding") from None


def _make_relative(files: Mapping[str, str], main: str) -> dict[str, str]:
    """Return the files with names relative to the main file's folder."""
    folder = posixpath.dirname(main)
    return {posixpath.relpath(name, folder) if folder else name: text for name, text in files.items()}


def _read_bibliographies(files: Mapping[str, str], main: str, source: str) -> tuple[list[str], list[str]]:
    """Return the contents of the `.bib` files that the document names, and the names of missing ones. If it has no list
    and names no file that is there, a package may name one, so all are returned."""
    names = [name.strip() for match in _BIBLIOGRAPHY.finditer(source) for name in match[1].split(",") if name.strip()]
    file_by_name = {name: find_file(files, name, main, ".bib") for name in names}
    files_found = [file for file in file_by_name.values() if file]
    if not files_found and _LIST_START not in source:
        files_found = [file for file in files if file.endswith(".bib")]
    return [files[file] for file in files_found], [name for name, file in file_by_name.items() if file is None]


def _read_list_file(files: Mapping[str, str], main: str, included: Sequence[str]) -> str:
    """Return the reference list that BibTeX or biblatex generated for the document: an included one, one with the name
    of the main file, or the only one; empty if there is none."""
    if included:
        return "\n".join(files[file] for name in included if (file := find_file(files, name, main)))
    lists = [name for name in files if name.endswith(".bbl")]
    expected_name = f"{posixpath.splitext(main)[0]}.bbl"
    name = expected_name if expected_name in files else lists[0] if len(lists) == 1 else None
    return files[name] if name else ""


def _describe_missing(missing: list[str], citations: TexCitations, printed_entries: int) -> list[tuple[str, str]]:
    left_out = [(f"the file {name}", "it is not among the files of the document") for name in missing]
    if unknown_keys := citations.list_unknown_keys(printed_entries):
        examples = ", ".join(unknown_keys[:_MAX_NAMED_KEYS]) + (" …" if len(unknown_keys) > _MAX_NAMED_KEYS else "")
        left_out.append(
            (f"{len(unknown_keys)} of the cited works ({examples})", "no bibliography has an entry for them")
        )
    left_out += [(f"the entry {entry!r}", "it is not valid BibTeX") for entry in citations.unparsed_entries]
    return left_out
