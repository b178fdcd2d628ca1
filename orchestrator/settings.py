"""Settings of the service: database, API keys, sign-in, queue, workers, batches, webhooks, mails, HTTP API.

Reading them loads neither a database driver nor a web framework.
"""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, model_validator

from assayer.models import Frozen

__all__ = [
    "AccessSettings",
    "ApiKeySettings",
    "ApiSettings",
    "BatchSettings",
    "DatabaseSettings",
    "ExecutionSettings",
    "IdentityProviderSettings",
    "MailDeliverySettings",
    "QueueSettings",
    "RedeliverySettings",
    "RetentionSettings",
    "RewardSettings",
    "WebhookDeliverySettings",
]


class DatabaseSettings(Frozen):
    url: SecretStr | None = None
    """`postgresql://user:password@host:5432/name`; without it the embedded server is used."""
    direct_url: SecretStr | None = None
    """For the one connection that listens, past a pooler by transaction, in which notifications are lost; None: as all
    others."""
    max_connections: int = Field(default=8, ge=1, le=500)
    """Of this process. One that does jobs needs at least 2: its chores hold one as a lock."""
    connect_seconds: float = Field(default=5.0, gt=0)
    """For one connection, and for a configured server to answer at the start."""
    command_seconds: float = Field(default=30.0, gt=0)
    """For one statement."""
    patience_seconds: float = Field(default=60.0, gt=0)
    """How long work waits for a lost server, or for a free connection, before it fails."""
    migration_seconds: float = Field(default=7_200.0, gt=0)
    """How long the first start of a new version may take to bring the tables of an earlier one up to date."""


class ApiKeySettings(Frozen):
    requests_per_minute: int = Field(default=600, ge=1)
    """Of a key that has no limit of its own."""
    requests_per_minute_per_tenant: int = Field(default=6_000, ge=1)
    """Of all keys of a tenant together, however many it makes and whatever limits it gives them."""
    burst_seconds: float = Field(default=10.0, ge=0)
    """A key, or a tenant, may send at once as many requests as its rate allows in so long."""


ProviderName = Annotated[str, Field(pattern=r"^[a-z0-9_]{1,40}$")]


class IdentityProviderSettings(Frozen):
    """An OpenID Connect provider whose accounts open the console of one tenant."""

    issuer: str = Field(pattern=r"^https://[^\s?#]{1,500}$|^http://(localhost|127\.0\.0\.1)(:\d{1,5})?[^\s?#]{0,300}$")
    """`https://login.example.org/realms/agency`; without TLS on this machine alone."""
    client_id: str = Field(min_length=1, max_length=500)
    """Under which this service is registered there, with the address `ASSAYER_ACCESS__URL` and `/console/callback`."""
    client_secret: SecretStr | None = None
    """None: registered as a public client."""
    tenant: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")
    """Whose people it signs in. Nobody else's, whatever it says."""
    label: str = Field(default="your organisation's account", max_length=100)
    """On the button: Sign in with …"""
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    groups_claim: str = "groups"
    """Which claim lists somebody's groups."""
    roles: dict[str, Literal["owner", "officer", "reviewer", "auditor"]] = Field(default_factory=dict)
    """By group. Whoever is in one comes in without an invitation; of several roles the highest counts."""
    trust_email: bool = False
    """Take addresses for verified where the provider does not say: only where people cannot choose theirs."""


class AccessSettings(Frozen):
    """Of people in a browser."""

    url: str | None = Field(default=None, pattern=r"^https?://[A-Za-z0-9.:\[\]-]{1,253}$")
    """Where people find the service: `https://assayer.example.org`. Needed behind a proxy that ends TLS, and for an
    identity provider."""
    session_seconds: float = Field(default=43_200.0, gt=0)
    """Then one signs in again, whatever one does: half a day."""
    idle_seconds: float = Field(default=3_600.0, ge=120)
    """Or after so long without a request."""
    requests_per_minute: int = Field(default=1_200, ge=1)
    """Of one person, in all their sessions together. Stylesheets, scripts and what a stream goes on to send count
    nothing."""
    burst_seconds: float = Field(default=30.0, ge=0)
    """Somebody may send at once as many requests as their rate allows in so long."""
    attempt_seconds: float = Field(default=600.0, gt=0)
    """How long signing in with an identity provider may take."""
    providers: dict[ProviderName, IdentityProviderSettings] = Field(default_factory=dict)
    """By a name of one's own, which stands in addresses."""

    @model_validator(mode="after")
    def _address_is_known(self) -> Self:
        if self.providers and self.url is None:
            raise ValueError("identity providers send people back to `url`: set ASSAYER_ACCESS__URL")
        return self


class QueueSettings(Frozen):
    lease_seconds: float = Field(default=30.0, gt=0)
    """A lease that is not renewed for so long has expired. It is renewed every third of this."""
    max_failures: int = Field(default=3, ge=1)
    """Attempts that failed for a reason that may be temporary; then the job is dead."""
    max_losses: int = Field(default=6, ge=1)
    """Leases that expired, or ended because the worker died or had to stop; then it is dead."""
    max_outages: int = Field(default=100, ge=1)
    """Attempts put off because something that every job needs was out of reach; then it is dead."""
    suspect_losses: int = Field(default=3, ge=1)
    """A job that lost so many leases may be what kills its workers: of such jobs one runs at a time, so that those
    that merely ran beside it are cleared."""
    head_start: float = Field(default=20.0, ge=0)
    """Turns (of weight 1) for which a tenant's interactive jobs precede batch jobs of tenants that have had less."""
    max_usd: float | None = Field(default=None, gt=0)
    """The most that a job without a limit of its own may cost."""


class ExecutionSettings(Frozen):
    progress_seconds: float = Field(default=1.0, gt=0)
    """Between two progress events of one job."""
    poll_seconds: float = Field(default=5.0, gt=0)
    """How long a worker relies on notifications before it polls."""
    expire_seconds: float = Field(default=5.0, gt=0)
    """Between two searches for expired leases."""
    purge_seconds: float = Field(default=86_400.0, gt=0)
    """Between two deletions of jobs past their retention."""
    interactive_places: int = Field(default=1, ge=0)
    """Of each worker, kept free for interactive jobs, as long as one is left for the others."""
    longest_pause_seconds: float = Field(default=10.0, gt=0)
    """Between two attempts while the database is out of reach."""
    settling_seconds: float = Field(default=600.0, gt=0)
    """How long storing the outcome of a job is retried while the database is out of reach; then the job is run
    again."""
    drain_seconds: float = Field(default=30.0, ge=0)
    """How long running jobs may take to end once the process is told to stop; the rest go back to the queue."""


class RetentionSettings(Frozen):
    """How long what grows is kept; of tables in months, whole months are dropped at once. How long jobs are kept is a
    tenant's own."""

    ledger_months: int | None = Field(default=None, ge=1)
    """Whole months before the current one for which calls of language models stay in the ledger, and longer while any
    job is stored that was accepted before their end. None: for ever."""
    event_months: int | None = Field(default=None, ge=1)
    """The same of events of jobs that have ended: what their progress was. The jobs and their results stay. None: as
    long as the job."""
    tombstone_days: int | None = Field(default=None, ge=1)
    """For how long after something was deleted whoever asks for it is told so; from then on it is as if it had never
    been. None: as long as its tenant."""


class BatchSettings(Frozen):
    rows: int = Field(default=10_000, ge=1)
    row_characters: int = Field(default=2_000_000, gt=0)
    """Of one line of JSONL, or one row of a CSV file."""
    lines: int = Field(default=1_000_000, gt=0)
    """Of one request, in all its files of rows together, blank ones included."""
    file_bytes: int = Field(default=50_000_000, gt=0)
    """Of one file among several."""
    archive_bytes: int = Field(default=128_000_000, gt=0)
    """Of all files of a ZIP archive, unpacked."""
    at_once: int = Field(default=2, ge=1)
    """Batches that one process parses at once; further ones wait. One tenant's take all places but one."""
    reading_seconds: float = Field(default=60.0, gt=0)
    """How long the ideas of one body may take to be read; then it is refused."""
    documents: str = ""
    """Where documents of jobs lie until they are read: an fsspec URL (`s3://bucket/submissions`) that every process of
    the service reaches. Empty: `submissions/` in the data directory with the embedded database, the rows of the jobs
    with another one."""
    abandoned_seconds: float = Field(default=900.0, gt=0)
    """After which a document that was stored, and whose job never came, is deleted: the process that took it died.
    Longer than any body takes to be stored."""
    document_days: int = Field(default=30, ge=0)
    """How long a document stays whose evaluation ended without a result, so that it can be run again. 0: it goes with
    the end of its evaluation, as all do whose evaluation is done."""
    uploads: int = Field(default=16, ge=1)
    """Bodies of batches that one process receives at once, onto its disk; further ones are told to come later."""


class RewardSettings(Frozen):
    concurrency: int = Field(default=24, ge=1, le=4_096)
    """Items of one job that are judged at once."""
    max_usd: float | None = Field(default=None, gt=0)
    """What one job may spend on all of its items."""
    max_prompt_tokens: int | None = Field(default=None, gt=0)
    group_seconds: float = Field(default=60.0, gt=0, le=86_400)
    """How long the members of a group that are there wait for the next one."""


class RedeliverySettings(Frozen):
    """When what was not taken is sent again."""

    tries: int = Field(default=8, ge=1)
    """Then it is given up. With the waits below, after a little more than a day."""
    first_seconds: float = Field(default=5.0, gt=0)
    """Before the second attempt; each further wait is `factor` times as long."""
    factor: float = Field(default=5.0, ge=1)
    jitter: float = Field(default=0.2, ge=0, lt=1)
    """Waits are longer or shorter by up to this share, so that not all messages reach a receiver at once when it is
    back."""


class WebhookDeliverySettings(RedeliverySettings):
    deadline_seconds: float = Field(default=15.0, gt=0)
    """For one attempt: name, connection, request and answer."""
    at_once: int = Field(default=32, ge=1)
    """Deliveries in flight in this process."""
    at_once_per_webhook: int = Field(default=4, ge=1)
    """So that a receiver that hangs does not hold up the others."""
    poll_seconds: float = Field(default=5.0, gt=0)
    """How long the sender relies on notifications before it polls."""


class MailDeliverySettings(RedeliverySettings):
    tries: int = Field(default=9, ge=1)
    """Then the mail is given up. With the waits below, after a little more than a day."""
    first_seconds: float = Field(default=30.0, gt=0)
    """Before the second attempt; each further wait is `factor` times as long."""
    factor: float = Field(default=3.0, ge=1)
    in_a_row: int = Field(default=10, ge=1)
    """Mails that one process sends over one connection, one after the other."""
    poll_seconds: float = Field(default=5.0, gt=0)
    """Between two looks for mails that are due."""


class ApiSettings(Frozen):
    fonts: tuple[Path, ...] = ()
    """Folders with more fonts for PDFs, for scripts that neither this machine's fonts nor those of Typst have."""
    max_body_bytes: int = Field(default=2_000_000, ge=1_000)
    """Of a JSON request: an idea has at most 400,000 characters."""
    max_upload_bytes: int = Field(default=64_000_000, ge=1_000)
    """Of a request that carries many ideas: a batch, a ranking."""
    max_json_values: int = Field(default=2_000_000, ge=1_000)
    """Commas in a body of JSON: millions of tiny values take seconds to read and gigabytes to hold, in one piece."""
    linger_seconds: float = Field(default=5.0, gt=0)
    """How long the rest of a refused body is still read, so that its sender receives the answer."""
    body_seconds: float = Field(default=20.0, gt=0)
    """How long a body may keep the process waiting, and a second more for each `least_body_rate` bytes that came."""
    least_body_rate: int = Field(default=10_000, ge=1)
    """Bytes a second."""
    max_bodies_per_tenant: int = Field(default=64, ge=1)
    """On their way to this process at once."""
    max_requests: int = Field(default=256, ge=1)
    """At once in this process; further ones are answered 503 unread."""
    max_requests_per_tenant: int = Field(default=4, ge=1)
    """Worked on at once in this process; further ones wait for their turn, so that others need not wait for them."""
    max_waiting_per_tenant: int = Field(default=192, ge=1)
    """With those that are worked on and held open; further ones are answered 429."""
    refusal_seconds: float = Field(default=1.0, ge=0)
    """After so long a 429 is answered: whoever asks again at once would cost as much as if nothing were refused."""
    max_streams: int = Field(default=512, ge=1)
    """Event streams and waiting requests held open at once in this process. They are not counted as requests."""
    max_streams_per_tenant: int = Field(default=128, ge=1)
    max_wait_seconds: float = Field(default=60.0, gt=0)
    """The longest time that `Prefer: wait=N` waits."""
    stream_seconds: float = Field(default=3_600.0, gt=0)
    """Then an event stream ends and the client resumes it, so that a revoked key does not read for ever."""
    heartbeat_seconds: float = Field(default=15.0, gt=0)
    """Between comments in a silent event stream, which keep proxies from closing it."""
    poll_seconds: float = Field(default=5.0, gt=0)
    """How long a stream relies on notifications before it polls."""
    retry_seconds: int = Field(default=5, ge=1)
    """`Retry-After` of a 503."""
    ready_seconds: float = Field(default=2.0, ge=0)
    """How long what `/readyz` found is told to others who ask; nobody needs a key for it."""
    open_metrics: bool = False
    """Whether `/metrics`, which names every tenant, is served without an `admin` key: for closed networks."""
