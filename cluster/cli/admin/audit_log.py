"""`assayer admin audit-log`: export and verify the log of what people did."""

import datetime as dt
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from assayer.errors import InputError
from cluster.cli.batch.service_client import open_service_client
from cluster.cli.options import WithJson
from cluster.cli.terminal import Outcome, print_remark
from cluster.whole_files import open_atomic

if TYPE_CHECKING:
    from orchestrator.access.audit_chain import AuditEntry, AuditExport, AuditHead

app = typer.Typer(help="Save and check the audit log of who did what about decisions.", no_args_is_help=True)

_PAGE = 1_000

HeadOption = Annotated[
    str | None,
    typer.Option("--head", help="NUMBER:HASH saved earlier; detects entries removed from the end since."),
]


@app.command("export")
def export(
    to: Annotated[
        Path,
        typer.Argument(help="JSON Lines file to write: a header that names who exported it, then one entry per line."),
    ],
    as_json: WithJson = False,
) -> None:
    """Save the whole log, and print its head (NUMBER:HASH), which identifies the last entry."""
    from orchestrator.access.audit_chain import AuditExport

    count = 0
    with open_service_client() as client, open_atomic(to) as file:
        after: str | None = "0"
        while after is not None:
            page = client.audit_log.list(after=int(after), limit=_PAGE)
            if after == "0" and page.items:
                header = AuditExport(
                    tenant=page.items[0].tenant, reader=page.reader, exported_at=dt.datetime.now(dt.UTC)
                )
                file.write(header.model_dump_json().encode() + b"\n")
            file.writelines(entry.model_dump_json().encode() + b"\n" for entry in page.items)
            count, after = count + len(page.items), page.next
        head = client.audit_log.head()
    print_remark(f"Saved {count:,} entries in {to}. Store this head in a different place:")
    head_text = f"{head.number}:{head.hash}"
    with Outcome(as_json=as_json) as outcome:
        outcome.add(head_text, head=head_text, file=to, entries=count)


@app.command("head")
def head(as_json: WithJson = False) -> None:
    """Print the log's head, NUMBER:HASH. Store it where people who can change the log cannot change the head."""
    with open_service_client() as client:
        current = client.audit_log.head()
    head_text = f"{current.number}:{current.hash}"
    with Outcome(as_json=as_json) as outcome:
        outcome.add(head_text, head=head_text)


@app.command("verify")
def verify(
    file: Annotated[Path, typer.Argument(help="File saved by `assayer admin audit-log export`.")],
    head: HeadOption = None,
    as_json: WithJson = False,
) -> None:
    """Check a saved log for changes, gaps and removed text and, with --head, for entries missing at the end. Works
    without a running service. Exit code 1: faults were found."""
    from assayer.reports.wording import format_count
    from orchestrator.access.audit_chain import find_audit_faults

    try:
        header, entries = _read(file)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise InputError(
            f"{file} cannot be read: {reason}.", "Pass a file saved by `assayer admin audit-log export`."
        ) from None
    if not entries and head is None:
        raise InputError(f"{file} contains no entries.", "Pass --head to detect lost entries.")
    noted_head = _parse_head(head, entries[0].tenant if entries else "")
    faults = list(find_audit_faults(entries, noted_head, None if header is None else header.reader))
    withheld = sum(entry.withheld for entry in entries)
    erased_count = sum(entry.content is None for entry in entries) - withheld
    lines = (escape(f"entry {fault.number}: {fault.detail}") for fault in faults)
    with Outcome(as_json=as_json) as outcome:
        outcome.add(*lines, faults=faults, entries=len(entries), erased=erased_count, withheld=withheld)
    if faults:
        print_remark(f"{format_count(len(faults), 'fault')} in {format_count(len(entries), 'entry')}.")
        raise typer.Exit(1)
    print_remark(
        f"{format_count(len(entries), 'entry')}, nothing changed, nothing missing"
        + (f", {erased_count:,} erased." if erased_count else ".")
    )
    if withheld:
        print_remark(
            f"The text of {format_count(withheld, 'entry')} is withheld, so only the hashes were checked: it contains "
            "opinions, and the log was saved with a service account's key, as its header says. The header itself "
            "cannot be verified. To see the text, save the log with the key of an owner or auditor."
        )
    if head is None:
        print_remark("Without --head, missing entries at the end cannot be detected.")


def _read(file: Path) -> "tuple[AuditExport | None, list[AuditEntry]]":
    """Return the file's header and its entries. The header states for whom the log was exported; it is None if the file
    has none."""
    from orchestrator.access.audit_chain import AuditExport

    lines = [*_read_lines(file)]
    header = lines[0] if lines and isinstance(lines[0], AuditExport) else None
    return header, [_parse_entry(file, line) for line in (lines if header is None else lines[1:])]


def _parse_entry(file: Path, line: "AuditEntry | AuditExport") -> "AuditEntry":
    from orchestrator.access.audit_chain import AuditEntry

    if not isinstance(line, AuditEntry):
        raise InputError(f"{file} contains two audit logs.", "Save each log in its own file.")
    return line


def _read_lines(file: Path) -> "Iterator[AuditEntry | AuditExport]":
    from pydantic import TypeAdapter, ValidationError

    from orchestrator.access.audit_chain import AuditEntry, AuditExport

    kind: TypeAdapter[AuditEntry | AuditExport] = TypeAdapter(AuditEntry | AuditExport)

    with sys.stdin if str(file) == "-" else file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    yield kind.validate_json(line, extra="forbid")
                except ValidationError:
                    raise InputError(f"{file}, line {number}, is not an audit log entry.") from None


def _parse_head(text: str | None, tenant: str) -> "AuditHead | None":
    from orchestrator.access.audit_chain import parse_head
    from orchestrator.jobs.models import TenantId

    if text is None:
        return None
    if (parsed_head := parse_head(text, TenantId(tenant))) is None:
        raise InputError(
            f"{text!r} is not the head of an audit log.",
            "Pass NUMBER:HASH, exactly as `assayer admin audit-log export` printed it.",
        )
    return parsed_head
