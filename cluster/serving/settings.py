"""Settings for the pools: numbers of processes, the resources of each process, and limits on queued calls."""

from collections.abc import Mapping
from typing import Self

from pydantic import Field, model_validator

from assayer.models import Frozen


class PoolSettings(Frozen):
    replicas: int = Field(default=1, ge=0)
    """Number of processes, or the minimum if `most` is set. 0: no pool; each evaluator has its own copy of the
    component."""
    most: int | None = Field(default=None, ge=1)
    """Maximum number of processes under load; None keeps `replicas` constant."""
    cpus: float = Field(default=0.1, ge=0)
    """CPUs per process, as counted by Ray."""
    gpus: float = Field(default=0.0, ge=0)
    """GPUs per process, as counted by Ray."""
    ongoing: int = Field(default=256, ge=1)
    """Maximum number of concurrent calls in one process."""
    queued: int = Field(default=4096, ge=1)
    """Maximum number of calls that can wait in one caller for a process with free capacity. Further calls are
    rejected."""

    @model_validator(mode="after")
    def _grows(self) -> Self:
        if self.most is not None and self.replicas > self.most:
            raise ValueError(f"a pool of at most {self.most} processes cannot have {self.replicas}")
        return self

    @property
    def wanted(self) -> bool:
        """Whether the pool exists, even if it currently has no processes."""
        return bool(self.replicas or self.most)


class ServingSettings(Frozen):
    """Settings for the pools. The defaults suit one machine: as few processes as possible, because each process takes
    memory, and each call between processes takes CPU time."""

    one_machine: bool = True
    """Whether everything runs on the machine with the data directory. Otherwise, the database and the stores must be
    servers."""
    ingress: PoolSettings = PoolSettings(replicas=0, ongoing=768, queued=256)
    """Pool that answers API requests. 0: `assayer serve --ray` answers them itself, without Serve's proxy. An existing
    Ray cluster, where the pools outlive the command that started them, always gets one process."""
    evaluator: PoolSettings = PoolSettings(ongoing=16)
    """Pool of evaluators. `ongoing` is the number of jobs per process; `replicas` processes always run, for interactive
    jobs."""
    batch_evaluator: PoolSettings = PoolSettings(replicas=0, ongoing=16)
    """Pool of evaluators that take no interactive jobs. If `most` is set, none of them runs unless batch jobs are
    queued."""
    embedder: PoolSettings = PoolSettings(replicas=0)
    reranker: PoolSettings = PoolSettings(replicas=0)
    index: PoolSettings = PoolSettings(replicas=0)
    """Pool for each shard, if the corpus has shards. With `index_copies`, one pool for all shards together."""
    index_copies: int | None = Field(default=None, ge=1)
    """Number of processes that hold each shard in a single pool, assigned by rendezvous hashing. None: one pool per
    shard, in which every process holds that shard."""
    index_shards: int | None = Field(default=None, ge=0)
    """Number of shards. None uses the shard count of the corpus found at deployment. Set it if the corpus is not
    accessible there; 0 means no shards."""
    literature: PoolSettings = PoolSettings(replicas=0, ongoing=2048)
    full_texts: PoolSettings = PoolSettings(replicas=0)
    node_labels: Mapping[str, str] = Field(default_factory=dict)
    """Labels of the Ray nodes on which pools without GPUs run, such as nodes that hold the secrets. Empty: any node."""
    patience_seconds: float = Field(default=60.0, gt=0)
    """Seconds for which a caller retries a pool whose processes died. Must exceed the start-up time of a process."""
    call_seconds: float = Field(default=120.0, gt=0)
    """Maximum seconds for one call to a pool. LLM and full-text calls have their own deadlines."""
    health_seconds: float = Field(default=5.0, gt=0)
    """Seconds between two health checks of each process. A process that does not respond for that long is replaced."""
    grow_seconds: float = Field(default=10.0, ge=0)
    """Seconds for which batch jobs must have waited, and more evaluators must have been needed, before any are
    added."""
    shrink_seconds: float = Field(default=300.0, ge=0)
    """Seconds for which fewer evaluators must have sufficed before any are removed."""
    drain_seconds: float = Field(default=30.0, ge=0)
    """Seconds that a stopping process has to finish work in progress."""

    @model_validator(mode="after")
    def _check_consistency(self) -> Self:
        if self.evaluator.replicas == 0:
            raise ValueError("evaluator: at least 1 process is required")
        if self.index_copies is not None and self.index.wanted and self.index.replicas < self.index_copies:
            raise ValueError(
                f"index_copies: {self.index.replicas} processes cannot hold {self.index_copies} copies of each shard"
            )
        for name in type(self).model_fields:
            pool = getattr(self, name)
            if name != "batch_evaluator" and isinstance(pool, PoolSettings) and pool.most and not pool.replicas:
                raise ValueError(f"{name}: at least 1 process must always run, because other processes call this pool")
        return self
