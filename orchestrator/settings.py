"""Settings of the service: database, API keys, sign-in, queue, workers, batches, webhooks, mails, HTTP API.

Reading them loads neither a database driver nor a web framework.
"""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, model_validator

from assayer.models import Frozen


class DatabaseSettings(Frozen):
    url: SecretStr | None = None
    """Database URL, such as `postgresql://user:password@host:5432/name`; if it is not set, the embedded server is
    used."""
    direct_url: SecretStr | None = None
    """Direct URL for the connection that listens for notifications, bypassing a transaction pooler, in which
    notifications are lost; None: same URL as all others."""
    migrate: bool = True
    """Migrate the tables at startup. False if the role in the URL may not change tables: `assayer admin migrate` then
    does it, with the URL of the role that owns them."""
    max_connections: int = Field(default=8, ge=1, le=500)
    """Pool size of this process. A process that runs jobs has two more connections: a listener, and a connection
    that holds locks."""
    connect_seconds: float = Field(default=5.0, gt=0)
    """Timeout for a connection, and for a configured server to respond at startup."""
    command_seconds: float = Field(default=30.0, gt=0)
    """Timeout for a statement."""
    patience_seconds: float = Field(default=60.0, gt=0)
    """Seconds that work waits for an unreachable server, or for a free connection, before it fails."""


class ApiKeySettings(Frozen):
    requests_per_minute: int = Field(default=600, ge=1)
    """Rate limit of a key that has no limit of its own."""
    requests_per_minute_per_tenant: int = Field(default=6_000, ge=1)
    """Rate limit of all keys of a tenant together, regardless of how many keys it creates and of their own limits."""
    burst_seconds: float = Field(default=10.0, ge=0)
    """Burst size: a key or tenant can send at once the number of requests that its rate allows in this many seconds."""


ProviderName = Annotated[str, Field(pattern=r"^[a-z0-9_]{1,40}$")]


class IdentityProviderSettings(Frozen):
    """An OpenID Connect provider whose accounts can sign in to the console of one tenant."""

    issuer: str = Field(pattern=r"^https://[^\s?#]{1,500}$|^http://(localhost|127\.0\.0\.1)(:\d{1,5})?[^\s?#]{0,300}$")
    """Issuer URL, such as `https://login.example.org/realms/agency`; unencrypted `http` is allowed only for this
    machine."""
    client_id: str = Field(min_length=1, max_length=500)
    """Client id under which this service is registered with the provider, with the redirect URL
    `ASSAYER_ACCESS__URL` followed by `/console/callback`."""
    client_secret: SecretStr | None = None
    """Client secret; None if the service is registered as a public client."""
    tenant: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")
    """Tenant whose members this provider signs in. It never signs in members of another tenant, regardless of what its
    tokens state."""
    label: str = Field(default="your organisation's account", max_length=100)
    """Label on the button after "Sign in with"."""
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    groups_claim: str = "groups"
    """Name of the claim that lists a person's groups."""
    roles: dict[str, Literal["owner", "officer", "reviewer", "auditor"]] = Field(default_factory=dict)
    """Roles by group. Members of a listed group are admitted without an invitation; the highest of several roles
    counts."""
    trust_email: bool = False
    """True to treat addresses as verified if the provider does not state whether they are; enable only if people cannot
    choose their addresses."""


class AccessSettings(Frozen):
    """Settings for people who use a browser."""

    url: str | None = Field(default=None, pattern=r"^https?://[A-Za-z0-9.:\[\]-]{1,253}$")
    """Public URL of the service, such as `https://assayer.example.org`. Required behind a proxy that terminates
    TLS, and for an identity provider."""
    session_seconds: float = Field(default=43_200.0, gt=0)
    """Maximum duration of a session in seconds, regardless of activity; the default is half a day."""
    idle_seconds: float = Field(default=3_600.0, ge=120)
    """Seconds without a request after which a session ends."""
    requests_per_minute: int = Field(default=1_200, ge=1)
    """Rate limit of a person over all their sessions. Stylesheets, scripts and the data that a stream continues to
    send do not count."""
    burst_seconds: float = Field(default=30.0, ge=0)
    """Burst size: a person can send at once the number of requests that their rate allows in this many seconds."""
    providers: dict[ProviderName, IdentityProviderSettings] = Field(default_factory=dict)
    """Identity providers, by a name that you choose and that appears in URLs."""

    @model_validator(mode="after")
    def _address_is_known(self) -> Self:
        if self.providers and self.url is None:
            raise ValueError("identity providers send people back to `url`: set ASSAYER_ACCESS__URL")
        return self


class QueueSettings(Frozen):
    lease_seconds: float = Field(default=30.0, gt=0)
    """Seconds after which a lease that was not renewed expires; leases are renewed every third of this time."""
    max_failures: int = Field(default=3, ge=1)
    """Number of attempts that fail with a possibly temporary error after which the job fails."""
    max_losses: int = Field(default=6, ge=1)
    """Number of lost leases after which the job fails: leases that expired, or ended because the worker died or had
    to stop."""
    max_outages: int = Field(default=100, ge=1)
    """Number of postponed attempts after which the job fails. Attempts are postponed while a dependency of every job is
    unreachable."""
    suspect_losses: int = Field(default=3, ge=1)
    """Number of lost leases from which a job is suspected of killing its workers. Only one such job runs at a time, so
    that jobs that merely ran beside the cause are cleared."""
    max_usd: float | None = Field(default=None, gt=0)
    """Maximum cost in US dollars of a job without a limit of its own."""


class ExecutionSettings(Frozen):
    progress_seconds: float = Field(default=1.0, gt=0)
    """Seconds between two progress events of a job."""
    poll_seconds: float = Field(default=5.0, gt=0)
    """Maximum seconds that a worker waits for notifications before it polls."""
    expire_seconds: float = Field(default=5.0, gt=0)
    """Seconds between two searches for expired leases."""
    purge_seconds: float = Field(default=86_400.0, gt=0)
    """Seconds between two deletions of jobs past their retention period."""
    interactive_places: int = Field(default=1, ge=0)
    """Places of each worker reserved for interactive jobs, as long as at least one remains for other jobs."""
    longest_pause_seconds: float = Field(default=10.0, gt=0)
    """Maximum seconds between two attempts while the database is unreachable."""
    drain_seconds: float = Field(default=30.0, ge=0)
    """Seconds for running jobs to end once the process is asked to stop; the remaining jobs return to the queue."""


class RetentionSettings(Frozen):
    """Retention periods of growing data. The retention of jobs is set per tenant."""

    ledger_months: int | None = Field(default=None, ge=1)
    """Number of whole months before the current month for which language model calls stay in the ledger; they stay
    longer while any job accepted before the end of those months is stored. None: forever."""
    event_months: int | None = Field(default=None, ge=1)
    """Number of whole months for which progress events of ended jobs are kept; the jobs and their results remain.
    None: as long as the job."""
    tombstone_days: int | None = Field(default=None, ge=1)
    """Days during which the response to a request for a deleted resource states that it was deleted; afterwards it is
    treated as if it never existed. None: as long as its tenant exists."""


class BatchSettings(Frozen):
    rows: int = Field(default=10_000, ge=1)
    row_characters: int = Field(default=2_000_000, gt=0)
    """Maximum characters of a line of JSONL or a row of a CSV file."""
    lines: int = Field(default=1_000_000, gt=0)
    """Maximum lines of a request, over all its files of rows, including blank lines."""
    file_bytes: int = Field(default=50_000_000, gt=0)
    """Maximum bytes of each file in a request with several files."""
    archive_bytes: int = Field(default=128_000_000, gt=0)
    """Maximum total bytes of the unpacked files of ZIP archives in a request."""
    at_once: int = Field(default=2, ge=1)
    """Maximum number of batches that a process parses concurrently; further batches wait. A single tenant's batches
    can take all places but one."""
    reading_seconds: float = Field(default=60.0, gt=0)
    """Maximum seconds for reading the ideas of a body, after which the body is refused."""
    documents: str = ""
    """Location of job documents until they are read: an fsspec URL (`s3://bucket/submissions`) that every process
    of the service can reach. Empty: `submissions/` in the data directory with the embedded database, or the rows of
    the jobs with another database."""
    abandoned_seconds: float = Field(default=900.0, gt=0)
    """Seconds after which a stored document without a job is deleted, because the process that received it died; must
    be longer than storing any body takes."""
    document_days: int = Field(default=30, ge=0)
    """Retention of a document whose evaluation ended without a result, so that it can be rerun. 0: it is deleted
    when its evaluation ends, as are all documents whose evaluation succeeded."""
    uploads: int = Field(default=16, ge=1)
    """Maximum number of batch bodies that a process receives concurrently, onto its disk; further uploads are refused
    and can be retried later."""


class RewardSettings(Frozen):
    concurrency: int = Field(default=24, ge=1, le=4_096)
    """Maximum number of items of a job that are judged concurrently."""
    max_usd: float | None = Field(default=None, gt=0)
    """Maximum spending of a job on all of its items."""
    max_prompt_tokens: int | None = Field(default=None, gt=0)
    group_seconds: float = Field(default=60.0, gt=0, le=86_400)
    """Seconds that the members of a group wait for the next member."""


class RedeliverySettings(Frozen):
    """Settings for retrying failed deliveries."""

    tries: int = Field(default=8, ge=1)
    """Number of attempts before delivery is abandoned, which with the waits below takes a little more than a day."""
    first_seconds: float = Field(default=5.0, gt=0)
    """Seconds before the second attempt; each further wait is `factor` times as long."""
    factor: float = Field(default=5.0, ge=1)


class WebhookDeliverySettings(RedeliverySettings):
    deadline_seconds: float = Field(default=15.0, gt=0)
    """Timeout for one attempt: name lookup, connection, request and response."""
    at_once: int = Field(default=32, ge=1)
    """Maximum number of deliveries in flight in this process."""
    at_once_per_webhook: int = Field(default=4, ge=1)
    """Maximum number of deliveries in flight for a webhook, so that a hanging receiver does not delay the others."""
    poll_seconds: float = Field(default=5.0, gt=0)
    """Maximum seconds that the sender waits for notifications before it polls."""


class MailDeliverySettings(RedeliverySettings):
    tries: int = Field(default=9, ge=1)
    """Number of attempts before the mail is abandoned, which with the waits below takes a little more than a day."""
    first_seconds: float = Field(default=30.0, gt=0)
    """Seconds before the second attempt; each further wait is `factor` times as long."""
    factor: float = Field(default=3.0, ge=1)
    poll_seconds: float = Field(default=5.0, gt=0)
    """Seconds between two searches for mails that are due."""


class ApiSettings(Frozen):
    fonts: tuple[Path, ...] = ()
    """Folders with additional fonts for PDFs, for scripts that neither this machine's fonts nor those of Typst
    cover."""
    max_body_bytes: int = Field(default=2_000_000, ge=1_000)
    """Maximum bytes of a JSON request; an idea has at most 400,000 characters."""
    max_upload_bytes: int = Field(default=64_000_000, ge=1_000)
    """Maximum bytes of a request that carries many ideas: a batch, a ranking."""
    max_json_values: int = Field(default=2_000_000, ge=1_000)
    """Maximum number of array elements and object members in a JSON body, counted by commas: millions of tiny values
    take seconds to read and gigabytes to hold."""
    linger_seconds: float = Field(default=5.0, gt=0)
    """Seconds for which the rest of a refused body is still read, so that its sender receives the response."""
    body_seconds: float = Field(default=20.0, gt=0)
    """Seconds for which a body can keep the process waiting, plus a second for each `least_body_rate` bytes received.
    """
    least_body_rate: int = Field(default=10_000, ge=1)
    """Minimum rate in bytes per second."""
    max_bodies_per_tenant: int = Field(default=64, ge=1)
    """Maximum concurrent uploads of a tenant to this process; callers without an API key count as one tenant."""
    max_requests: int = Field(default=256, ge=1)
    """Maximum concurrent requests in this process; further requests get a 503 without being read."""
    max_requests_per_tenant: int = Field(default=4, ge=1)
    """Maximum number of a tenant's requests processed concurrently in this process; further requests wait, so that
    other tenants are not delayed."""
    max_waiting_per_tenant: int = Field(default=192, ge=1)
    """Maximum requests of a tenant, including those in progress and held open; further requests get a 429."""
    refusal_seconds: float = Field(default=1.0, ge=0)
    """Seconds of delay before a 429 response, because clients that retry immediately would otherwise cost as much
    as if nothing were refused."""
    max_streams: int = Field(default=512, ge=1)
    """Maximum event streams and waiting requests held open at once in this process. They are not counted as requests.
    """
    max_streams_per_tenant: int = Field(default=128, ge=1)
    max_wait_seconds: float = Field(default=60.0, gt=0)
    """Maximum seconds that `Prefer: wait=N` waits."""
    stream_seconds: float = Field(default=3_600.0, gt=0)
    """Seconds after which an event stream ends and the client resumes it, so that a revoked key cannot read forever."""
    heartbeat_seconds: float = Field(default=15.0, gt=0)
    """Seconds between comments in an idle event stream, which keep proxies from closing it."""
    poll_seconds: float = Field(default=5.0, gt=0)
    """Maximum seconds that a stream waits for notifications before it polls."""
    ready_seconds: float = Field(default=2.0, ge=0)
    """Seconds for which a result of `/readyz` is reused for other callers, because the route requires no key."""
    open_metrics: bool = False
    """True to serve `/metrics`, which names every tenant, without an `admin` key; only for closed networks."""
