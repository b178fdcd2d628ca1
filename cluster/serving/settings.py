"""How many processes each pool has, what each may take, and how much may wait for it."""

from typing import Self

from pydantic import Field, model_validator

from assayer.models import Frozen

__all__ = ["PoolSettings", "ServingSettings"]


class PoolSettings(Frozen):
    replicas: int = Field(default=1, ge=0)
    """Processes; with `most` the fewest. 0: no pool, the part lives in every evaluator."""
    most: int | None = Field(default=None, ge=1)
    """Processes when there is much to do; None: always `replicas`."""
    cpus: float = Field(default=0.1, ge=0)
    """Of each process, as Ray counts them."""
    gpus: float = Field(default=0.0, ge=0)
    ongoing: int = Field(default=256, ge=1)
    """Calls in work at once in one process."""
    queued: int = Field(default=4096, ge=1)
    """Calls that may wait in one caller for a process that has room; more are refused."""

    @model_validator(mode="after")
    def _grows(self) -> Self:
        if self.most is not None and self.replicas > self.most:
            raise ValueError(f"a pool of at most {self.most} processes cannot have {self.replicas}")
        return self

    @property
    def wanted(self) -> bool:
        """Whether there is such a pool, be it empty now."""
        return bool(self.replicas or self.most)


class ServingSettings(Frozen):
    """The defaults fit one machine: as few processes as do the work, as each takes memory, and each hop between two of
    them processor time."""

    one_machine: bool = True
    """Whether everything runs where the data directory is; otherwise the database and the stores must be servers."""
    ingress: PoolSettings = PoolSettings(replicas=0, ongoing=768, queued=256)
    """0: `assayer serve --ray` answers requests by itself, without Serve's proxy. On a Ray that runs already, where the
    pools outlive whoever began them, there is 1 all the same."""
    evaluator: PoolSettings = PoolSettings(ongoing=16)
    """`ongoing` is how many jobs one process works on. `replicas` of them always run, for whoever waits."""
    batch_evaluator: PoolSettings = PoolSettings(replicas=0, ongoing=16)
    """Evaluators that take no interactive jobs. With `most`, there are none while no batch waits."""
    embedder: PoolSettings = PoolSettings(replicas=0)
    reranker: PoolSettings = PoolSettings(replicas=0)
    index: PoolSettings = PoolSettings(replicas=0)
    """Of each shard, where the corpus has shards; with `index_copies` of all shards together."""
    index_copies: int | None = Field(default=None, ge=1)
    """How many of the processes of one pool hold each shard, by rendezvous hashing. None: a pool for each shard, all
    processes of which hold it."""
    index_shards: int | None = Field(default=None, ge=0)
    """None: as many as the corpus has where the service is deployed from; for who cannot see it there, 0 for none."""
    literature: PoolSettings = PoolSettings(replicas=0, ongoing=2048)
    full_texts: PoolSettings = PoolSettings(replicas=0)
    patience_seconds: float = Field(default=60.0, gt=0)
    """How long a caller looks for a pool whose processes died: longer than it takes to start one."""
    call_seconds: float = Field(default=120.0, gt=0)
    """The longest that one call of a pool may take; calls to the LLM and of full texts have deadlines of their own."""
    health_seconds: float = Field(default=5.0, gt=0)
    """Between two looks at each process's health; one that does not answer for as long is replaced."""
    grow_seconds: float = Field(default=10.0, ge=0)
    """How long batch jobs wait, and more evaluators are wanted, before there are more."""
    shrink_seconds: float = Field(default=300.0, ge=0)
    """How long fewer evaluators are enough before there are fewer."""
    drain_seconds: float = Field(default=30.0, ge=0)
    """How long a process that is to stop may take for what it has begun."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.evaluator.replicas == 0:
            raise ValueError("there is no service without the evaluator: give it at least 1 process")
        if self.index_copies is not None and self.index.wanted and self.index.replicas < self.index_copies:
            raise ValueError(
                f"index_copies: {self.index.replicas} processes cannot hold {self.index_copies} copies of each shard"
            )
        for name in type(self).model_fields:
            pool = getattr(self, name)
            if name != "batch_evaluator" and isinstance(pool, PoolSettings) and pool.most and not pool.replicas:
                raise ValueError(f"{name}: a pool that is called grows from at least 1 process")
        return self
