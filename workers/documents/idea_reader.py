"""Read ideas from files, folders and published works; unreadable inputs are reported and do not affect the others."""

import asyncio
import datetime as dt
import errno
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from assayer.errors import AssayerError
from assayer.literature.paper_addresses import find_identifiers
from assayer.literature.paper_identity import add_arxiv_id, find_doi, parse_arxiv_id
from assayer.models import Idea, Identifiers
from workers.documents.document_ideas import Bibliography
from workers.documents.idea_files import (
    IDEA_FILE_SUFFIXES,
    IdeaFileReader,
    InputFile,
    Outcome,
    RejectedInput,
    WorkReader,
)
from workers.documents.limits import DocumentLimits
from workers.documents.tex_package import TEX_SUFFIXES, FolderDocument, list_folder_documents

__all__ = [
    "IDEA_FILE_SUFFIXES",
    "IdeasRead",
    "RejectedInput",
    "are_submitted_together",
    "read_ideas",
]

_CUTOFF_FILE = "cutoff.txt"
"""Name of a file that accompanies ideas in some collections and holds only a date."""
_MIN_TEXT_WORDS = 12
"""Minimum number of words for an argument that is not a path to be treated as the text of an idea."""
_MAX_QUOTED_CHARS = 60
"""Maximum characters of the argument that are repeated in the message."""


_WEB_URL_START = re.compile(r"(https?:)/{1,2}", re.IGNORECASE)
"""Matches the beginning of a web URL, even after `pathlib` has merged its two slashes into one."""
_DOI_START = re.compile(r"(?:doi:\s*)?10\.\d{4,9}/", re.IGNORECASE)


class IdeasRead(NamedTuple):
    """Ideas and rejected inputs, both in input order."""

    ideas: list[Idea]
    rejected: list[RejectedInput]

    def __repr__(self) -> str:
        """Return counts only: asyncio prints the result of the main task when it restores signal handlers."""
        return f"IdeasRead({len(self.ideas)} ideas, {len(self.rejected)} rejected)"


def _list_files(path: Path) -> list[InputFile] | RejectedInput:
    """Return the path itself, or the readable files of a folder in name order; subfolders are not entered."""
    try:
        if not path.exists():
            return _reject_path(path, "does not exist")
        if not path.is_dir():
            return [InputFile(path)]
        return _list_folder_files(path)
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return _reject_path(path, "is too long for a path")
        return RejectedInput(source=str(path), message=f"{path} cannot be read: {error.strerror}.")


def _list_folder_files(folder: Path) -> list[InputFile] | RejectedInput:
    """Return the readable files of a folder. Files that belong to a TeX document in it do not count as ideas
    themselves. Raises OSError."""
    files = [file for file in sorted(folder.iterdir()) if _may_hold_ideas(file)]
    if not files:
        kinds = ", ".join(IDEA_FILE_SUFFIXES)
        message = f"The folder {folder} contains no {kinds} file; subfolders are not searched."
        return RejectedInput(source=str(folder), message=message)
    documents = {item.main: item for item in list_folder_documents(folder, [file.name for file in files])}
    included_names = {name for item in documents.values() for name in item.parts}
    fragments = {file.name for file in files if documents and file.suffix.lower() in TEX_SUFFIXES} - included_names
    fragments -= {main.name for main in documents}
    unused_fragments = fragments if len(documents) == 1 else set()
    return [
        InputFile(
            file, tuple(sorted(_list_unread_files(documents[file]) | unused_fragments)) if file in documents else ()
        )
        for file in files
        if file in documents or file.name not in included_names | unused_fragments
    ]


def _list_unread_files(document: FolderDocument) -> set[str]:
    """Return the names of a document's files that are not TeX files."""
    return {name for name in document.parts if not name.lower().endswith(TEX_SUFFIXES)}


def _may_hold_ideas(file: Path) -> bool:
    if file.suffix.lower() not in IDEA_FILE_SUFFIXES or file.name == _CUTOFF_FILE or file.name[0] == ".":
        return False
    try:
        return file.is_file()
    except OSError:
        # Reading the file later reports the error for this file alone.
        return True


def _reject_path(path: Path, problem: str) -> RejectedInput:
    text = " ".join(str(path).split())
    if len(text.split(" ")) < _MIN_TEXT_WORDS:
        return RejectedInput(source=str(path), message=f"{path} {problem}.")
    source = f"{text[:_MAX_QUOTED_CHARS].rstrip()}…" if len(text) > _MAX_QUOTED_CHARS else text
    return RejectedInput(
        source=source,
        message=f"{source} {problem}. A path is expected, but this looks like the text of an idea. "
        "Save it in a file and pass the file's path.",
    )


async def read_ideas(
    paths: Sequence[Path],
    limits: DocumentLimits | None = None,
    latest_cutoff: dt.date | None = None,
    bibliography: Bibliography | None = None,
    work_reader: WorkReader | None = None,
) -> IdeasRead:
    """Return the ideas in files, folders and published works (an arXiv id, a DOI or a web URL), and the inputs that
    could not be read. Rows with a cutoff after `latest_cutoff` are rejected, as are published works if `work_reader` is
    None."""
    reader = IdeaFileReader(limits or DocumentLimits(), latest_cutoff, bibliography)
    tasks: list[asyncio.Task[Outcome] | RejectedInput] = []
    async with asyncio.TaskGroup() as group:
        for path in paths:
            files = _list_files(path)
            if isinstance(files, RejectedInput):
                work = _parse_named_work(path)
                tasks.append(group.create_task(_read_work(work, work_reader)) if work else files)
            else:
                tasks += [group.create_task(reader.read(file)) for file in files]
    outcome = [item for task in tasks for item in ([task] if isinstance(task, RejectedInput) else task.result())]
    return IdeasRead(
        ideas=[item for item in outcome if isinstance(item, Idea)],
        rejected=[item for item in outcome if isinstance(item, RejectedInput)],
    )


class _NamedWork(NamedTuple):
    name: str
    identifiers: Identifiers
    address: str
    """Web URL of a work without an identifier; otherwise empty."""


def _parse_named_work(path: Path) -> _NamedWork | None:
    """Return the work named by an argument that is not a path, or None."""
    name = _WEB_URL_START.sub(r"\1//", str(path))
    if any(character.isspace() for character in name):
        return None
    is_address = _WEB_URL_START.match(name) is not None
    identifiers = (
        find_identifiers(name) if is_address else Identifiers(arxiv=parse_arxiv_id(name), doi=_parse_bare_doi(name))
    )
    identifiers = add_arxiv_id(identifiers)
    if identifiers == Identifiers() and not is_address:
        return None
    return _NamedWork(name, identifiers, name if identifiers == Identifiers() else "")


def _parse_bare_doi(name: str) -> str:
    return find_doi(name) if _DOI_START.match(name) else ""


async def _read_work(work: _NamedWork, work_reader: WorkReader | None) -> Outcome:
    if work_reader is None:
        message = f"{work.name} names a published work, which this command does not look up. Pass its text as a file."
        return [RejectedInput(source=work.name, message=message)]
    try:
        return await work_reader.read(work.identifiers, work.address, work.name)
    except AssayerError as error:
        return [RejectedInput(source=work.name, message=str(error))]


def are_submitted_together(paths: Sequence[Path], ideas_read: IdeasRead) -> bool:
    """Return whether several ideas were submitted, or an input that can contain several (a folder or a file of rows),
    even if not all could be read."""
    inputs: list[Idea | RejectedInput] = [*ideas_read.ideas, *ideas_read.rejected]
    return len(inputs) > 1 or any(
        _is_folder(path) or any(item.source.startswith(f"{path}:") for item in inputs) for path in paths
    )


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False
