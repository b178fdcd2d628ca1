"""The settings tree, with its defaults: read once in the composition root, passed down in slices.

`cluster.settings_loading` says where values come from and which source wins.
"""

import binascii
from base64 import urlsafe_b64decode
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_origin

from platformdirs import user_data_path
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from assayer.curation import CurationOptions
from assayer.methods.debate.options import DebateOptions
from assayer.methods.grapheval.options import GraphEvalOptions
from assayer.methods.innoeval.options import BoardModel, InnoEvalOptions
from assayer.methods.scholareval import ScholarEvalOptions
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.models import BlindDefault, Frozen
from assayer.own_references.options import OwnReferenceOptions
from assayer.ranking.options import RankingOptions
from assayer.reports.release import ReleaseMinima
from cluster.serving.settings import ServingSettings
from orchestrator.settings import (
    AccessSettings,
    ApiKeySettings,
    ApiSettings,
    BatchSettings,
    DatabaseSettings,
    ExecutionSettings,
    MailDeliverySettings,
    QueueSettings,
    RetentionSettings,
    RewardSettings,
    WebhookDeliverySettings,
)
from workers.code.settings import CodeSettings
from workers.embedding.settings import EmbedderSettings
from workers.fetching import FetchingSettings
from workers.fetching.settings import Network, TransferSettings, checked_networks, comma_separated
from workers.full_texts.settings import FullTextSettings, GrobidSettings
from workers.literature.settings import LiteratureSettings
from workers.llm import LlmSettings
from workers.mail.settings import MailServerSettings
from workers.remote.settings import (
    ArxivSettings,
    CrossrefSettings,
    DataCiteSettings,
    GithubSettings,
    GoogleScholarSettings,
    KaggleSettings,
    OpenAlexSettings,
    SemanticScholarSettings,
    SourceSettings,
    UnpaywallSettings,
    WebSettings,
)
from workers.reranking import RerankerSettings
from workers.web.settings import PageSettings

__all__ = [
    "PROFILES",
    "CurationSettings",
    "IngestSettings",
    "LogSettings",
    "MailSettings",
    "MetricsSettings",
    "Profile",
    "RankingSettings",
    "Settings",
    "WebhookSettings",
]


Profile = Literal["laptop", "online", "simulate", "paper-faithful"]
PROFILES: tuple[Profile, ...] = ("laptop", "online", "simulate", "paper-faithful")


_OPENAI_URL = "https://api.openai.com/v1"


class CorpusSettings(Frozen):
    path: Path | None = None
    """Directory of the corpus; `corpus` in the data directory when not given."""
    source: str | None = None
    """Where versions are published and pulled from: an address that fsspec knows, as `s3://bucket/corpus`. The
    directory then holds what this machine has pulled. None: the corpus is what lies in the directory."""
    pulled_versions: int = Field(default=2, ge=1)
    """Of a source, on the disk of each machine, besides those that somebody reads."""
    look_seconds: float = Field(default=30.0, gt=0)
    """Between two looks whether the source has a newer version."""
    grace_hours: float = Field(default=24.0, ge=1)
    """How long the source has files that no kept version needs: longer than twice the longest upload, and than the
    slowest reader needs to pull what it began with."""
    device: Literal["cpu", "cuda"] = "cpu"
    """`cuda`: all vectors lie in the memory of GPUs, two bytes a number, and are searched there exactly; large indexes
    are trained there when a corpus is built or updated."""


class EvaluationSettings(Frozen):
    concurrency: int = Field(default=16, ge=1, le=512)
    """Ideas in flight at once."""
    processes: int | None = Field(default=None, ge=1, le=64)
    """Of `assayer evaluate`. None: one for each core where there are two dozen ideas for each, at most eight."""
    max_usd: float | None = Field(default=None, gt=0)
    """Budget of one evaluation, in US dollars."""
    blind: BlindDefault = "several"
    """Which ideas are judged without names, affiliations and the like, where the request does not say."""
    max_prompt_tokens: int | None = Field(default=None, gt=0)
    board_models: Annotated[tuple[BoardModel, ...], BeforeValidator(comma_separated)] = ()
    """Models of the endpoint that whoever submits to the service may ask for on InnoEval's boards. None: no choice."""
    share_answers: bool = True
    """Between tenants of the service: the same question is paid for once, and who asks it again can tell that it was
    asked before, by speed and cost. Off, each tenant pays for its own."""


class RankingSettings(RankingOptions):
    """How rankings are made, and what one of them may spend: it asks thousands of questions, an evaluation hundreds."""

    analysed_ideas: int = Field(default=8, ge=0, le=12)
    """Rankings of at most so many ideas end with an analysis of the group, for one call more. 0: none."""
    max_usd: float | None = Field(default=None, gt=0)
    max_prompt_tokens: int | None = Field(default=None, gt=0)


class CurationSettings(CurationOptions):
    """How papers are curated, candidates made and ideas scored, and what one command may spend."""

    max_usd: float | None = Field(default=None, gt=0)
    max_prompt_tokens: int | None = Field(default=None, gt=0)


class MetricsSettings(Frozen):
    port: int | None = Field(default=None, ge=0, le=65_535)
    """Prometheus metrics are served there, to this machine only, while the program runs. None: nowhere."""


class LogSettings(Frozen):
    level: Literal["debug", "info", "warning", "error"] = "info"
    file: Path | None = None
    """Lines are added to it by every process of the machine, and a new one is begun when it has been moved away. None:
    standard error, or on a Ray of one machine `logs/service.jsonl` in the data directory."""


class IngestSettings(Frozen):
    memory_mb: int = Field(default=4096, ge=256)
    """Of joining; what does not fit is spilled to disk."""
    threads: int = Field(default=2, ge=1)
    """Of joining."""
    jobs: int = Field(default=1, ge=1)
    """Files parsed at the same time."""
    partitions: int = Field(default=64, ge=1, le=4096)
    """Of a new folder: 64 give 200 million papers parts of three million."""
    arxiv_url: str = "https://oaipmh.arxiv.org/oai"
    openalex_url: str = "https://openalex.s3.amazonaws.com/data/jsonl/works/manifest.json"
    vector_model: str = "allenai/specter2"
    """What the embedder's name is called in the corpus for which Semantic Scholar's vectors are taken."""
    transfers: TransferSettings = TransferSettings()


_KEY_BYTES = 32


def _fernet_keys(keys: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
    """Raises ValueError for what is none, without repeating it."""
    for number, key in enumerate(keys, 1):
        try:
            known = len(urlsafe_b64decode(key.get_secret_value().encode())) == _KEY_BYTES
        except (binascii.Error, UnicodeEncodeError):
            known = False
        if not known:
            raise ValueError(f"key number {number} is not {_KEY_BYTES} bytes in URL-safe base64")
    return keys


class WebhookSettings(WebhookDeliverySettings):
    keys: Annotated[tuple[SecretStr, ...], BeforeValidator(comma_separated), AfterValidator(_fernet_keys)] = ()
    """Under which secrets are kept: new ones under the first, while all of them open. The embedded database has a key
    of its own in the data directory; with another database there are no webhooks without one."""
    allow: Annotated[tuple[str, ...], BeforeValidator(comma_separated), AfterValidator(checked_networks)] = ()
    """Networks that webhooks may lie in although they are not public, on any port: `10.1.0.0/16`."""
    ports: Annotated[tuple[int, ...], BeforeValidator(comma_separated)] = (443, 8443)
    """Ports of public addresses."""
    plain_http: bool = False
    """Whether messages may go over the wire in the open: for closed networks."""
    user_agent: str = "assayer-webhooks/0.1"

    @property
    def networks(self) -> tuple[Network, ...]:
        return tuple(map(ip_network, self.allow))


class MailSettings(MailServerSettings, MailDeliverySettings):
    """Mails to members. Off unless a host is set."""


class EnvironmentVariables(EnvSettingsSource):
    """Environment variables; a list need not be JSON, as the settings themselves separate it by commas."""

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        listed = get_origin(field.annotation) is tuple and not str(value).lstrip().startswith("[")
        return value if listed else super().decode_complex_value(field_name, field, value)


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix="ASSAYER_",
        env_nested_delimiter="__",
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        nested_model_default_partial_update=True,
    )

    home: Path = Field(default_factory=lambda: user_data_path("assayer"))
    """Data directory: the embedded database and the corpus."""
    llm: LlmSettings | None = None
    """None: no language model, the tasks' fallbacks answer."""
    database: DatabaseSettings = DatabaseSettings()
    embedder: EmbedderSettings = EmbedderSettings()
    reranker: RerankerSettings = RerankerSettings()
    corpus: CorpusSettings = CorpusSettings()
    ingest: IngestSettings = IngestSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    release: ReleaseMinima = ReleaseMinima()
    """What a report must reach to carry a total."""
    ranking: RankingSettings = RankingSettings()
    rewards: RewardSettings = RewardSettings()
    curation: CurationSettings = CurationSettings()
    """Of `assayer curate`, `propose` and `score`."""
    scholareval: ScholarEvalOptions = ScholarEvalOptions()
    grapheval: GraphEvalOptions = GraphEvalOptions()
    innoeval: InnoEvalOptions = InnoEvalOptions()
    debate: DebateOptions = DebateOptions()
    scicompanion: SciCompanionOptions = SciCompanionOptions()
    literature: LiteratureSettings = LiteratureSettings()
    own_references: OwnReferenceOptions = OwnReferenceOptions()
    # Not as values: what depends on a key must not be written down before the key is known.
    s2: SemanticScholarSettings = Field(default_factory=SemanticScholarSettings)
    arxiv: ArxivSettings = Field(default_factory=ArxivSettings)
    openalex: OpenAlexSettings = Field(default_factory=OpenAlexSettings)
    crossref: CrossrefSettings = Field(default_factory=CrossrefSettings)
    unpaywall: UnpaywallSettings = Field(default_factory=UnpaywallSettings)
    google_scholar: GoogleScholarSettings = Field(default_factory=GoogleScholarSettings)
    web: WebSettings = Field(default_factory=WebSettings)
    github: GithubSettings = Field(default_factory=GithubSettings)
    kaggle: KaggleSettings = Field(default_factory=KaggleSettings)
    datacite: DataCiteSettings = Field(default_factory=DataCiteSettings)
    pages: PageSettings = Field(default_factory=PageSettings)
    code: CodeSettings = CodeSettings()
    fetching: FetchingSettings = FetchingSettings()
    full_texts: FullTextSettings = Field(default_factory=FullTextSettings)
    grobid: GrobidSettings = GrobidSettings()
    metrics: MetricsSettings = MetricsSettings()
    log: LogSettings = LogSettings()
    """Of `assayer serve`."""
    serving: ServingSettings = ServingSettings()
    api: ApiSettings = ApiSettings()
    api_url: str | None = None
    """Where the commands that ask a running service find it, as `assayer submit`; this machine by default."""
    api_key: SecretStr | None = None
    """What they show it."""
    keys: ApiKeySettings = ApiKeySettings()
    access: AccessSettings = AccessSettings()
    """Of people who sign in to the console."""
    queue: QueueSettings = QueueSettings()
    work: ExecutionSettings = ExecutionSettings()
    retention: RetentionSettings = RetentionSettings()
    webhooks: WebhookSettings = WebhookSettings()
    mail: MailSettings = MailSettings()
    batches: BatchSettings = BatchSettings()

    @model_validator(mode="before")
    @classmethod
    def _complete_llm(cls, values: dict[str, Any]) -> dict[str, Any]:
        """A key alone chooses nothing: without a model there is no LLM. A model alone means OpenAI's API."""
        llm = values.get("llm")
        if not isinstance(llm, dict):
            return values
        if "model" in llm:
            return values | {"llm": {"base_url": _OPENAI_URL} | llm}
        if llm.keys() <= {"api_key"}:
            return {key: value for key, value in values.items() if key != "llm"}
        raise ValueError("An LLM endpoint is set but no model: set ASSAYER_LLM__MODEL to one that it serves")

    @model_validator(mode="after")
    def _mails_have_links(self) -> Self:
        if self.mail.host is not None and self.access.url is None:
            raise ValueError("mails lead to pages: set ASSAYER_ACCESS__URL to where people find the service")
        return self

    @property
    def overnight_places(self) -> int:
        """Overnight jobs that a process has in hand. Where batches have been switched off since they were submitted,
        they are done one after the other."""
        return self.llm.batch.evaluations_at_once if self.llm is not None and self.llm.batch.enabled else 1

    @property
    def corpus_path(self) -> Path:
        return self.corpus.path or self.home / "corpus"

    @property
    def verified_path(self) -> Path:
        """Where this machine notes which files of the corpus it has found whole: beside what it has pulled, as long as
        that lasts."""
        return self.home / "verified" if self.corpus.source is None else self.corpus_path / "verified"

    @property
    def sources(self) -> dict[str, SourceSettings]:
        """Of every remote source, on or off, by its name in calls and reports."""
        return {
            "semantic_scholar": self.s2,
            "openalex": self.openalex,
            "crossref": self.crossref,
            "arxiv": self.arxiv,
            "unpaywall": self.unpaywall,
            "google_scholar": self.google_scholar,
            "web": self.web,
            "github": self.github,
            "kaggle": self.kaggle,
            "datacite": self.datacite,
        }

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return EnvironmentVariables(settings_cls), init_settings
