"""Settings of each remote source: where it is, who we are to it, and what it allows. All can be overridden.

Limits are those of the APIs' own documentation in autumn 2026. They hold for a key over all processes together.
"""

import datetime as dt
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field, SecretStr, field_validator

from assayer.models import Frozen, Operation

__all__ = [
    "ArxivSettings",
    "CrossrefSettings",
    "DataCiteSettings",
    "GithubSettings",
    "GoogleScholarSettings",
    "KaggleSettings",
    "KeyPlace",
    "OpenAlexSettings",
    "SemanticScholarSettings",
    "SourceSettings",
    "UnpaywallSettings",
    "WebSettings",
]

Seconds = Annotated[float, Field(gt=0)]


class KeyPlace(NamedTuple):
    """Where an API wants its key."""

    kind: Literal["header", "param"]
    name: str
    prefix: str = ""
    """Before the key, in a header: `Bearer `."""


class SourceSettings(Frozen):
    """One API. Fields whose default depends on another one stand below it."""

    variable: ClassVar[str] = "ASSAYER"
    """What the names of its environment variables begin with, for hints."""
    key_place: ClassVar[KeyPlace] = KeyPlace("header", "Authorization", "Bearer ")
    email_param: ClassVar[str | None] = None
    """Under which name the API wants an address for complaints; None where it has no use for one."""
    headers: ClassVar[tuple[tuple[str, str], ...]] = ()
    """What else every request carries."""
    prices: ClassVar[dict[Operation, int]] = {}
    """Units of the daily budget that an operation takes, where that is not one."""
    compulsory: ClassVar[Literal["api_key", "email", ""]] = ""
    """The setting without which it refuses everything."""

    base_url: str | None = None
    """None: the source is off."""
    api_key: SecretStr = SecretStr("")
    email: str = ""
    spacing_seconds: float = Field(default=0.1, ge=0)
    """Between two requests as they arrive at the source."""
    transit_seconds: float = Field(default_factory=lambda fields: min(fields["spacing_seconds"], 1.0), ge=0)
    """Longest that a request is allowed to be on its way: the spacing counts from the answer, or from this long after
    the request was sent when there is no answer yet. Has no effect with one connection: then it is the answer."""
    connections: int = Field(default=4, ge=1)
    """Requests in flight at once."""
    daily_budget: int | None = Field(default=None, ge=1)
    """Units by UTC day; None where there is no limit."""
    lifetime: dt.timedelta = dt.timedelta(days=7)
    """How long an answer stays fresh."""
    connect_seconds: Seconds = 5.0
    answer_seconds: Seconds = 30.0
    """For the whole of one request, connecting included."""
    attempts: int = Field(default=4, ge=1)
    """Sends of one request before the source counts as unavailable."""
    backoff_initial_seconds: Seconds = 1.0
    backoff_max_seconds: Seconds = 30.0
    retry_after_max_seconds: Seconds = 3_600.0
    """How long a source may shut us out with one Retry-After."""
    breaker_failures: int = Field(default=5, ge=1)
    """In a row, before the source is left alone for a while."""
    breaker_seconds: Seconds = 30.0
    """How long that is, before one request tries again."""

    @field_validator("base_url")
    @classmethod
    def _web_address(cls, value: str | None) -> str | None:
        if value is None:
            return None
        if not value.startswith(("http://", "https://")):
            raise ValueError("must begin with http:// or https://")
        return value.rstrip("/")

    @property
    def on(self) -> bool:
        """Whether it is asked at all."""
        return self.base_url is not None and not self.lacks

    @property
    def lacks(self) -> str:
        """The compulsory setting, while it is not set."""
        given = {"api_key": self.api_key.get_secret_value(), "email": self.email, "": "nothing is compulsory"}
        return "" if given[self.compulsory] else self.compulsory

    def price(self, operation: Operation) -> int:
        return self.prices.get(operation, 1)


def _with_key(with_key: Any, without: Any) -> Any:
    """A default that depends on whether there is a key."""
    return lambda fields: with_key if fields["api_key"].get_secret_value() else without


class SemanticScholarSettings(SourceSettings):
    """One request a second for a key over all endpoints; without a key one shares a pool with everybody.

    One connection, so that the second counts from the answer: with more, two requests sent a second apart were seen to
    reach a stalled server together. It costs the latency of an answer between two requests.
    """

    variable = "ASSAYER_S2"
    key_place = KeyPlace("header", "x-api-key")
    spacing_seconds: float = Field(default_factory=_with_key(1.0, 3.0), ge=0)
    connections: int = Field(default=1, ge=1)


class ArxivSettings(SourceSettings):
    """One request every three seconds over a single connection; new papers appear once a day."""

    variable = "ASSAYER_ARXIV"
    spacing_seconds: float = Field(default=3.0, ge=0)
    connections: int = Field(default=1, ge=1)
    lifetime: dt.timedelta = dt.timedelta(days=1)
    answer_seconds: Seconds = 60.0


class OpenAlexSettings(SourceSettings):
    """A dollar a day with a (free) key, a tenth of it without; a list costs 0.0001 dollars, which is our unit, a search
    ten times that. A single record is free; only `open_access` never asks for anything else, so that the others count
    as lists here. At most 100 requests a second."""

    variable = "ASSAYER_OPENALEX"
    key_place = KeyPlace("param", "api_key")
    email_param = "mailto"
    prices: ClassVar[dict[Operation, int]] = {"search": 10, "open_access": 0}
    spacing_seconds: float = Field(default=0.05, ge=0)
    connections: int = Field(default=8, ge=1)
    daily_budget: int | None = Field(default_factory=_with_key(10_000, 1_000), ge=1)


class CrossrefSettings(SourceSettings):
    """Lists: three a second over three connections for those who leave an e-mail address, one over one for others. We
    use one, as with Semantic Scholar: Crossref is asked for records in batches, and seldom."""

    variable = "ASSAYER_CROSSREF"
    key_place = KeyPlace("header", "Crossref-Plus-API-Token", "Bearer ")
    email_param = "mailto"
    spacing_seconds: float = Field(default_factory=lambda fields: 0.35 if fields["email"] else 1.0, ge=0)
    connections: int = Field(default=1, ge=1)


class UnpaywallSettings(SourceSettings):
    """100,000 requests a day; the e-mail address is compulsory."""

    compulsory = "email"
    variable = "ASSAYER_UNPAYWALL"
    email_param = "email"
    daily_budget: int | None = Field(default=100_000, ge=1)


class WebSettings(SourceSettings):
    """A search API in the manner of Serper; the key is compulsory."""

    compulsory = "api_key"
    variable = "ASSAYER_WEB"
    key_place = KeyPlace("header", "X-API-KEY")
    lifetime: dt.timedelta = dt.timedelta(days=1)


class GoogleScholarSettings(SourceSettings):
    """As the web's: an API in the manner of Serper; the key is compulsory, and every request is paid for."""

    compulsory = "api_key"
    variable = "ASSAYER_GOOGLE_SCHOLAR"
    key_place = KeyPlace("header", "X-API-KEY")


class GithubSettings(SourceSettings):
    """5,000 requests an hour with a key, of which 30 searches a minute; 60 an hour without. The strictest counts."""

    variable = "ASSAYER_GITHUB"
    headers: ClassVar[tuple[tuple[str, str], ...]] = (
        ("Accept", "application/vnd.github+json"),
        ("X-GitHub-Api-Version", "2022-11-28"),
    )
    spacing_seconds: float = Field(default_factory=_with_key(2.0, 60.0), ge=0)
    transit_seconds: float = Field(default=0.25, ge=0)
    lifetime: dt.timedelta = dt.timedelta(days=1)


class KaggleSettings(SourceSettings):
    """A token of one's account is compulsory; how many requests it allows is not documented."""

    compulsory = "api_key"
    variable = "ASSAYER_KAGGLE"
    spacing_seconds: float = Field(default=1.0, ge=0)


class DataCiteSettings(SourceSettings):
    """3,000 requests in five minutes from one address."""

    variable = "ASSAYER_DATACITE"
