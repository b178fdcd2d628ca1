"""`assayer audit-log`: the log of people's acts, saved and checked."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assayer.errors import InputError
from cluster.cli.options import WithProfile
from cluster.cli.service_client import service
from cluster.cli.terminal import remark
from cluster.settings import PROFILES
from cluster.whole_files import whole_file

if TYPE_CHECKING:
    from orchestrator.access.audit_chain import AuditEntry, AuditTip

__all__ = ["app"]

app = typer.Typer(help="Save and check the log of who did what about decisions.", no_args_is_help=True)

_TIP = re.compile(r"(\d{1,15}):([0-9a-f]{64})")
_PAGE = 1_000

TipOption = Annotated[
    str | None,
    typer.Option("--tip", help="NUMBER:HASH that was written down before; what was cut off since then shows."),
]


@app.command("export")
def export(
    to: Annotated[Path, typer.Argument(help="File to write: one entry a line, as JSON.")],
    profile: WithProfile = PROFILES[0],
) -> None:
    """Save the whole log, and print its tip: NUMBER:HASH."""
    count = 0
    with service(profile) as client, whole_file(to) as file:
        after: str | None = "0"
        while after is not None:
            page = client.audit_entries(after=int(after), limit=_PAGE)
            file.writelines(entry.model_dump_json().encode() + b"\n" for entry in page.items)
            count, after = count + len(page.items), page.next
        tip = client.audit_tip()
    remark(f"Saved {count:,} entries in {to}. Keep the tip somewhere else:")
    typer.echo(f"{tip.number}:{tip.hash}")


@app.command("tip")
def tip(profile: WithProfile = PROFILES[0]) -> None:
    """Print the log's tip, NUMBER:HASH, to be written down where nobody who could change the log can change it."""
    with service(profile) as client:
        found = client.audit_tip()
    typer.echo(f"{found.number}:{found.hash}")


@app.command("verify")
def verify(
    file: Annotated[Path, typer.Argument(help="What `assayer audit-log export` saved.")],
    tip: TipOption = None,
) -> None:
    """Check a saved log: changes, gaps, and with --tip a cut end. Needs no service. Exit code 1: something is wrong."""
    from orchestrator.access.audit_chain import audit_faults

    try:
        entries = list(_entries(file))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise InputError(f"{file} cannot be read: {reason}.", "Give what `assayer audit-log export` saved.") from None
    if not entries and tip is None:
        raise InputError(f"{file} holds no entries.", "With a --tip that was written down, lost ones show.")
    known = _tip_of(tip, entries[0].tenant if entries else "")
    faults = list(audit_faults(entries, known))
    for fault in faults:
        typer.echo(f"entry {fault.number}: {fault.detail}")
    if faults:
        remark(f"{len(faults):,} faults in {len(entries):,} entries.")
        raise typer.Exit(1)
    withheld = sum(entry.withheld for entry in entries)
    erased = sum(entry.content is None for entry in entries) - withheld
    remark(f"{len(entries):,} entries, nothing changed, nothing missing" + (f", {erased:,} erased." if erased else "."))
    if withheld:
        remark(
            f"Of {withheld:,} of them the words were not seen, so only their hashes were checked: they say what people "
            "think, and the log was saved with a key that is no person's. Save it with the key of an owner or auditor."
        )
    if tip is None:
        remark("Without --tip nobody can tell whether later entries were cut off.")


def _entries(file: Path) -> "Iterator[AuditEntry]":
    from pydantic import ValidationError

    from orchestrator.access.audit_chain import AuditEntry

    with sys.stdin if str(file) == "-" else file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.strip():
                try:
                    yield AuditEntry.model_validate_json(line)
                except ValidationError:
                    raise InputError(f"{file}, line {number}, is no entry of an audit log.") from None


def _tip_of(said: str | None, tenant: str) -> "AuditTip | None":
    from orchestrator.access.audit_chain import AuditTip
    from orchestrator.jobs.models import TenantId

    if said is None:
        return None
    match = _TIP.fullmatch(said.strip())
    if match is None:
        raise InputError(f"{said!r} is no tip.", "It reads NUMBER:HASH, as `assayer audit-log export` printed it.")
    return AuditTip(tenant=TenantId(tenant), number=int(match[1]), hash=match[2])
