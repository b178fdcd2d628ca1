"""Which model embeds texts, and how. Apart from the embedder: reading settings loads no numerical library."""

from typing import Literal, Self

from pydantic import Field, model_validator

from assayer.models import Frozen
from workers.embedding.model_profiles import EmbeddingProfile, Pooling, profile_of
from workers.torch_runtime import Device, Precision

__all__ = ["PACKAGED", "EmbedderSettings", "EmbeddingLibrary"]

EmbeddingLibrary = Literal["sentence-transformers", "FlagEmbedding"]

PACKAGED = "all-MiniLM-L6-v2"
"""The model that comes as a package: 384 dimensions, 256 tokens."""


class EmbedderSettings(Frozen):
    """What is set here is stronger than what is known of usual models (`workers.embedding.model_profiles`), and that is
    stronger than what a model's own configuration says."""

    model: str = PACKAGED
    """The packaged model, the name of any sentence-transformers model, or a folder with one."""
    library: EmbeddingLibrary = "sentence-transformers"
    """What loads the model. FlagEmbedding: bge-m3 or a model fine-tuned from it, which besides vectors gives lexical
    weights, and a corpus built with it keeps them. The vectors are those of sentence-transformers."""
    query_prefix: str | None = None
    """Put before queries, for models that were trained so."""
    passage_prefix: str | None = None
    pooling: Pooling | None = None
    max_tokens: int | None = Field(default=None, ge=16)
    """Of a text, its prefix included; the rest is not read. No more than the model can read in any case."""
    device: Device = "auto"
    precision: Precision = "auto"
    """Of any precision, vectors may be searched with those of another in one corpus."""
    threads: int | None = Field(default=None, ge=1)
    """Processors that one forward pass uses. None: all of them, or OMP_NUM_THREADS, and one while several ideas are
    evaluated at a time."""
    memo: int = Field(default=4096, ge=0)
    """Query vectors kept, the least recently used go first."""

    @model_validator(mode="after")
    def _library_fits_the_model(self) -> Self:
        if self.library == "FlagEmbedding" and self.model == PACKAGED:
            raise ValueError(
                f"the library FlagEmbedding cannot load the packaged model {PACKAGED}: name BAAI/bge-m3, or a folder "
                "with it, as the embedder's model"
            )
        return self

    @property
    def profile(self) -> EmbeddingProfile:
        chosen = {field: value for field, value in self._overrides._asdict().items() if value is not None}
        return profile_of(self.model)._replace(**chosen)

    @property
    def name(self) -> str:
        """The model, and what is set otherwise than is usual with it: all that changes vectors, but for the precision,
        which changes them less than it changes rankings."""
        labels = ("pooling", "query", "passage", "tokens")
        values = zip(labels, self._overrides, profile_of(self.model), strict=True)
        return self.model + "".join(
            f" {label}={mine!r}" for label, mine, usual in values if mine is not None and mine != usual
        )

    @property
    def _overrides(self) -> EmbeddingProfile:
        return EmbeddingProfile(self.pooling, self.query_prefix, self.passage_prefix, self.max_tokens)
