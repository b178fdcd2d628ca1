"""All settings with their defaults: read once in the composition root, and passed on section by section. Most fields
are constants; `cluster.operator_settings` lists those that can be set from outside.

`cluster.settings_loading` defines where values come from and which source takes precedence."""

import binascii
import os
from base64 import urlsafe_b64decode
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_origin

from platformdirs import user_data_path
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from assayer.curation.options import CurationOptions
from assayer.methods.check import CheckOptions
from assayer.methods.debate.options import DebateOptions
from assayer.methods.grapheval.options import GraphEvalOptions
from assayer.methods.innoeval.options import InnoEvalOptions
from assayer.methods.review import ReviewOptions
from assayer.methods.scholareval import ScholarEvalOptions
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.models import BlindDefault, Frozen, ReleaseMinima
from assayer.own_references.options import OwnReferenceOptions
from assayer.ranking.options import RankingOptions
from assayer_client.evaluations import BoardModel
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
from workers.fetching.settings import Network, TransferSettings, check_networks, split_commas
from workers.full_texts.settings import FullTextSettings, GrobidSettings
from workers.literature.settings import LiteratureSettings
from workers.llm import LlmSettings
from workers.llm.providers import complete_llm_settings, find_provider
from workers.mail.settings import MailServerSettings
from workers.outbound.source_settings import (
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

Profile = Literal["laptop", "online", "simulate", "paper-faithful"]
CHOSEN_LLM = "chosen_llm"
"""Name under which `load_settings` passes the command-line options for the language model."""


class CorpusSettings(Frozen):
    path: Path | None = None
    """Directory of the corpus; if None, `corpus` in the data directory."""
    source: str | None = None
    """Address to which versions are published and from which they are pulled, in fsspec form, such as
    `s3://bucket/corpus`. The corpus directory then holds the files that this machine has pulled. None: the corpus
    exists only in the directory."""
    pulled_versions: int = Field(default=2, ge=1)
    """Number of pulled versions kept on each machine's disk, in addition to those in use."""
    look_seconds: float = Field(default=30.0, gt=0)
    """Seconds between two checks of the source for a newer version."""
    grace_hours: float = Field(default=24.0, ge=1)
    """Hours for which the source keeps files that no kept version needs. Must exceed twice the longest upload, and the
    time that the slowest reader needs to pull the version with which it started."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Device for vector search. `cuda`: all vectors are held in GPU memory, at two bytes per number, and searched
    exactly there. When a corpus is built or updated, large indexes are trained on the GPU."""


class EvaluationSettings(Frozen):
    concurrency: int = Field(default=16, ge=1, le=512)
    """Maximum number of ideas evaluated concurrently."""
    processes: int | None = Field(default=None, ge=1, le=64)
    """Number of processes in `assayer evaluate`. None: one per core, provided that each gets at least 24 ideas, and at
    most eight."""
    max_usd: float | None = Field(default=None, gt=0)
    """Maximum cost of one evaluation, in US dollars."""
    blind: BlindDefault = "several"
    """Default choice of which ideas are judged blind, without names, affiliations and similar details."""
    max_prompt_tokens: int | None = Field(default=None, gt=0)
    """Maximum number of prompt tokens in one evaluation."""
    board_models: Annotated[tuple[BoardModel, ...], BeforeValidator(split_commas)] = ()
    """Models at the endpoint that the service's users can choose for InnoEval's boards. If empty, they cannot
    choose."""
    share_answers: bool = True
    """Share model answers among the service's tenants. A repeated request is then paid for only once, but a tenant who
    repeats it can tell from its speed and cost that another made it before. If off, each tenant pays for its own
    requests."""


class RankingSettings(RankingOptions):
    """Settings for rankings, including each ranking's spending limits. A ranking makes thousands of LLM requests, an
    evaluation hundreds."""

    analysed_ideas: int = Field(default=8, ge=0, le=12)
    """Maximum number of ideas for which a ranking ends with an analysis of the group, at the cost of one extra LLM
    request. 0: no analysis."""
    max_usd: float | None = Field(default=None, gt=0)
    """Maximum cost of one ranking, in US dollars."""
    max_prompt_tokens: int | None = Field(default=None, gt=0)


class CurationSettings(CurationOptions):
    """Settings for curating papers, generating candidates and scoring ideas, including each command's spending
    limits."""

    max_usd: float | None = Field(default=None, gt=0)
    """Maximum cost of one command, in US dollars."""
    max_prompt_tokens: int | None = Field(default=None, gt=0)


class MetricsSettings(Frozen):
    port: int | None = Field(default=None, ge=0, le=65_535)
    """Port at which this machine can read Prometheus metrics while the program runs. None: not served."""


class LogSettings(Frozen):
    level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severe level of messages that are logged."""
    file: Path | None = None
    """Log file to which all processes on the machine append. It is recreated after it has been moved away. None:
    standard error or, with Ray on a single machine, `logs/service.jsonl` in the data directory."""


class IngestSettings(Frozen):
    memory_mb: int = Field(default=4096, ge=256)
    """Memory for joins, in MB. Data that does not fit is spilled to disk."""
    threads: int = Field(default=2, ge=1)
    """Number of threads for joins."""
    jobs: int = Field(default=1, ge=1)
    """Number of files parsed concurrently."""
    partitions: int = Field(default=64, ge=1, le=4096)
    """Number of partitions in a new folder; 64 partitions divide 200 million papers into parts of about three
    million."""
    arxiv_url: str = "https://oaipmh.arxiv.org/oai"
    openalex_url: str = "https://openalex.s3.amazonaws.com/data/jsonl/works/manifest.json"
    vector_model: str = "allenai/specter2"
    """Name of the corpus embedder with which Semantic Scholar's own vectors are compatible."""
    transfers: TransferSettings = TransferSettings()


_KEY_BYTES = 32


def _check_fernet_keys(keys: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
    """Return the keys unchanged; raise ValueError if a key is invalid, without repeating it in the message."""
    for number, key in enumerate(keys, 1):
        try:
            is_valid = len(urlsafe_b64decode(key.get_secret_value().encode())) == _KEY_BYTES
        except (binascii.Error, UnicodeEncodeError):
            is_valid = False
        if not is_valid:
            raise ValueError(f"key number {number} is not {_KEY_BYTES} bytes in URL-safe base64")
    return keys


class WebhookSettings(WebhookDeliverySettings):
    keys: Annotated[tuple[SecretStr, ...], BeforeValidator(split_commas), AfterValidator(_check_fernet_keys)] = ()
    """Encryption keys for secrets. New secrets are encrypted with the first key; all keys can decrypt. The embedded
    database has its own key in the data directory; with another database, webhooks require a key here."""
    allow: Annotated[tuple[str, ...], BeforeValidator(split_commas), AfterValidator(check_networks)] = ()
    """Non-public networks that webhooks may address, on any port, such as `10.1.0.0/16`."""
    ports: Annotated[tuple[int, ...], BeforeValidator(split_commas)] = (443, 8443)
    """Ports allowed at public addresses."""
    plain_http: bool = False
    """Allow unencrypted messages, for closed networks."""
    user_agent: str = "assayer-webhooks/0.1"

    @property
    def networks(self) -> tuple[Network, ...]:
        return tuple(map(ip_network, self.allow))


class MailSettings(MailServerSettings, MailDeliverySettings):
    """Settings for emails to members. Email is off unless a host is set."""


class EnvironmentVariables(EnvSettingsSource):
    """Settings source for environment variables. A list need not be JSON, because the settings themselves split it at
    commas."""

    def decode_complex_value(self, field_name: str, field: FieldInfo, value: Any) -> Any:
        is_comma_list = get_origin(field.annotation) is tuple and not str(value).lstrip().startswith("[")
        return value if is_comma_list else super().decode_complex_value(field_name, field, value)


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
    """Data directory, which holds the embedded database and the corpus."""
    llm: LlmSettings | None = None
    """Settings for the language model. None: no language model."""
    database: DatabaseSettings = DatabaseSettings()
    embedder: EmbedderSettings = EmbedderSettings()
    reranker: RerankerSettings = RerankerSettings()
    corpus: CorpusSettings = CorpusSettings()
    ingest: IngestSettings = IngestSettings()
    evaluation: EvaluationSettings = EvaluationSettings()
    release: ReleaseMinima = ReleaseMinima()
    """Minimum values that a report must reach to have a total score."""
    ranking: RankingSettings = RankingSettings()
    rewards: RewardSettings = RewardSettings()
    curation: CurationSettings = CurationSettings()
    """Settings for `assayer curate`, `propose` and `score`."""
    review: ReviewOptions = ReviewOptions()
    check: CheckOptions = CheckOptions()
    scholareval: ScholarEvalOptions = ScholarEvalOptions()
    grapheval: GraphEvalOptions = GraphEvalOptions()
    innoeval: InnoEvalOptions = InnoEvalOptions()
    debate: DebateOptions = DebateOptions()
    scicompanion: SciCompanionOptions = SciCompanionOptions()
    literature: LiteratureSettings = LiteratureSettings()
    own_references: OwnReferenceOptions = OwnReferenceOptions()
    # Factories, because defaults that depend on a key must not be computed before the key is known.
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
    """Log settings for `assayer serve`."""
    serving: ServingSettings = ServingSettings()
    api: ApiSettings = ApiSettings()
    api_url: str | None = None
    """URL of the running service, for `assayer batch` and `assayer admin`; by default on this machine."""
    api_key: SecretStr | None = None
    """API key for the commands that call a running service."""
    keys: ApiKeySettings = ApiKeySettings()
    access: AccessSettings = AccessSettings()
    """Sign-in settings for people who use the console."""
    queue: QueueSettings = QueueSettings()
    work: ExecutionSettings = ExecutionSettings()
    retention: RetentionSettings = RetentionSettings()
    webhooks: WebhookSettings = WebhookSettings()
    mail: MailSettings = MailSettings()
    batches: BatchSettings = BatchSettings()

    @model_validator(mode="before")
    @classmethod
    def _complete_llm(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Complete the LLM settings from the model's provider and from the command-line options, which override all
        other sources. A key alone does not configure a language model."""
        values = dict(values)
        chosen_llm = values.pop(CHOSEN_LLM, None)
        llm = values.get("llm")
        if chosen_llm is None and not isinstance(llm, dict):
            return values
        llm = {**(llm if isinstance(llm, dict) else {}), **(chosen_llm or {})}
        if "model" in llm:
            return values | {"llm": complete_llm_settings(llm, os.environ)}
        if llm.keys() <= {"api_key"}:
            return {key: value for key, value in values.items() if key != "llm"}
        variables = ", ".join(sorted(f"ASSAYER_LLM__{key.upper()}" for key in llm))
        raise ValueError(f"{variables}: no model is configured; set ASSAYER_LLM__MODEL")

    @model_validator(mode="after")
    def _provider_has_batches(self) -> Self:
        if self.llm is not None and self.llm.batch.enabled:
            provider = find_provider(self.llm.base_url)
            if provider is not None and provider[1].batches == "none":
                raise ValueError(
                    f"{provider[0]} has no OpenAI-compatible batch API: set ASSAYER_LLM__BATCH__ENABLED to false"
                )
        return self

    @model_validator(mode="after")
    def _mails_have_links(self) -> Self:
        if self.mail.host is not None and self.access.url is None:
            raise ValueError("emails contain links: set ASSAYER_ACCESS__URL to the public URL of the service")
        return self

    @property
    def overnight_places(self) -> int:
        """Number of overnight jobs that a process runs concurrently. At least one, because batches may have been
        disabled since jobs were submitted."""
        return self.llm.batch.evaluations_at_once if self.llm is not None and self.llm.batch.enabled else 1

    @property
    def corpus_path(self) -> Path:
        return self.corpus.path or self.home / "corpus"

    @property
    def verified_path(self) -> Path:
        """Path of this machine's record of verified corpus files. With a source, it is stored beside the pulled files
        and deleted together with them."""
        return self.home / "verified" if self.corpus.source is None else self.corpus_path / "verified"

    @property
    def sources(self) -> dict[str, SourceSettings]:
        """Settings of every remote source, enabled or not, keyed by the source's name in requests and reports."""
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
