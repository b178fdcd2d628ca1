"""The settings tree: read once in the composition root, passed down in slices.

Sources, the strongest first: command-line options, `ASSAYER_…` environment variables (`__` between levels),
a TOML file (`ASSAYER_CONFIG`, else `assayer.toml` in the working directory), the profile, the defaults.
"""

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from platformdirs import user_data_path
from pydantic import BaseModel, Field, SecretStr, ValidationError, model_validator
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from assayer.errors import ConfigurationError
from assayer.methods.grapheval.options import Options as GraphEvalOptions
from assayer.methods.innoeval.options import Options as InnoEvalOptions
from assayer.methods.scholareval import Options as ScholarEvalOptions
from assayer.models import Frozen
from assayer.ranking.options import Options as RankingOptions
from cluster.ingest_settings import IngestSettings
from cluster.log import LogSettings
from cluster.serving.settings import ServingSettings
from cluster.webhook_settings import WebhookSettings
from orchestrator.api.settings import ApiSettings
from orchestrator.batches.settings import BatchSettings
from orchestrator.jobs.settings import QueueSettings
from orchestrator.settings import DatabaseSettings, KeySettings
from orchestrator.work.settings import WorkSettings
from workers.code.settings import CodeSettings
from workers.embedding_settings import EmbedderSettings
from workers.fetching import FetchingSettings
from workers.full_texts.settings import FullTextSettings, GrobidSettings
from workers.literature.settings import LiteratureSettings
from workers.llm import LlmSettings
from workers.remote.settings import (
    ArxivSettings,
    CrossrefSettings,
    GithubSettings,
    OpenAlexSettings,
    SemanticScholarSettings,
    SourceSettings,
    UnpaywallSettings,
    WebSettings,
)
from workers.reranking import RerankerSettings
from workers.web.settings import PageSettings

__all__ = ["PROFILES", "MetricsSettings", "Profile", "RankingSettings", "Settings", "load_settings"]

Profile = Literal["laptop", "online", "simulate", "paper-faithful"]
PROFILES: tuple[Profile, ...] = ("laptop", "online", "simulate", "paper-faithful")


_OPENAI_URL = "https://api.openai.com/v1"


class CorpusSettings(Frozen):
    path: Path | None = None
    """Directory of the corpus; `corpus` in the data directory when not given."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where vectors are searched: on a graphics processor all of them lie in its memory, two bytes a number."""


class EvaluationSettings(Frozen):
    concurrency: int = Field(default=16, ge=1, le=512)
    """Ideas in flight at once."""
    max_usd: float | None = Field(default=None, gt=0)
    """Budget of one evaluation, in US dollars."""
    max_prompt_tokens: int | None = Field(default=None, gt=0)


class RankingSettings(RankingOptions):
    """How rankings are made, and what one of them may spend: it asks thousands of questions, an evaluation hundreds."""

    max_usd: float | None = Field(default=None, gt=0)
    max_prompt_tokens: int | None = Field(default=None, gt=0)


class MetricsSettings(Frozen):
    port: int | None = Field(default=None, ge=0, le=65_535)
    """Prometheus metrics are served there, to this machine only, while the program runs. None: nowhere."""


class Environment(EnvSettingsSource):
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
    ranking: RankingSettings = RankingSettings()
    scholareval: ScholarEvalOptions = ScholarEvalOptions()
    grapheval: GraphEvalOptions = GraphEvalOptions()
    innoeval: InnoEvalOptions = InnoEvalOptions()
    literature: LiteratureSettings = LiteratureSettings()
    # Not as values: what depends on a key must not be written down before the key is known.
    s2: SemanticScholarSettings = Field(default_factory=SemanticScholarSettings)
    arxiv: ArxivSettings = Field(default_factory=ArxivSettings)
    openalex: OpenAlexSettings = Field(default_factory=OpenAlexSettings)
    crossref: CrossrefSettings = Field(default_factory=CrossrefSettings)
    unpaywall: UnpaywallSettings = Field(default_factory=UnpaywallSettings)
    web: WebSettings = Field(default_factory=WebSettings)
    github: GithubSettings = Field(default_factory=GithubSettings)
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
    """Where `assayer submit`, `watch`, `fetch`, `cancel` and `timeline` find the service; this machine by default."""
    api_key: SecretStr | None = None
    """What they show it."""
    keys: KeySettings = KeySettings()
    queue: QueueSettings = QueueSettings()
    work: WorkSettings = WorkSettings()
    webhooks: WebhookSettings = WebhookSettings()
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

    @property
    def corpus_path(self) -> Path:
        return self.corpus.path or self.home / "corpus"

    @property
    def sources(self) -> dict[str, SourceSettings]:
        """Of every remote source, on or off, by its name in calls and reports."""
        return {
            "semantic_scholar": self.s2,
            "openalex": self.openalex,
            "crossref": self.crossref,
            "arxiv": self.arxiv,
            "unpaywall": self.unpaywall,
            "web": self.web,
            "github": self.github,
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
        return Environment(settings_cls), init_settings


def load_settings(profile: Profile = "laptop") -> Settings:
    """Raises ConfigurationError naming the setting that is wrong."""
    environment = os.environ
    _refuse_unknown(environment)
    written = _merge(_profile(profile), _file(environment))
    try:
        return Settings(**_merge(_openai(environment, written), written))
    except ValidationError as error:
        raise _explained(error) from None
    except SettingsError as error:
        raise _undecoded(error, environment) from None


def _explained(error: ValidationError) -> ConfigurationError:
    """The first thing that is wrong, under the name of its environment variable."""
    first = error.errors()[0]
    name = "ASSAYER_" + "__".join(str(part) for part in first["loc"]).upper()
    if first["type"] == "extra_forbidden":
        return _unknown(name)
    said = first["msg"].removeprefix("Value error, ")
    message = f"{name}: {said}." if first["loc"] else f"{said}."
    return ConfigurationError(message, "Correct the environment variable or the configuration file.")


def _undecoded(error: SettingsError, environment: Mapping[str, str]) -> ConfigurationError:
    """Only the decoder below knows which text it could not read."""
    text = getattr(error.__cause__, "doc", None)
    name = next((name for name, value in environment.items() if name.startswith("ASSAYER_") and value == text), "")
    return ConfigurationError(f"{name or error} must be written as JSON.", "Correct the environment variable.")


def _refuse_unknown(environment: Mapping[str, str]) -> None:
    """A misspelt variable would otherwise be ignored in silence."""
    for variable in environment:
        path = variable.removeprefix("ASSAYER_").lower().split("__")
        if variable.startswith("ASSAYER_") and path != ["config"] and not _is_setting(Settings, path):
            raise _unknown(variable)


def _unknown(variable: str) -> ConfigurationError:
    known = ["ASSAYER_CONFIG", *_names(Settings, "ASSAYER_")]
    close = get_close_matches(variable, known, n=1)
    hint = f"Did you mean {close[0]}?" if close else f"There are: {', '.join(known)}."
    return ConfigurationError(f"There is no setting {variable}.", hint)


def _is_setting(model: type[BaseModel], path: Sequence[str]) -> bool:
    field = model.model_fields.get(path[0])
    if field is None:
        return False
    inner = _model_in(field)
    return len(path) == 1 or inner is None or _is_setting(inner, path[1:])


def _names(model: type[BaseModel], prefix: str) -> Iterator[str]:
    """The environment variable of every setting."""
    for name, field in model.model_fields.items():
        inner = _model_in(field)
        yield from [f"{prefix}{name.upper()}"] if inner is None else _names(inner, f"{prefix}{name.upper()}__")


def _model_in(field: FieldInfo) -> type[BaseModel] | None:
    """The settings that a field holds in its turn, if any; a list of them is one value, written in the file."""
    if get_origin(field.annotation) is tuple:
        return None
    kinds = get_args(field.annotation) or (field.annotation,)
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


def _openai(environment: Mapping[str, str], written: Mapping[str, Any]) -> dict[str, Any]:
    """What the OpenAI SDK's own variables say; anything of ours is stronger. Its key goes to its own address, or
    to OpenAI, and to no other host that our settings name."""
    names = {"base_url": "OPENAI_BASE_URL", "api_key": "OPENAI_API_KEY"}
    found = {key: environment[name] for key, name in names.items() if environment.get(name)}
    ours = written.get("llm", {})
    if environment.get("ASSAYER_LLM__BASE_URL") or "base_url" in ours:
        found = {}
    if not (environment.get("ASSAYER_LLM__MODEL") or "model" in ours):
        found = {}  # they choose no model: without one of ours there is no LLM
    return {"llm": found} if found else {}


def _profile(profile: Profile) -> dict[str, Any]:
    return tomllib.loads((resources.files("cluster") / "profiles" / f"{profile}.toml").read_text("utf-8"))


def _file(environment: Mapping[str, str]) -> dict[str, Any]:
    named = environment.get("ASSAYER_CONFIG")
    path = Path(named or "assayer.toml")
    if not path.is_file():
        if named:
            raise ConfigurationError(f"ASSAYER_CONFIG names {path}, which is not a file.")
        return {}
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} is not valid TOML: {error}.") from None


def _merge(weak: dict[str, Any], strong: dict[str, Any]) -> dict[str, Any]:
    merged = dict(weak)
    for key, value in strong.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merge(merged[key], value) if both else value
    return merged
