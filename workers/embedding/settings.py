"""Settings for the embedding model, in a separate module, so that reading them does not load a numerical library."""

from typing import Literal, Self

from pydantic import Field, model_validator

from assayer.models import Frozen
from workers.embedding.model_profiles import EmbeddingProfile, Pooling, find_profile
from workers.torch_runtime import Device, Precision

EmbeddingLibrary = Literal["sentence-transformers", "FlagEmbedding"]

PACKAGED = "all-MiniLM-L6-v2"
"""Name of the model installed as a package: 384 dimensions, 256 tokens."""


class EmbedderSettings(Frozen):
    """Settings for the embedder. They override the profiles of common models (`workers.embedding.model_profiles`),
    which override the model's own configuration."""

    model: str = PACKAGED
    """Model: the packaged one, the name of any sentence-transformers model, or a folder that contains one."""
    library: EmbeddingLibrary = "sentence-transformers"
    """Library that loads the model. FlagEmbedding is for bge-m3 and models fine-tuned from it. It also returns lexical
    weights, which a corpus built with it stores. Its vectors equal those from sentence-transformers."""
    query_prefix: str | None = None
    """Text prepended to queries, for models trained with such a prefix."""
    passage_prefix: str | None = None
    """Text prepended to passages, for models trained with such a prefix."""
    pooling: Pooling | None = None
    max_tokens: int | None = Field(default=None, ge=16)
    """Maximum number of tokens in a text, including its prefix; the rest is ignored. The model's own maximum also
    applies."""
    device: Device = "auto"
    precision: Precision = "auto"
    """Precision of the model. Vectors computed with different precisions can be searched together in one corpus."""
    threads: int | None = Field(default=None, ge=1)
    """CPU threads for one forward pass. None means OMP_NUM_THREADS or, if that is not set, all cores, but only one
    thread while several ideas are evaluated concurrently."""
    memo: int = Field(default=4096, ge=0)
    """Number of query vectors to cache. The least recently used are evicted first."""

    @model_validator(mode="after")
    def _check_library(self) -> Self:
        if self.library == "FlagEmbedding" and self.model == PACKAGED:
            raise ValueError(
                f"the library FlagEmbedding cannot load the packaged model {PACKAGED}: set ASSAYER_EMBEDDER__MODEL "
                "to BAAI/bge-m3, or to a folder that contains it"
            )
        return self

    @property
    def profile(self) -> EmbeddingProfile:
        overrides = {field: value for field, value in self._overrides._asdict().items() if value is not None}
        return find_profile(self.model)._replace(**overrides)

    @property
    def name(self) -> str:
        """Return a name for the model and its settings: the model's name, followed by each setting that changes its
        vectors and differs from its profile. The precision is left out, because its effect on vectors is too small to
        change rankings."""
        labels = ("pooling", "query", "passage", "tokens")
        values = zip(labels, self._overrides, find_profile(self.model), strict=True)
        return self.model + "".join(
            f" {label}={own_value!r}"
            for label, own_value, usual in values
            if own_value is not None and own_value != usual
        )

    @property
    def _overrides(self) -> EmbeddingProfile:
        return EmbeddingProfile(self.pooling, self.query_prefix, self.passage_prefix, self.max_tokens)
