"""Erasure: all that is stored of one applicant, or of one batch, deleted everywhere at once."""

import datetime as dt
from typing import Literal

from assayer_client.requests import ApiCall, path, reads
from assayer_client.resources import Body, JobState, Resource


class ErasureBody(Body):
    """One of `source` and `batch`."""

    source: str | None = None
    """What you called the idea when you sent it: a file's name, the id in its row."""
    batch: str | None = None
    dry_run: bool = False
    """Only say what would go."""


class ErasedJob(Resource):
    id: str
    kind: Literal["evaluation", "comparison", "ranking", "rewards", "curation", "proposal", "score"]
    title: str
    state: JobState
    """Before it was deleted."""
    batch: str | None
    row: int | None


class RankingThatStays(Resource):
    """A finished ranking from which the applicant is taken out; all others keep their ranks."""

    id: str
    title: str
    taken: int
    """Proposals that are taken out."""
    left: int
    """Proposals that stay."""


class Erasure(Resource):
    """What was deleted, or would be."""

    dry_run: bool
    jobs: tuple[ErasedJob, ...]
    """Evaluations, and the comparisons and other jobs that hold their ideas: these go as a whole, as do rankings that
    are not done, of which fewer than two proposals would be left, or of an erased batch."""
    taken_out_of: tuple[RankingThatStays, ...] = ()
    refused_rows: int
    """Rows of batches that held no usable idea: their names and reasons."""
    batch: str | None
    """Itself deleted."""
    proof: int | None
    """Number of its entry in the audit log; None for a dry run."""
    warnings: tuple[str, ...] = ()
    """What others lose by it: a ranking that goes whole."""


class ErasureProof(Resource):
    """That something was erased, and that nothing of it is stored."""

    number: int
    at: dt.datetime
    by: str
    by_name: str = ""
    role: str
    about: str
    """The batch, or `an applicant`, who is not named."""
    things: tuple[str, ...]
    """Ids of all that was deleted."""
    taken_out_of: tuple[str, ...] = ()
    """Ids of rankings that stay, without it."""
    words_erased: int
    hash: str
    still_stored: tuple[str, ...]
    """Of these ids, those that are still there, and rankings in which something of it is left: none, where all went
    well."""
    checked_at: dt.datetime
    tip: str


def erase_everywhere(body: ErasureBody) -> ApiCall[Erasure]:
    """Deletes all that is stored of an idea or a batch, also the comparisons that hold it; rankings that are done stay,
    without the idea. Nothing brings it back; ask with `dry_run` first."""
    return ApiCall("POST", path("erasures"), reads(Erasure), body=body)


def erasure_proof(number: int) -> ApiCall[ErasureProof]:
    """By the `proof` of what was erased."""
    return ApiCall("GET", path("erasures", str(number)), reads(ErasureProof))
