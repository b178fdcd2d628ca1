"""The service's settings: database, API keys, sign-in, queue, workers, batches, webhooks, emails, HTTP API.

Importing this module loads neither a database driver nor a web framework.
"""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, model_validator

from assayer.models import Frozen


class DatabaseSettings(Frozen):
    url: SecretStr | None = None
    """Database URL, such as `postgresql://user:password@host:5432/name`. If it is not set, the embedded server is
    used."""
    direct_url: SecretStr | None = None
    """URL for connections that must bypass a transaction pooler, because notifications would be lost in it. None: the
    same URL as for all other connections."""
    migrate: bool = True
    """Migrate the tables at startup. Set this to false if the role in the URL may not alter tables; then run `assayer
    admin migrate` with the URL of the role that owns them."""
    max_connections: int = Field(default=8, ge=1, le=500)
    """Size of this process's connection pool. A process that runs jobs has two more connections: one that listens for
    notifications, and one that holds locks."""
    connect_seconds: float = Field(default=5.0, gt=0)
    """Timeout in seconds for opening a connection, and for a configured server to respond at startup."""
    command_seconds: float = Field(default=30.0, gt=0)
    """Timeout for a statement in seconds."""
    patience_seconds: float = Field(default=60.0, gt=0)
    """Seconds for which work waits for an unreachable server or a free connection before it fails."""


class ApiKeySettings(Frozen):
    requests_per_minute: int = Field(default=600, ge=1)
    """Rate limit for keys that have no limit of their own."""
    requests_per_minute_per_tenant: int = Field(default=6_000, ge=1)
    """Rate limit for all of a tenant's keys together, regardless of their number and their own limits."""
    burst_seconds: float = Field(default=10.0, ge=0)
    """Burst size: a key or tenant can send as many requests at once as its rate limit allows in this many seconds."""


ProviderName = Annotated[str, Field(pattern=r"^[a-z0-9_]{1,40}$")]


class IdentityProviderSettings(Frozen):
    """An OpenID Connect provider whose accounts can sign in to the console of one tenant."""

    issuer: str = Field(pattern=r"^https://[^\s?#]{1,500}$|^http://(localhost|127\.0\.0\.1)(:\d{1,5})?[^\s?#]{0,300}$")
    """Issuer URL, such as `https://login.example.org/realms/agency`. Unencrypted `http` is allowed only for
    localhost."""
    client_id: str = Field(min_length=1, max_length=500)
    """Client id under which this service is registered with the provider. The redirect URL to register is
    `ASSAYER_ACCESS__URL` followed by `/console/callback`."""
    client_secret: SecretStr | None = None
    """Client secret; None if the service is registered as a public client."""
    tenant: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")
    """Tenant whose members sign in with this provider. It can never sign in another tenant's members, whatever its
    tokens state."""
    label: str = Field(default="your organisation's account", max_length=100)
    """Text on the button, following "Sign in with"."""
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    groups_claim: str = "groups"
    """Name of the claim that lists a person's groups."""
    roles: dict[str, Literal["owner", "officer", "reviewer", "auditor"]] = Field(default_factory=dict)
    """Roles by group. People in a listed group are admitted without an invitation. If several groups apply, the highest
    role counts.
    """
    trust_email: bool = False
    """True to treat email addresses as verified if the provider does not state whether they are. Enable this only if
    people cannot choose their addresses themselves."""


class AccessSettings(Frozen):
    """Settings for access with a browser."""

    url: str | None = Field(default=None, pattern=r"^https?://[A-Za-z0-9.:\[\]-]{1,253}$")
    """Public URL of the service, such as `https://assayer.example.org`. Required behind a proxy that terminates
    TLS, and for an identity provider."""
    session_seconds: float = Field(default=43_200.0, gt=0)
    """Maximum duration of a session in seconds, even with activity; the default is half a day."""
    idle_seconds: float = Field(default=3_600.0, ge=120)
    """Seconds of inactivity after which a session ends."""
    requests_per_minute: int = Field(default=1_200, ge=1)
    """Rate limit per person, over all their sessions. Stylesheets, scripts and events on an open stream do not
    count."""
    burst_seconds: float = Field(default=30.0, ge=0)
    """Burst size: a person can send as many requests at once as the rate limit allows in this many seconds."""
    providers: dict[ProviderName, IdentityProviderSettings] = Field(default_factory=dict)
    """Identity providers by name. You choose the names, which appear in URLs."""

    @model_validator(mode="after")
    def _require_url_for_providers(self) -> Self:
        if self.providers and self.url is None:
            raise ValueError("identity providers redirect people to `url`, so ASSAYER_ACCESS__URL must be set")
        return self


class QueueSettings(Frozen):
    lease_seconds: float = Field(default=30.0, gt=0)
    """Seconds after which a lease expires unless it is renewed. Leases are renewed three times within this period."""
    max_failures: int = Field(default=3, ge=1)
    """A job fails after this many attempts that ended in a possibly temporary error."""
    max_losses: int = Field(default=6, ge=1)
    """A job fails after this many lost leases. A lease is lost if its worker dies or does not renew it in time."""
    max_outages: int = Field(default=100, ge=1)
    """A job fails after this many postponed attempts. Attempts are postponed while something that every job depends on
    is unreachable."""
    suspect_losses: int = Field(default=3, ge=1)
    """A job is suspected of crashing its workers after this many lost leases. Suspect jobs run one at a time, which
    clears those that merely ran alongside the cause."""
    max_usd: float | None = Field(default=None, gt=0)
    """Maximum cost in US dollars for jobs without their own limit."""


class ExecutionSettings(Frozen):
    progress_seconds: float = Field(default=1.0, gt=0)
    """Interval in seconds between a job's progress events."""
    poll_seconds: float = Field(default=5.0, gt=0)
    """Maximum seconds for which a worker waits for a notification before it polls the queue."""
    expire_seconds: float = Field(default=5.0, gt=0)
    """Interval in seconds between searches for expired leases."""
    purge_seconds: float = Field(default=86_400.0, gt=0)
    """Interval in seconds between deletions of jobs past their retention period."""
    interactive_places: int = Field(default=1, ge=0)
    """Slots that each worker reserves for interactive jobs; at least one slot always remains for other jobs."""
    longest_pause_seconds: float = Field(default=10.0, gt=0)
    """Maximum seconds between attempts to reach an unavailable database."""
    drain_seconds: float = Field(default=30.0, ge=0)
    """Seconds that running jobs have to finish when the process is asked to stop. Unfinished jobs return to the
    queue."""


class RetentionSettings(Frozen):
    """Retention periods for data that grows over time. The retention period for jobs is set per tenant."""

    ledger_months: int | None = Field(default=None, ge=1)
    """Number of full months before the current one for which language model requests are kept in the ledger. They are
    kept longer while any job accepted before the end of their month is stored. None: forever."""
    event_months: int | None = Field(default=None, ge=1)
    """Number of full months for which the progress events of ended jobs are kept; the jobs and their results remain.
    None: as long as the job."""
    tombstone_days: int | None = Field(default=None, ge=1)
    """Number of days for which requests for a deleted resource get 410 (Gone). Afterwards, it is treated as if it had
    never existed. None: as long as its tenant exists."""


class BatchSettings(Frozen):
    rows: int = Field(default=10_000, ge=1)
    row_characters: int = Field(default=2_000_000, gt=0)
    """Maximum number of characters in a JSONL line or a CSV row."""
    lines: int = Field(default=1_000_000, gt=0)
    """Maximum number of lines in a request, including blank lines, in all its files with rows together."""
    file_bytes: int = Field(default=50_000_000, gt=0)
    """Maximum size in bytes of each file in a request with several files."""
    archive_bytes: int = Field(default=128_000_000, gt=0)
    """Maximum total size in bytes of the files unpacked from ZIP archives in a request."""
    at_once: int = Field(default=2, ge=1)
    """Maximum number of batches that a process parses concurrently; further batches wait. One tenant's batches can use
    all slots except one."""
    reading_seconds: float = Field(default=60.0, gt=0)
    """Maximum seconds for parsing the ideas in a body. A body that takes longer is refused."""
    documents: str = ""
    """Location of submitted documents: an fsspec URL (`s3://bucket/submissions`) that all of the service's processes
    can reach. Empty: with the embedded database, `submissions/` in the data directory; with another database, the jobs'
    rows."""
    abandoned_seconds: float = Field(default=900.0, gt=0)
    """Seconds after which a stored document without a job is deleted, because the process that received it has died. It
    must exceed the time needed to store any body."""
    document_days: int | None = Field(default=None, ge=0)
    """Days for which a document is kept after its evaluation ends, so that people can read the original and a failed
    evaluation can be rerun. None: as long as the evaluation. 0: until the evaluation ends."""
    uploads: int = Field(default=16, ge=1)
    """Maximum number of batch uploads that a process receives concurrently and writes to disk. Further uploads are
    refused and can be retried later."""


class RewardSettings(Frozen):
    concurrency: int = Field(default=24, ge=1, le=4_096)
    """Maximum number of a job's items that are judged concurrently."""
    max_usd: float | None = Field(default=None, gt=0)
    """Maximum cost of a job in US dollars, for all its items together."""
    max_prompt_tokens: int | None = Field(default=None, gt=0)
    group_seconds: float = Field(default=60.0, gt=0, le=86_400)
    """Seconds for which a group waits for its next member."""


class RedeliverySettings(Frozen):
    """Settings for retrying failed deliveries."""

    tries: int = Field(default=8, ge=1)
    """Number of attempts after which a delivery is given up. With the default waits, that takes a little more than a
    day."""
    first_seconds: float = Field(default=5.0, gt=0)
    """Seconds before the second attempt. Each further wait is `factor` times as long."""
    factor: float = Field(default=5.0, ge=1)


class WebhookDeliverySettings(RedeliverySettings):
    deadline_seconds: float = Field(default=15.0, gt=0)
    """Timeout for an attempt in seconds, from name resolution to the response."""
    at_once: int = Field(default=32, ge=1)
    """Maximum number of concurrent deliveries in this process."""
    at_once_per_webhook: int = Field(default=4, ge=1)
    """Maximum number of concurrent deliveries to a webhook, so that a slow receiver does not delay the others."""
    poll_seconds: float = Field(default=5.0, gt=0)
    """Maximum seconds for which the sender waits for notifications before it polls."""


class MailDeliverySettings(RedeliverySettings):
    tries: int = Field(default=9, ge=1)
    """Number of attempts after which an email is given up. With the default waits, that takes a little more than a
    day."""
    first_seconds: float = Field(default=30.0, gt=0)
    """Seconds before the second attempt. Each further wait is `factor` times as long."""
    factor: float = Field(default=3.0, ge=1)
    poll_seconds: float = Field(default=5.0, gt=0)
    """Interval in seconds between searches for emails that are due."""


class ApiSettings(Frozen):
    fonts: tuple[Path, ...] = ()
    """Folders with additional fonts for PDFs, for writing systems covered neither by this machine's fonts nor by
    Typst's."""
    max_body_bytes: int = Field(default=2_000_000, ge=1_000)
    """Maximum size of a JSON request in bytes; an idea has at most 400,000 characters."""
    max_upload_bytes: int = Field(default=64_000_000, ge=1_000)
    """Maximum size in bytes of a request that can contain many ideas, such as a batch or a ranking."""
    max_json_values: int = Field(default=2_000_000, ge=1_000)
    """Maximum number of array elements and object members in a JSON body, determined by counting commas. Millions of
    small values would take seconds and gigabytes of memory to parse."""
    linger_seconds: float = Field(default=5.0, gt=0)
    """Seconds for which the rest of a refused body is still read, so that the sender receives the response."""
    body_seconds: float = Field(default=20.0, gt=0)
    """Maximum seconds for which the process waits for a body's data, plus one second for every `least_body_rate` bytes
    received."""
    least_body_rate: int = Field(default=10_000, ge=1)
    """Minimum transfer rate for a body in bytes per second, after the first `body_seconds`."""
    max_bodies_per_tenant: int = Field(default=64, ge=1)
    """Maximum number of request bodies that this process receives concurrently from a tenant. Callers without an API
    key count as one tenant."""
    max_requests: int = Field(default=256, ge=1)
    """Maximum number of concurrent requests in this process. Further requests get a 503 without being read."""
    max_requests_per_tenant: int = Field(default=4, ge=1)
    """Maximum number of a tenant's requests that this process handles concurrently. Further requests wait, so that
    other tenants are not delayed."""
    max_waiting_per_tenant: int = Field(default=192, ge=1)
    """Maximum number of a tenant's requests that are waiting, in progress or held open. Further requests get a 429."""
    refusal_seconds: float = Field(default=1.0, ge=0)
    """Mean delay in seconds before a 429 response. Without it, clients that retry immediately would cause as much load
    as if no request were refused."""
    max_streams: int = Field(default=512, ge=1)
    """Maximum number of event streams and waiting requests that this process holds open. They do not count against
    `max_requests`."""
    max_streams_per_tenant: int = Field(default=128, ge=1)
    """Maximum number of event streams and waiting requests that this process holds open for one tenant."""
    max_wait_seconds: float = Field(default=60.0, gt=0)
    """Maximum seconds for `Prefer: wait=N`."""
    stream_seconds: float = Field(default=3_600.0, gt=0)
    """Seconds after which an event stream ends, so that a revoked key cannot read it forever. Clients resume it."""
    heartbeat_seconds: float = Field(default=15.0, gt=0)
    """Interval in seconds between comments in an idle event stream, which keep proxies from closing it."""
    poll_seconds: float = Field(default=5.0, gt=0)
    """Maximum seconds for which a stream waits for a notification before it polls."""
    ready_seconds: float = Field(default=2.0, ge=0)
    """Seconds for which a `/readyz` result is reused for other callers, because the route requires no key."""
    open_metrics: bool = False
    """True to serve `/metrics`, which names all tenants, without a key. Use this only in closed networks."""
