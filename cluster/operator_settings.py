"""Settings that can be set from outside, grouped by audience.

All other fields of `cluster.settings` are constants of the code: they have no environment variable, and a settings file
that names one is refused. A field becomes a setting when an operator can know a better value than its default."""

from collections.abc import Iterator, Mapping, Sequence
from typing import get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from cluster.settings import Settings

AUDIENCES: Mapping[str, Mapping[str, str]] = {
    "Everyone": {
        "": "home",
        "llm": "model base_url api_key fast_model judge_model prices gpu_speeds structured temperature "
        "reasoning_effort context_tokens max_answer_tokens bounded_answers request_timeout_seconds",
        "evaluation": "blind max_usd max_prompt_tokens concurrency processes",
        "release": "corpus_fit judged answered quotes_found points_traced claims_supported",
        "own_references": "check",
        "ranking": "max_usd",
        "curation": "max_usd",
        "debate": "composition compositions",
        "innoeval.board": "models calibration",
        "grapheval": "graph",
    },
    "Sources of literature, code and data": {
        "s2": "base_url api_key spacing_seconds",
        "openalex": "base_url api_key email",
        "crossref": "base_url email",
        "unpaywall": "base_url email",
        "arxiv": "base_url",
        "google_scholar": "base_url api_key",
        "web": "base_url api_key",
        "github": "base_url api_key",
        "kaggle": "base_url api_key",
        "datacite": "base_url",
        "code": "archive_url",
        "full_texts": "fetch store",
        "fetching": "allow ports",
        "grobid": "urls slots client",
    },
    "Building a corpus": {
        "corpus": "path device source look_seconds grace_hours",
        "embedder": "model library query_prefix passage_prefix max_tokens",
        "reranker": "model library",
        "ingest": "memory_mb threads jobs partitions",
    },
    "Calling a service": {"": "api_url api_key"},
    "Running a service": {
        "database": "url direct_url migrate max_connections",
        "llm": "keep_messages endpoint_name concurrency.max tokens_per_minute",
        "llm.batch": "enabled price_share deadline_seconds",
        "evaluation": "share_answers board_models",
        "queue": "lease_seconds max_failures max_losses max_usd",
        "work": "interactive_places drain_seconds purge_seconds",
        "rewards": "concurrency max_usd",
        "batches": "documents document_days abandoned_seconds",
        "retention": "ledger_months event_months tombstone_days",
        "keys": "requests_per_minute requests_per_minute_per_tenant",
        "api": "max_body_bytes max_upload_bytes max_bodies_per_tenant max_requests_per_tenant max_streams_per_tenant "
        "open_metrics fonts",
        "webhooks": "keys allow plain_http",
        "log": "level file",
        "metrics": "port",
    },
    "Sign-in and email": {
        "access": "url session_seconds idle_seconds providers",
        "mail": "host port tls ca_file user password sender",
    },
    "Running a cluster": {
        "serving": "one_machine patience_seconds health_seconds",
        "serving.ingress": "replicas ongoing queued",
        "serving.evaluator": "replicas most ongoing gpus",
        "serving.batch_evaluator": "most",
        "serving.embedder": "replicas",
        "serving.reranker": "replicas",
        "serving.index": "replicas gpus",
        "serving.literature": "replicas",
        "serving.full_texts": "replicas",
    },
}
"""Names of the settings, separated by spaces, keyed by audience and section."""


def list_setting_paths() -> Iterator[tuple[str, ...]]:
    """Yield the path of every setting, such as ("llm", "model")."""
    for sections in AUDIENCES.values():
        yield from list_section_paths(sections)


def list_section_paths(sections: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    """Yield the path of every setting for one audience."""
    for section, names in sections.items():
        for name in names.split():
            yield tuple(filter(None, (*section.split("."), *name.split("."))))


def build_variable_name(path: Sequence[str]) -> str:
    """Return a setting's environment variable."""
    return "ASSAYER_" + "__".join(path).upper()


def find_setting_field(path: Sequence[str]) -> tuple[type[BaseModel], FieldInfo]:
    """Return the class that holds a setting, and the setting's field."""
    model: type[BaseModel] = Settings
    *sections, name = path
    for section in sections:
        inner = find_nested_model(model.model_fields[section])
        if inner is None:
            raise KeyError(f"{'.'.join(path)}: {section} has no settings of its own")
        model = inner
    return model, model.model_fields[name]


def find_nested_model(field: FieldInfo) -> type[BaseModel] | None:
    """Return a field's nested settings class, or None. A list or mapping of settings counts as a single value, so it
    has none."""
    if get_origin(field.annotation) in (tuple, dict):
        return None
    kinds = get_args(field.annotation) or (field.annotation,)
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)
