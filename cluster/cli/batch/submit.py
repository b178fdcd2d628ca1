"""`assayer batch submit`: submit ideas to a running service."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from assayer.errors import InputError
from assayer.ideas.light_markup import PLAIN_TEXT
from assayer.methods.criteria_file import parse_criteria
from assayer.methods.toml_files import read_text_file
from cluster.cli.batch.estimate import describe_duplicate, estimate_bundles, show_estimate
from cluster.cli.batch.service_client import open_service_client
from cluster.cli.batch.watch import watch_all
from cluster.cli.options import (
    WithBlind,
    WithBoard,
    WithBoardModels,
    WithCriteria,
    WithJson,
    parse_day_option,
    split_at_commas,
)
from cluster.cli.standard_input import replace_standard_input
from cluster.cli.terminal import print_json, print_remark
from workers.documents.idea_reader import IDEA_FILE_SUFFIXES

if TYPE_CHECKING:
    from assayer_client import Client
    from assayer_client.batches import AcceptedBatch

MAX_BYTES = 48_000_000
"""Maximum total size in bytes of the files in one request. The service accepts 64 MB by default, including the
multipart framing."""
_READABLE_SUFFIXES = (*IDEA_FILE_SUFFIXES, ".zip")
_NOT_AN_IDEA = "cutoff.txt"
"""Name of a file that is skipped, as in `assayer evaluate`. It is stored beside ideas and contains only a date."""


def list_files_to_upload(paths: Sequence[Path]) -> list[Path]:
    """Return the paths, with each folder replaced by the readable files in it, sorted by name. A link that leads out of
    its folder is skipped with a remark. Raises InputError if a path cannot be read or a folder has no readable file."""
    return [file for path in paths for file in _list_idea_files(path)]


def _list_idea_files(path: Path) -> list[Path]:
    try:
        if not path.is_dir():
            if not path.is_file():
                raise InputError(f"{path} is not a file or folder.")
            return [path]
        readable_files = [
            file for file in sorted(path.iterdir()) if file.suffix.lower() in _READABLE_SUFFIXES and file.is_file()
        ]
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    idea_files = [file for file in readable_files if file.name != _NOT_AN_IDEA and not file.name.startswith(".")]
    files = [file for file in idea_files if not _must_skip(file, path)]
    if not files:
        raise InputError(
            f"The folder {path} contains no {', '.join(_READABLE_SUFFIXES)} files; subfolders are not searched."
        )
    return files


def _must_skip(file: Path, folder: Path) -> bool:
    """Return whether to skip a file, with a remark, because it is a link that leads out of the folder. Its target may
    be private."""
    if not file.is_symlink() or file.resolve().is_relative_to(folder.resolve()):
        return False
    print_remark(f"Not sent: {file} is a link to a file outside the folder. Name the file itself to send it.")
    return True


def upload_batches(files: Sequence[Path], max_bytes: int = MAX_BYTES) -> Iterator[list[Path]]:
    """Yield groups of files in order, each of at most `max_bytes` in total. A larger file forms its own group; the
    service decides whether to accept it."""
    bundle: list[Path] = []
    size = 0
    for file in files:
        bytes_ = file.stat().st_size
        if bundle and size + bytes_ > max_bytes:
            yield bundle
            bundle, size = [], 0
        bundle.append(file)
        size += bytes_
    if bundle:
        yield bundle


_MAX_PRINTED_DUPLICATES = 20
"""Maximum number of duplicates printed one by one."""


def submit(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Ideas (.txt .md .json .jsonl .csv .xlsx .pdf .docx .odt .zip), folders, or - for standard input.",
            callback=replace_standard_input,
        ),
    ],
    method: Annotated[str | None, typer.Option(help="Evaluation method; by default the service's.")] = None,
    cutoff: Annotated[str | None, typer.Option(help="YYYY-MM-DD: ignore literature published later.")] = None,
    name: Annotated[str, typer.Option(help="Name of the batch.")] = "",
    tag: Annotated[
        list[str] | None,
        typer.Option(help="Tag by which to find the batch (`assayer batch list --tag`); repeat for several."),
    ] = None,
    wait: Annotated[
        bool, typer.Option("--wait/--no-wait", help="Wait until all evaluations have finished, showing progress.")
    ] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Show the expected cost and duration without submitting.")
    ] = False,
    blind: WithBlind = None,
    overnight: Annotated[
        bool,
        typer.Option("--overnight", help="Use the language model's batch API: cheaper, but takes hours."),
    ] = False,
    max_usd: Annotated[
        float | None,
        typer.Option(min=0.0001, help="Maximum cost of each evaluation; one that reaches it ends incomplete."),
    ] = None,
    board: WithBoard = None,
    board_models: WithBoardModels = None,
    criteria: WithCriteria = None,
    as_json: WithJson = False,
) -> None:
    """Submit ideas to the service, and print the id of each evaluation or batch."""
    last_day = parse_day_option(cutoff, "cutoff")
    files = list_files_to_upload(paths)
    options = {
        "method": method,
        "cutoff": last_day,
        "blind": blind,
        "priority": "overnight" if overnight else None,
        "max_usd": max_usd,
        "board": board,
        "board_models": board_models,
        "criteria": read_criteria_file(criteria) if criteria else None,
    }
    with open_service_client() as client:
        if estimate:
            parts = estimate_bundles(client, upload_batches(files), options)
            if as_json:
                print_json(parts)
            else:
                show_estimate(parts)
            return
        ids = []
        labels = {"name": name, "tags": ",".join(tag or ())}
        for identifier in _submit_files(client, files, options, labels, from_folder=files != paths):
            ids.append(identifier)
            if not as_json:
                typer.echo(identifier)
        if as_json:
            print_json({"ids": ids})
        if wait and not _watch_to_the_end(client, ids):
            raise typer.Exit(1)


def read_criteria_file(path: Path) -> str:
    """Return the text of a criteria file. Raises InputError if the service would reject it."""
    text = read_text_file(path)
    parse_criteria(text, path.name)
    return text


def _watch_to_the_end(client: "Client", ids: Sequence[str]) -> bool:
    from assayer_client import ClientError

    try:
        return watch_all(client, ids)
    except (ClientError, KeyboardInterrupt):
        print_remark(
            f"The ideas were submitted, and the service continues to evaluate them. "
            f"To follow progress: `assayer batch watch {' '.join(ids)}`."
        )
        raise


def _submit_files(
    client: "Client",
    files: Sequence[Path],
    fields: Mapping[str, object],
    labels: Mapping[str, str],
    *,
    from_folder: bool,
) -> Iterator[str]:
    """Submit the files and yield the ids. A single text that is not TeX becomes an evaluation. Anything else, including
    any folder, becomes a batch, submitted in several requests if it is too large for one."""
    from assayer.text.decoding import decode_text
    from assayer.text.tex import looks_like_tex

    options = {key: value for key, value in fields.items() if value is not None}
    if len(files) == 1 and not from_folder and files[0].suffix.lower() in PLAIN_TEXT:
        text = decode_text(files[0].read_bytes(), str(files[0]))
        if not looks_like_tex(text):
            yield _submit_evaluation(client, files[0].name, text, options)
            return
    yield _submit_batch(client, files, options, labels)


def _submit_evaluation(client: "Client", name: str, text: str, options: Mapping[str, object]) -> str:
    from assayer_client import EvaluationBody, IdeaBody

    limits = {"max_usd": options["max_usd"]} if "max_usd" in options else {}
    other_options = {key: value for key, value in options.items() if key != "max_usd"}
    if isinstance(models := other_options.get("board_models"), str):
        other_options["board_models"] = split_at_commas(models)
    if isinstance(criteria := other_options.get("criteria"), str):
        other_options["criteria"] = [
            criterion.model_dump(mode="json") for criterion in parse_criteria(criteria, "The file of criteria")
        ]
    body = {"idea": IdeaBody(text=text), "source": name[:200], "limits": limits, **other_options}
    return client.evaluations.create(EvaluationBody.model_validate(body)).id


def _submit_batch(
    client: "Client", files: Sequence[Path], options: Mapping[str, object], labels: Mapping[str, str]
) -> str:
    from assayer_client import BatchQuery, ClientError, MoreRowsQuery, Upload

    first_bundle, *other_bundles = [[Upload(file.name, file) for file in bundle] for bundle in upload_batches(files)]
    set_labels = {key: value for key, value in labels.items() if value}
    accepted = client.batches.create(
        files=first_bundle, options=BatchQuery.model_validate({**options, **set_labels, "open": bool(other_bundles)})
    )
    accepted_parts = [accepted]
    try:
        _report_accepted(accepted)
        while other_bundles:
            row_options = {"first_row": accepted.next_row, "open": len(other_bundles) > 1}
            accepted = client.batches.add_rows(
                accepted.id, MoreRowsQuery.model_validate({**options, **row_options}), files=other_bundles[0]
            )
            accepted_parts.append(accepted)
            del other_bundles[0]
            _report_accepted(accepted)
    except (ClientError, KeyboardInterrupt):
        if other_bundles:
            from assayer.reports.wording import format_count

            has = format_count(sum(part.accepted for part in accepted_parts), "idea")
            print_remark(
                f"The batch {accepted.id} has {has}; the files from {other_bundles[0][0].name} on are missing."
            )
        print_remark(f"To follow progress: `assayer batch watch {accepted.id}`.")
        raise
    accepted_rows, rows = sum(part.accepted for part in accepted_parts), sum(part.rows for part in accepted_parts)
    print_remark(f"{accepted_rows:,} of {rows:,} rows were accepted into batch {accepted.id}.")
    return accepted.id


def _report_accepted(accepted: "AcceptedBatch") -> None:
    for row in accepted.rejected:
        print_remark(f"Refused: {row.detail if row.source in row.detail else f'{row.source}: {row.detail}'}")
    for notice in accepted.notices:
        print_remark(notice)
    for duplicate in accepted.duplicates[:_MAX_PRINTED_DUPLICATES]:
        print_remark(f"{describe_duplicate(duplicate)}: both are evaluated, but answers are paid for only once.")
    if len(accepted.duplicates) > _MAX_PRINTED_DUPLICATES:
        print_remark(
            f"Further rows with the same text as earlier rows: {len(accepted.duplicates) - _MAX_PRINTED_DUPLICATES:,}."
        )
