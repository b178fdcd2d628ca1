import pytest
from pydantic import ValidationError

from workers.embedding.model_profiles import EMBEDDING_PROFILES, AdapterNames, EmbeddingProfile, find_adapters
from workers.embedding.settings import EmbedderSettings

BGE = "Represent this sentence for searching relevant passages: "


def test_known_model_uses_its_trained_profile_and_own_name() -> None:
    settings = EmbedderSettings(model="BAAI/bge-base-en-v1.5")
    assert settings.profile == EmbeddingProfile("cls", BGE, "", 512)
    assert settings.name == "BAAI/bge-base-en-v1.5"
    assert EmbedderSettings(model="/models/e5-large-v2/").profile.query_prefix == "query: "


def test_unknown_model_uses_default_profile() -> None:
    settings = EmbedderSettings(model="somebody/something")
    assert settings.profile == EmbeddingProfile()
    assert settings.name == "somebody/something"


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        (EmbedderSettings(query_prefix="query: "), "all-MiniLM-L6-v2 query='query: '"),
        (EmbedderSettings(passage_prefix="", pooling="mean", max_tokens=256), "all-MiniLM-L6-v2"),
        (EmbedderSettings(model="x", pooling="cls", max_tokens=128), "x pooling='cls' tokens=128"),
        (EmbedderSettings(precision="float32", threads=1, memo=0), "all-MiniLM-L6-v2"),
    ],
)
def test_embedder_name_includes_only_settings_that_change_vectors(changed: EmbedderSettings, name: str) -> None:
    assert changed.name == name


def test_flag_embedding_requires_an_explicit_model() -> None:
    with pytest.raises(ValidationError, match="set ASSAYER_EMBEDDER__MODEL to BAAI/bge-m3"):
        EmbedderSettings(library="FlagEmbedding")
    chosen = EmbedderSettings(library="FlagEmbedding", model="BAAI/bge-m3")
    assert chosen.name == EmbedderSettings(model="BAAI/bge-m3").name == "BAAI/bge-m3"


def test_every_known_model_profile_is_complete() -> None:
    assert all(None not in usage for usage in EMBEDDING_PROFILES.values())


@pytest.mark.parametrize("place", ["allenai/", "/models/", ""])
def test_adapter_paths_are_resolved_relative_to_the_base_model(place: str) -> None:
    parts = AdapterNames(f"{place}specter2_base", f"{place}specter2_adhoc_query", f"{place}specter2")
    assert find_adapters(f"{place}specter2") == parts
    assert find_adapters(f"{place}specter2_base") is None
    assert EmbedderSettings(model=f"{place}specter2").name == f"{place}specter2"
