"""`assayer corpus publish` and `assayer corpus pull`: upload corpus versions to a bucket, and download them."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from assayer.errors import ConfigurationError, CorpusError
from cluster.cli.options import WithJson
from cluster.cli.terminal import Outcome, format_size, show_status
from cluster.settings import Settings
from cluster.settings_loading import load_settings

if TYPE_CHECKING:
    from index.object_storage.publishing import PublishSummary


def publish(
    to: Annotated[
        str | None,
        typer.Option("--to", help="Destination, such as s3://bucket/corpus; by default ASSAYER_CORPUS__SOURCE."),
    ] = None,
    keep: Annotated[int, typer.Option(min=1, help="Versions to keep in the bucket, including this one.")] = 3,
    force: Annotated[
        bool, typer.Option("--force", help="Publish even if the bucket already has a newer version.")
    ] = False,
    as_json: WithJson = False,
) -> None:
    """Publish the current version so that other machines can pull it. Readers see it only once it is complete."""
    from cluster.corpus_source import CorpusRelease

    release = CorpusRelease(load_settings(), keep, to)
    with Outcome(as_json=as_json) as outcome:
        with show_status("Publishing"):
            summary = release.publish(force=force)
        add_publication(outcome, summary, release.address)


def pull(as_json: WithJson = False) -> None:
    """Pull the newest published version to this machine, downloading only missing files. Searches do this
    automatically."""
    from cluster.corpus_source import create_bucket_origin, get_followed_bucket
    from index.versions.verification_cache import VerificationCache

    settings = load_settings()
    bucket = get_followed_bucket(settings)
    if bucket is None:
        raise ConfigurationError(
            "No corpus source is configured.", "Set ASSAYER_CORPUS__SOURCE to a URL such as s3://bucket/corpus."
        )
    newest = bucket.fetch_latest().current
    origin = create_bucket_origin(bucket, settings, VerificationCache(settings.verified_path))
    with show_status("Pulling"):
        pull_summary = origin.pull(newest.version)
    with Outcome(as_json=as_json) as outcome:
        outcome.add(
            f"Pulled: version {newest.version} with {newest.papers:,} papers, in {escape(str(settings.corpus_path))}. "
            f"{pull_summary.files:,} files fetched ({format_size(pull_summary.bytes)}), {pull_summary.linked:,} "
            "shared with earlier versions.",
            path=settings.corpus_path,
            papers=newest.papers,
            **pull_summary._asdict(),
        )


def add_publication(outcome: Outcome, summary: "PublishSummary", address: str) -> None:
    verb = "Published" if summary.published else "Already published"
    removed_text = f" Removed files that no version needs: {summary.removed:,}." if summary.removed else ""
    outcome.add(
        f"{verb}: version {summary.version} as number {summary.number} in {escape(address)}. {summary.uploaded:,} of "
        f"{summary.files:,} files uploaded ({format_size(summary.uploaded_bytes)}).{removed_text}",
        publication=summary.model_dump() | {"address": address},
    )


def build_source_rows(settings: Settings) -> dict[str, str]:
    """Return the table rows that describe the corpus source: the published version, and how much of it is on this
    machine. Empty if no source is set."""
    from cluster.corpus_source import get_followed_bucket
    from index.object_storage.local_copy import LocalCopy
    from index.versions.verification_cache import VerificationCache

    bucket = get_followed_bucket(settings)
    if bucket is None:
        return {}
    try:
        newest = bucket.fetch_latest()
        inventory = bucket.read_inventory(newest.current.version)
    except CorpusError as error:
        return {"Source": str(error)}
    copy, version = LocalCopy(settings.corpus_path, VerificationCache()), newest.current.version
    parts = [number for number in range(len(inventory.parts)) if copy.holds(version, [number])]
    local_part = "all of it" if len(parts) == len(inventory.parts) else "none of it" if not parts else f"shards {parts}"
    other_versions = ", ".join(published_version.version for published_version in newest.versions[1:])
    return {
        "Source": f"{bucket.storage.address}, number {newest.number}: version {version}, published "
        f"{newest.current.published:%Y-%m-%d %H:%M} UTC" + (f"; kept: {other_versions}" if other_versions else ""),
        "Pulled": f"{local_part} ({format_size(inventory.count_bytes(parts))} of "
        f"{format_size(inventory.count_bytes())})",
    }
