"""`assayer submit`: ideas to a running service."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assayer.errors import InputError
from cluster.cli.estimate import duplicate_in_words, estimated, show_estimate
from cluster.cli.options import WithBlind, WithProfile, day
from cluster.cli.service_client import service
from cluster.cli.terminal import remark
from cluster.cli.watch import watch_all
from cluster.settings import PROFILES
from workers.documents.idea_reader import IDEA_FILE_SUFFIXES

if TYPE_CHECKING:
    from assayer_client import Client
    from assayer_client.batches import AcceptedBatch

__all__ = ["MOST_BYTES", "files_to_upload", "submit", "upload_batches"]


MOST_BYTES = 48_000_000
"""Of the files of one request; the service takes 64 MB by default, wrapping included."""
_READ = (*IDEA_FILE_SUFFIXES, ".csv", ".zip")
_NOT_AN_IDEA = "cutoff.txt"
"""As in `assayer evaluate`: it lies beside ideas and holds only a date."""


def files_to_upload(paths: Sequence[Path]) -> list[Path]:
    """The paths, and the readable files of those that are folders, by name; a link that leads out of its folder is left
    out, and that is said. Raises InputError."""
    return [file for path in paths for file in _files(path)]


def _files(path: Path) -> list[Path]:
    try:
        if not path.is_dir():
            if not path.is_file():
                raise InputError(f"{path} is not a file or folder.")
            return [path]
        found = [one for one in sorted(path.iterdir()) if one.suffix.lower() in _READ and one.is_file()]
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    seen = [one for one in found if one.name != _NOT_AN_IDEA and not one.name.startswith(".")]
    files = [one for one in seen if not _is_left_out(one, path)]
    if not files:
        raise InputError(f"The folder {path} holds no {', '.join(_READ)} file; folders inside it are not searched.")
    return files


def _is_left_out(file: Path, folder: Path) -> bool:
    """A folder that came from somebody else may hold links to what is nobody else's business."""
    if not file.is_symlink() or file.resolve().is_relative_to(folder.resolve()):
        return False
    remark(f"Not sent: {file} is a link to a file outside of the folder. Name the file itself to send it.")
    return True


def upload_batches(files: Sequence[Path], most: int = MOST_BYTES) -> Iterator[list[Path]]:
    """In order, each of at most so many bytes; a larger file goes alone, and the service says what it thinks."""
    bundle: list[Path] = []
    size = 0
    for file in files:
        bytes_ = file.stat().st_size
        if bundle and size + bytes_ > most:
            yield bundle
            bundle, size = [], 0
        bundle.append(file)
        size += bytes_
    if bundle:
        yield bundle


_ONE_IDEA = (".txt", ".md")
_NAMED = 20
"""Duplicates that are told one by one."""


def submit(
    paths: Annotated[
        list[Path],
        typer.Argument(help="Ideas (.txt .md .json .jsonl .csv .xlsx .pdf .docx .odt .zip), or folders of them."),
    ],
    method: Annotated[str | None, typer.Option(help="Evaluation method; by default the service's.")] = None,
    cutoff: Annotated[str | None, typer.Option(help="YYYY-MM-DD: literature published later is not used.")] = None,
    name: Annotated[str, typer.Option(help="Name of the batch.")] = "",
    tag: Annotated[
        list[str] | None,
        typer.Option(help="Label by which the batch is found (`assayer list --tag`). May be repeated."),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until all have finished, showing progress.")
    ] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Say what it would cost and how long it would take; submit nothing.")
    ] = False,
    profile: WithProfile = PROFILES[0],
    blind: WithBlind = None,
    overnight: Annotated[
        bool,
        typer.Option(
            "--overnight", help="No hurry: the language model is asked in batches at a lower price, in hours."
        ),
    ] = False,
    max_usd: Annotated[
        float | None, typer.Option(min=0.0001, help="What each evaluation may cost, at most; then it ends incomplete.")
    ] = None,
    board: Annotated[
        int | None,
        typer.Option(min=0, max=100, help="InnoEval: number of reviewers; 0 is the control without personas."),
    ] = None,
    board_models: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,...", help="InnoEval: models among which the reviewers are dealt, if the service permits them."
        ),
    ] = None,
) -> None:
    """Submit ideas to the service; prints the id of each evaluation or batch."""
    last_day = day(cutoff, "cutoff")
    files = files_to_upload(paths)
    said = {
        "method": method,
        "cutoff": last_day,
        "blind": blind,
        "priority": "overnight" if overnight else None,
        "max_usd": max_usd,
        "board": board,
        "board_models": board_models,
    }
    with service(profile) as client:
        if estimate:
            show_estimate(estimated(client, upload_batches(files), said))
            return
        ids = []
        labels = {"name": name, "tags": ",".join(tag or ())}
        for identifier in _submit_files(client, files, said, labels, from_folder=files != paths):
            typer.echo(identifier)
            ids.append(identifier)
        if wait and not _watch_to_the_end(client, ids):
            raise typer.Exit(1)


def _watch_to_the_end(client: "Client", ids: Sequence[str]) -> bool:
    from assayer_client import ClientError

    try:
        return watch_all(client, ids)
    except (ClientError, KeyboardInterrupt):
        remark(f"The ideas are with the service, which goes on. To see how far it is: `assayer watch {' '.join(ids)}`.")
        raise


def _submit_files(
    client: "Client",
    files: Sequence[Path],
    said: Mapping[str, object],
    labels: Mapping[str, str],
    *,
    from_folder: bool,
) -> Iterator[str]:
    """One text is an evaluation; anything else is a batch, in several parts when it is too much for one request. So is
    a folder, however few ideas it holds."""
    options = {key: value for key, value in said.items() if value is not None}
    if len(files) == 1 and not from_folder and files[0].suffix.lower() in _ONE_IDEA:
        yield _one(client, files[0], options)
        return
    yield _batch(client, files, options, labels)


def _one(client: "Client", file: Path, options: Mapping[str, object]) -> str:
    from assayer.text.decoding import decode_text
    from assayer_client import EvaluationBody, IdeaBody

    text = decode_text(file.read_bytes(), str(file))
    limits = {"max_usd": options["max_usd"]} if "max_usd" in options else {}
    others = {key: value for key, value in options.items() if key != "max_usd"}
    if isinstance(models := others.get("board_models"), str):
        others["board_models"] = tuple(one for one in map(str.strip, models.split(",")) if one)
    body = {"idea": IdeaBody(text=text), "source": file.name[:200], "limits": limits, **others}
    return client.submit(EvaluationBody.model_validate(body)).id


def _batch(client: "Client", files: Sequence[Path], options: Mapping[str, object], labels: Mapping[str, str]) -> str:
    from assayer_client import BatchQuery, ClientError, MoreRowsQuery, Upload

    first, *others = [[Upload(file.name, file) for file in bundle] for bundle in upload_batches(files)]
    named = {key: value for key, value in labels.items() if value}
    accepted = client.submit_files(first, BatchQuery.model_validate({**options, **named, "open": bool(others)}))
    arrived = [accepted]
    try:
        _report_accepted(accepted)
        while others:
            place = {"first": accepted.next_row, "open": len(others) > 1}
            accepted = client.add_files(accepted.id, others[0], MoreRowsQuery.model_validate({**options, **place}))
            arrived.append(accepted)
            del others[0]
            _report_accepted(accepted)
    except (ClientError, KeyboardInterrupt):
        if others:
            has = _ideas(sum(part.accepted for part in arrived))
            remark(f"The batch {accepted.id} has {has}; the files from {others[0][0].name} on are missing.")
        remark(f"To see how far it is: `assayer watch {accepted.id}`.")
        raise
    taken, rows = sum(part.accepted for part in arrived), sum(part.rows for part in arrived)
    remark(f"{taken:,} of {rows:,} rows were accepted into batch {accepted.id}.")
    return accepted.id


def _ideas(count: int) -> str:
    return "1 idea" if count == 1 else f"{count:,} ideas"


def _report_accepted(accepted: "AcceptedBatch") -> None:
    for row in accepted.rejected:
        remark(f"Refused: {row.detail if row.source in row.detail else f'{row.source}: {row.detail}'}")
    for notice in accepted.notices:
        remark(notice)
    for one in accepted.duplicates[:_NAMED]:
        remark(f"{duplicate_in_words(one)}: both are evaluated, their answers paid for once.")
    if len(accepted.duplicates) > _NAMED:
        remark(f"{len(accepted.duplicates) - _NAMED:,} more rows have the words of earlier ones.")
