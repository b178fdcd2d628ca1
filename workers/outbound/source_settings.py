"""Settings for each remote source: base URL, credentials and limits. All of them can be overridden.

The default limits come from the APIs' documentation in autumn 2026. They apply per key, across all processes."""

import datetime as dt
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field, SecretStr, field_validator

from assayer.models import Frozen, Operation

Seconds = Annotated[float, Field(gt=0)]


class KeyPlace(NamedTuple):
    """Where an API expects its key."""

    kind: Literal["header", "param"]
    name: str
    prefix: str = ""
    """Text before the key in a header, such as `Bearer `."""


class SourceSettings(Frozen):
    """Settings for one API. Fields whose defaults depend on another field must be defined after it."""

    variable: ClassVar[str] = "ASSAYER"
    """Prefix of the API's environment variables, for hints."""
    key_place: ClassVar[KeyPlace] = KeyPlace("header", "Authorization", "Bearer ")
    email_param: ClassVar[str | None] = None
    """Parameter in which the API expects a contact email address; None if it uses none."""
    headers: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Additional headers in every request."""
    prices: ClassVar[dict[Operation, int]] = {}
    """Cost of each operation in units of the daily budget; 1 for operations that are not listed."""
    compulsory: ClassVar[Literal["api_key", "email", ""]] = ""
    """Setting without which the API refuses all requests."""

    base_url: str | None = None
    """Base URL; None disables the source."""
    api_key: SecretStr = SecretStr("")
    """API key. Without it, sources allow fewer requests, and some allow none."""
    email: str = ""
    """Contact email address, sent with every request. Some sources then allow more requests; Unpaywall requires it."""
    spacing_seconds: float = Field(default=0.1, ge=0)
    """Minimum seconds between the starts of two requests; with one connection, between the end of a response and the
    next request."""
    connections: int = Field(default=4, ge=1)
    """Maximum number of requests in flight."""
    daily_budget: int | None = Field(default=None, ge=1)
    """Units per UTC day; None means no limit."""
    lifetime: dt.timedelta = dt.timedelta(days=7)
    """Period for which a response stays fresh."""
    connect_seconds: Seconds = 5.0
    answer_seconds: Seconds = 30.0
    """Maximum seconds for one request, including connecting."""
    attempts: int = Field(default=4, ge=1)
    """Maximum number of times one request is sent before the source counts as unavailable."""
    backoff_initial_seconds: Seconds = 1.0
    backoff_max_seconds: Seconds = 30.0
    retry_after_max_seconds: Seconds = 3_600.0
    """Longest wait, in seconds, accepted from one of a source's Retry-After headers."""
    breaker_failures: int = Field(default=5, ge=1)
    """Number of consecutive failures after which requests to the source are suspended."""
    breaker_seconds: Seconds = 30.0
    """Seconds after which one request is tried again."""

    @field_validator("base_url")
    @classmethod
    def _check_base_url(cls, value: str | None) -> str | None:
        if value is None:
            return None
        if not value.startswith(("http://", "https://")):
            raise ValueError("must begin with http:// or https://")
        return value.rstrip("/")

    @property
    def on(self) -> bool:
        """Return whether the source is used, that is, has a base URL and all required settings."""
        return self.base_url is not None and not self.missing_setting

    @property
    def missing_setting(self) -> str:
        """Return the name of the missing required setting; empty if none is missing."""
        values = {"api_key": self.api_key.get_secret_value(), "email": self.email, "": "nothing is compulsory"}
        return "" if values[self.compulsory] else self.compulsory


def _choose_by_key(with_key: Any, without_key: Any) -> Any:
    """Return a default that depends on whether an API key is set."""
    return lambda fields: with_key if fields["api_key"].get_secret_value() else without_key


class SemanticScholarSettings(SourceSettings):
    """Semantic Scholar settings: one request per second per key over all endpoints. Without a key, all clients share
    one pool.

    With only one connection, spacing is counted from the end of each response, which adds one response's latency
    between two requests. With several connections, two requests sent a second apart were seen to reach a stalled server
    together."""

    variable = "ASSAYER_S2"
    key_place = KeyPlace("header", "x-api-key")
    spacing_seconds: float = Field(default_factory=_choose_by_key(1.0, 3.0), ge=0)
    connections: int = Field(default=1, ge=1)


class ArxivSettings(SourceSettings):
    """arXiv settings: one request every three seconds over one connection; new papers appear once per day."""

    variable = "ASSAYER_ARXIV"
    spacing_seconds: float = Field(default=3.0, ge=0)
    connections: int = Field(default=1, ge=1)
    lifetime: dt.timedelta = dt.timedelta(days=1)
    answer_seconds: Seconds = 60.0


class OpenAlexSettings(SourceSettings):
    """OpenAlex settings: a daily budget of one US dollar with a (free) key, a tenth of that without; at most 100
    requests per second.

    The budget's unit is a list request, which costs 0.0001 dollars. A search costs ten units. Single records are free,
    but only `open_access` requests nothing else, so all other operations count as one unit."""

    variable = "ASSAYER_OPENALEX"
    key_place = KeyPlace("param", "api_key")
    email_param = "mailto"
    prices: ClassVar[dict[Operation, int]] = {"search": 10, "open_access": 0}
    spacing_seconds: float = Field(default=0.05, ge=0)
    connections: int = Field(default=8, ge=1)
    daily_budget: int | None = Field(default_factory=_choose_by_key(10_000, 1_000), ge=1)


class CrossrefSettings(SourceSettings):
    """Crossref settings. List requests are limited to three per second over three connections with an email address,
    and to one per second over one connection without. This program uses one connection, as for Semantic Scholar,
    because it queries Crossref rarely and in batches."""

    variable = "ASSAYER_CROSSREF"
    key_place = KeyPlace("header", "Crossref-Plus-API-Token", "Bearer ")
    email_param = "mailto"
    spacing_seconds: float = Field(default_factory=lambda fields: 0.35 if fields["email"] else 1.0, ge=0)
    connections: int = Field(default=1, ge=1)


class UnpaywallSettings(SourceSettings):
    """Unpaywall settings: 100,000 requests per day; an email address is required."""

    compulsory = "email"
    variable = "ASSAYER_UNPAYWALL"
    email_param = "email"
    daily_budget: int | None = Field(default=100_000, ge=1)


class WebSettings(SourceSettings):
    """Web search settings for a Serper-style API; the key is required."""

    compulsory = "api_key"
    variable = "ASSAYER_WEB"
    key_place = KeyPlace("header", "X-API-KEY")
    lifetime: dt.timedelta = dt.timedelta(days=1)


class GoogleScholarSettings(SourceSettings):
    """Google Scholar settings for a Serper-style API like that for web search. The key is required, and every request
    is charged."""

    compulsory = "api_key"
    variable = "ASSAYER_GOOGLE_SCHOLAR"
    key_place = KeyPlace("header", "X-API-KEY")


class GithubSettings(SourceSettings):
    """GitHub settings: 5,000 requests per hour and 30 searches per minute with a token; 60 requests per hour without
    one. The strictest limit is applied."""

    variable = "ASSAYER_GITHUB"
    headers: ClassVar[tuple[tuple[str, str], ...]] = (
        ("Accept", "application/vnd.github+json"),
        ("X-GitHub-Api-Version", "2022-11-28"),
    )
    spacing_seconds: float = Field(default_factory=_choose_by_key(2.0, 60.0), ge=0)
    lifetime: dt.timedelta = dt.timedelta(days=1)


class KaggleSettings(SourceSettings):
    """Kaggle settings: an account token is required; the rate limit is not documented."""

    compulsory = "api_key"
    variable = "ASSAYER_KAGGLE"
    spacing_seconds: float = Field(default=1.0, ge=0)


class DataCiteSettings(SourceSettings):
    """DataCite settings: 3,000 requests per five minutes from one address."""

    variable = "ASSAYER_DATACITE"
