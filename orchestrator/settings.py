"""Settings of the service: database, API keys, sign-in, queue, workers, batches, webhooks, emails, HTTP API.

Importing this module loads neither a database driver nor a web framework.
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
    """Direct URL for the connection that listens for notifications, which must bypass a transaction pooler because
    notifications are lost in it; None: same URL as for all other connections."""
    migrate: bool = True
    """Migrate the tables at startup. False if the role in the URL may not change tables: `assayer admin migrate` then
    does it, with the URL of the role that owns them."""
    max_connections: int = Field(default=8, ge=1, le=500)
    """Size of the connection pool of this process. A process that runs jobs has two more connections: one that listens
    for notifications, and one that holds locks."""
    connect_seconds: float = Field(default=5.0, gt=0)
    """Timeout for opening a connection, and for a configured server to respond at startup."""
    command_seconds: float = Field(default=30.0, gt=0)
    """Timeout for a statement."""
    patience_seconds: float = Field(default=60.0, gt=0)
    """Seconds that work waits for an unreachable server or for a free connection before it fails."""


class ApiKeySettings(Frozen):
    requests_per_minute: int = Field(default=600, ge=1)
    """Rate limit of a key that has no limit of its own."""
    requests_per_minute_per_tenant: int = Field(default=6_000, ge=1)
    """Rate limit of all keys of a tenant together, regardless of how many keys it creates and of their own limits."""
    burst_seconds: float = Field(default=10.0, ge=0)
    """Burst size: a key or tenant can send immediately the number of requests that its rate allows in this many
    seconds."""


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
    """Tenant whose members sign in with this provider. It cannot sign in members of another tenant, regardless of what
    its tokens state."""
    label: str = Field(default="your organisation's account", max_length=100)
    """Text after "Sign in with" on the button."""
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    groups_claim: str = "groups"
    """Name of the claim that lists a person's groups."""
    roles: dict[str, Literal["owner", "officer", "reviewer", "auditor"]] = Field(default_factory=dict)
    """Roles by group. People in a listed group are admitted without an invitation; the highest of several roles counts.
    """
    trust_email: bool = False
    """True to treat email addresses as verified if the provider does not state whether they are. Enable this only if
    people cannot choose their addresses themselves."""


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
    """Rate limit of a person over all their sessions. Stylesheets, scripts and the events of an open stream do not
    count."""
    burst_seconds: float = Field(default=30.0, ge=0)
    """Burst size: a person can send immediately the number of requests that the rate allows in this many seconds."""
    providers: dict[ProviderName, IdentityProviderSettings] = Field(default_factory=dict)
    """Identity providers, by a name that you choose and that appears in URLs."""

    @model_validator(mode="after")
    def _address_is_known(self) -> Self:
        if self.providers and self.url is None:
            raise ValueError("identity providers redirect people to `url`, so it must be set: ASSAYER_ACCESS__URL")
        return self


class QueueSettings(Frozen):
    lease_seconds: float = Field(default=30.0, gt=0)
    """Seconds after which a lease that was not renewed expires; leases are renewed every third of this time."""
    max_failures: int = Field(default=3, ge=1)
    """Number of attempts that failed with a possibly temporary error after which the job fails."""
    max_losses: int = Field(default=6, ge=1)
    """Number of lost leases after which the job fails. A lease is lost if its worker dies or does not
    renew it in time."""
    max_outages: int = Field(default=100, ge=1)
    """Number of postponed attempts after which the job fails. Attempts are postponed while a dependency of every job is
    unreachable."""
    suspect_losses: int = Field(default=3, ge=1)
    """Number of lost leases from which a job is suspected of crashing its workers. Only one such job runs at a time, so
    that jobs that merely ran at the same time as the cause are not suspected any longer."""
    max_usd: float | None = Field(default=None, gt=0)
    """Maximum cost in US dollars of a job without a limit of its own."""


class ExecutionSettings(Frozen):
    progress_seconds: float = Field(default=1.0, gt=0)
    """Seconds between two progress events of a job."""
    poll_seconds: float = Field(default=5.0, gt=0)
    """Maximum seconds that a worker waits for a notification before it polls the queue."""
    expire_seconds: float = Field(default=5.0, gt=0)
    """Seconds between two searches for expired leases."""
    purge_seconds: float = Field(default=86_400.0, gt=0)
    """Seconds between two deletions of jobs past their retention period."""
    interactive_places: int = Field(default=1, ge=0)
    """Places of each worker reserved for interactive jobs, as long as at least one remains for other jobs."""
    longest_pause_seconds: float = Field(default=10.0, gt=0)
    """Maximum seconds between two attempts while the database is unreachable."""
    drain_seconds: float = Field(default=30.0, ge=0)
    """Seconds that running jobs have to end when the process is asked to stop. The remaining jobs return to the
    queue."""


class RetentionSettings(Frozen):
    """Retention periods of data that grows over time. The retention of jobs is set for each tenant."""

    ledger_months: int | None = Field(default=None, ge=1)
    """Number of whole months before the current month for which language model calls are kept in the ledger. They are
    kept longer while any job that was accepted before the end of their month is stored. None: forever."""
    event_months: int | None = Field(default=None, ge=1)
    """Number of whole months for which progress events of ended jobs are kept; the jobs and their results remain.
    None: as long as the job."""
    tombstone_days: int | None = Field(default=None, ge=1)
    """Number of days for which requests for a deleted resource are told that it was deleted. Afterwards, it is treated
    as if it had never existed. None: as long as its tenant exists."""


class BatchSettings(Frozen):
    rows: int = Field(default=10_000, ge=1)
    row_characters: int = Field(default=2_000_000, gt=0)
    """Maximum characters of a line of JSONL or a row of a CSV file."""
    lines: int = Field(default=1_000_000, gt=0)
    """Maximum lines of a request, including blank lines, over all its files with rows."""
    file_bytes: int = Field(default=50_000_000, gt=0)
    """Maximum bytes of each file in a request with several files."""
    archive_bytes: int = Field(default=128_000_000, gt=0)
    """Maximum total bytes of the unpacked files of ZIP archives in a request."""
    at_once: int = Field(default=2, ge=1)
    """Maximum number of batches that a process parses concurrently; further batches wait. The batches of a single
    tenant can use all places except one."""
    reading_seconds: float = Field(default=60.0, gt=0)
    """Maximum seconds for reading the ideas in a body. A body that takes longer is refused."""
    documents: str = ""
    """Location of submitted documents: an fsspec URL (`s3://bucket/submissions`) that every process
    of the service can reach. Empty: `submissions/` in the data directory with the embedded database, or the rows of
    the jobs with another database."""
    abandoned_seconds: float = Field(default=900.0, gt=0)
    """Seconds after which a stored document without a job is deleted, because the process that received it has died. It
    must be longer than the time needed to store any body."""
    document_days: int | None = Field(default=None, ge=0)
    """Days for which a document is kept after its evaluation ended, so that people can read the original and a failed
    evaluation can be rerun. None: as long as the evaluation; 0: it is deleted when the evaluation ends."""
    uploads: int = Field(default=16, ge=1)
    """Maximum number of bodies of batches that a process receives concurrently and writes to its disk. Further uploads
    are refused and can be retried later."""


class RewardSettings(Frozen):
    concurrency: int = Field(default=24, ge=1, le=4_096)
    """Maximum number of items of a job that are judged concurrently."""
    max_usd: float | None = Field(default=None, gt=0)
    """Maximum cost in US dollars of a job, over all its items."""
    max_prompt_tokens: int | None = Field(default=None, gt=0)
    group_seconds: float = Field(default=60.0, gt=0, le=86_400)
    """Seconds that the members of a group wait for the next member."""


class RedeliverySettings(Frozen):
    """Settings for retrying failed deliveries."""

    tries: int = Field(default=8, ge=1)
    """Number of attempts before the delivery is given up. With the waits below, that takes a little more than a day."""
    first_seconds: float = Field(default=5.0, gt=0)
    """Seconds before the second attempt; each further wait is `factor` times as long."""
    factor: float = Field(default=5.0, ge=1)


class WebhookDeliverySettings(RedeliverySettings):
    deadline_seconds: float = Field(default=15.0, gt=0)
    """Timeout for an attempt: name resolution, connection, request and response."""
    at_once: int = Field(default=32, ge=1)
    """Maximum number of concurrent deliveries of this process."""
    at_once_per_webhook: int = Field(default=4, ge=1)
    """Maximum number of concurrent deliveries to a webhook, so that a slow receiver does not delay the others."""
    poll_seconds: float = Field(default=5.0, gt=0)
    """Maximum seconds that the sender waits for notifications before it polls."""


class MailDeliverySettings(RedeliverySettings):
    tries: int = Field(default=9, ge=1)
    """Number of attempts before the email is given up. With the waits below, that takes a little more than a day."""
    first_seconds: float = Field(default=30.0, gt=0)
    """Seconds before the second attempt; each further wait is `factor` times as long."""
    factor: float = Field(default=3.0, ge=1)
    poll_seconds: float = Field(default=5.0, gt=0)
    """Seconds between two searches for emails that are due."""


class ApiSettings(Frozen):
    fonts: tuple[Path, ...] = ()
    """Folders with additional fonts for PDFs, for writing systems that are covered neither by this machine's fonts nor
    by those of Typst."""
    max_body_bytes: int = Field(default=2_000_000, ge=1_000)
    """Maximum bytes of a JSON request; an idea has at most 400,000 characters."""
    max_upload_bytes: int = Field(default=64_000_000, ge=1_000)
    """Maximum bytes of a request that can contain many ideas, such as a batch or a ranking."""
    max_json_values: int = Field(default=2_000_000, ge=1_000)
    """Maximum number of array elements and object members in a JSON body, determined by counting commas. Millions of
    small values would take seconds to parse and gigabytes of memory."""
    linger_seconds: float = Field(default=5.0, gt=0)
    """Seconds for which the rest of a refused body is still read, so that its sender receives the response."""
    body_seconds: float = Field(default=20.0, gt=0)
    """Maximum seconds that the process waits for the data of a body, plus a second for each `least_body_rate` bytes
    received."""
    least_body_rate: int = Field(default=10_000, ge=1)
    """Minimum rate of a body in bytes per second, after the first `body_seconds`."""
    max_bodies_per_tenant: int = Field(default=64, ge=1)
    """Maximum concurrent uploads of a tenant to this process; callers without an API key count as one tenant."""
    max_requests: int = Field(default=256, ge=1)
    """Maximum number of concurrent requests in this process. Further requests receive a 503 without being read."""
    max_requests_per_tenant: int = Field(default=4, ge=1)
    """Maximum number of a tenant's requests processed concurrently in this process; further requests wait, so that
    other tenants are not delayed."""
    max_waiting_per_tenant: int = Field(default=192, ge=1)
    """Maximum number of a tenant's requests that wait, are in progress or are held open. Further requests receive a
    429."""
    refusal_seconds: float = Field(default=1.0, ge=0)
    """Delay in seconds before a 429 response. Without it, clients that retry immediately would cost as much as if no
    request were refused."""
    max_streams: int = Field(default=512, ge=1)
    """Maximum number of event streams and waiting requests that this process holds open. They do not count towards
    `max_requests`."""
    max_streams_per_tenant: int = Field(default=128, ge=1)
    """Maximum event streams and waiting requests of a tenant held open at once in this process."""
    max_wait_seconds: float = Field(default=60.0, gt=0)
    """Maximum seconds that `Prefer: wait=N` waits."""
    stream_seconds: float = Field(default=3_600.0, gt=0)
    """Seconds after which an event stream ends, so that a revoked key cannot read it forever. Clients resume it."""
    heartbeat_seconds: float = Field(default=15.0, gt=0)
    """Seconds between comments in an idle event stream, which keep proxies from closing it."""
    poll_seconds: float = Field(default=5.0, gt=0)
    """Maximum seconds that a stream waits for a notification before it polls."""
    ready_seconds: float = Field(default=2.0, ge=0)
    """Seconds for which a result of `/readyz` is reused for other callers, because the route requires no key."""
    open_metrics: bool = False
    """True to serve `/metrics`, which names all tenants, without an `admin` key. Use this only in closed networks."""
