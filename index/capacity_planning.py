"""Estimate the disk space, memory, hours and price that a corpus of a given size needs, each with its formula.

The constants are in `capacity_planning.toml`, each with its source: a publication or a measurement."""

import math
import tomllib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from pydantic import Field

from assayer.errors import InputError
from assayer.models import Frozen
from index.segments.approximate_index import IndexKind, choose_index_kind
from index.segments.vector_index import EXACT_UP_TO

Unit = Literal["bytes", "hours", "USD"]
Entry = TypeVar("Entry")
CostTerm: TypeAlias = tuple[float, str, float]
"""Term of a cost: count, noun, and amount per item."""

_MAX_SEGMENT_ROWS = 1_000_000
_VOCABULARY_GROWTH = 0.62
"""Exponent of Heaps' law, fitted on 2,000 to 25,527 papers."""
_LISTS, _TRAINED_ON = 2, 64
"""Number of lists per square root of the rows, and training rows per list; see `index.segments.approximate_index`."""
_WRITTEN_AGAIN = 3.0
"""Number of papers written per new paper, because new papers are merged with segments up to twice as large; see
`index.building.compaction`."""


class PlanningConstant(Frozen):
    value: float
    unit: str
    source: str


class PlannedModel(Frozen):
    dimensions: int


class EmbeddingRate(Frozen):
    texts_per_second: float
    """Texts (titles with abstracts, or passages) embedded per second by a single machine."""
    source: str


class MachineProfile(Frozen):
    """Type of machine on which a corpus is built."""

    what: str
    usd_per_hour: float
    price: str
    """Publisher of the price."""
    rates: Mapping[str, EmbeddingRate]
    """Embedding rates by model name."""


class PlanningConstants(Frozen):
    constants: Mapping[str, PlanningConstant]
    models: Mapping[str, PlannedModel]
    profiles: Mapping[str, MachineProfile]

    def __getitem__(self, name: str) -> float:
        return self.constants[name].value


class CapacityRequest(Frozen):
    papers: int = Field(ge=1)
    model: str
    profile: str
    full_texts: float = Field(default=0.0, ge=0, le=1)
    """Share of the papers that have full texts."""
    daily: float = Field(default=0.001, ge=0, le=1)
    """Share of the papers that are new or changed each night."""
    machines: int = Field(default=1, ge=1)
    """Number of machines that build in parallel."""
    keep: int = Field(default=3, ge=1)
    """Number of versions kept."""
    shards: int | None = Field(default=None, ge=1)
    """Number of shards; None for an unsharded corpus."""
    usd_per_hour: float | None = Field(default=None, ge=0)
    """Price per hour of a single machine in US dollars; None for the profile's price."""
    texts_per_second: float | None = Field(default=None, gt=0)
    """Texts per second of a single machine; None for the profile's rate for the model."""


class PlannedFigure(NamedTuple):
    name: str
    value: float
    unit: Unit
    formula: str


class CapacityPlan(NamedTuple):
    disk: tuple[PlannedFigure, ...]
    memory: tuple[PlannedFigure, ...]
    building: tuple[PlannedFigure, ...]
    nightly: tuple[PlannedFigure, ...]


class _Size(NamedTuple):
    """Size of a corpus: counts of what its files contain."""

    papers: int
    references: float
    passages: float
    dimensions: int

    @property
    def texts(self) -> float:
        return self.papers + self.passages

    @property
    def rows(self) -> float:
        """Number of rows per segment."""
        return min(self.texts, _MAX_SEGMENT_ROWS)

    @property
    def kind(self) -> IndexKind:
        return choose_index_kind(round(self.rows), self.dimensions, EXACT_UP_TO)

    @property
    def lists(self) -> float:
        """Number of lists per index."""
        return 0 if self.kind == "exact" else _LISTS * math.sqrt(self.rows)

    @property
    def code_bytes(self) -> float:
        """Bytes per row in an approximate index, for the row's number and a byte or two bits per dimension; 0 for an
        exact index."""
        codes = {"exact": 0, "ivf_sq8": self.dimensions + 8, "ivf_pq": self.dimensions / 4 + 8}
        return codes[self.kind]


def load_planning_constants() -> PlanningConstants:
    return PlanningConstants.model_validate(
        tomllib.loads(resources.files("index").joinpath("capacity_planning.toml").read_text("utf-8"))
    )


def plan_capacity(
    request: CapacityRequest, constants: PlanningConstants, references: float | None = None
) -> CapacityPlan:
    """Estimate the capacity that a corpus needs. `references` is the average number of references per paper; by
    default, a published average is used. Raises InputError if the model or profile is unknown."""
    model = _look_up("embedding model", request.model, constants.models)
    profile = _look_up("profile", request.profile, constants.profiles)
    rate = request.texts_per_second or profile.rates[request.model].texts_per_second
    usd = profile.usd_per_hour if request.usd_per_hour is None else request.usd_per_hour
    references_per_paper = constants["references"] if references is None else references
    size = _Size(
        papers=request.papers,
        references=request.papers * references_per_paper,
        passages=request.papers * request.full_texts * constants["passages"],
        dimensions=model.dimensions,
    )
    disk = _plan_disk(size, constants)
    return CapacityPlan(
        (*disk, *_compute_totals(disk, request)),
        _plan_memory(size, disk, request, constants),
        _plan_build(size, request, constants, rate, usd),
        _plan_nightly_update(size, request, constants, rate, usd, sum(figure.value for figure in disk)),
    )


def _plan_disk(size: _Size, constants: PlanningConstants) -> tuple[PlannedFigure, ...]:
    papers, texts = (size.papers, "papers"), (size.texts, "texts")
    references, passages = (size.references, "references"), (size.passages, "passages")
    lists = (size.lists * size.texts / size.rows, "lists")
    vocabulary = (size.texts**_VOCABULARY_GROWTH, f"(texts^{_VOCABULARY_GROWTH})")
    return (
        _add_terms(
            "Records",
            "bytes",
            (*papers, constants["record_bytes"]),
            (*references, constants["reference_bytes"]),
            (*passages, constants["passage_bytes"]),
        ),
        _add_terms(
            "Ids, dates, citations",
            "bytes",
            (*papers, constants["table_bytes"]),
            (*references, constants["edge_bytes"]),
        ),
        _add_terms("Names and claims", "bytes", (*papers, constants["content_bytes"])),
        _add_terms("Vectors, half precision", "bytes", (*texts, 2 * size.dimensions)),
        _add_terms(f"Index ({size.kind})", "bytes", (*texts, size.code_bytes), (*lists, 4 * size.dimensions)),
        _add_terms(
            "Words", "bytes", (*texts, constants["posting_bytes"]), (*vocabulary, constants["vocabulary_bytes"])
        ),
    )


def _compute_totals(disk: Sequence[PlannedFigure], request: CapacityRequest) -> tuple[PlannedFigure, ...]:
    """Return the total disk space for one version, for all kept versions, and during a build. Versions share all files
    that an update does not rewrite. A build needs a second, sorted copy of all records."""
    version = sum(figure.value for figure in disk)
    rewritten_share = min(1.0, request.daily * _WRITTEN_AGAIN)
    bytes_kept = version * (1 + (request.keep - 1) * rewritten_share)
    return (
        PlannedFigure("One version", version, "bytes", "sum of the above"),
        PlannedFigure(
            f"{request.keep} versions",
            bytes_kept,
            "bytes",
            f"one version × (1 + {request.keep - 1} × {rewritten_share:g} rewritten)",
        ),
        PlannedFigure("During a build", version + disk[0].value, "bytes", "one version + sorted records"),
    )


def _plan_memory(
    size: _Size, disk: Sequence[PlannedFigure], request: CapacityRequest, constants: PlanningConstants
) -> tuple[PlannedFigure, ...]:
    _, tables, _, _, index, words = disk
    return (
        PlannedFigure(
            "For fast searches", tables.value + index.value + words.value, "bytes", "ids + index + words, mapped"
        ),
        PlannedFigure("To avoid disk reads", sum(figure.value for figure in disk), "bytes", "one version, mapped"),
        _add_terms(
            "On GPUs, if used for search",
            "bytes",
            (size.texts, "texts", 2 * size.dimensions),
        ),
        *_plan_build_memory(size, request, constants),
    )


def _plan_build_memory(
    size: _Size, request: CapacityRequest, constants: PlanningConstants
) -> tuple[PlannedFigure, ...]:
    """Estimate the memory that one building process needs, or that parallel processes need to build shards. Assumes
    that the vectors of all texts are looked up."""
    shards = request.shards or 1
    build_figure = _add_terms(
        "To build" if request.shards is None else f"To build one of {shards} shards",
        "bytes",
        (1, "process", constants["process_bytes"]),
        (size.papers / shards, "papers", constants["build_record_bytes"]),
        (size.texts / shards, "texts", constants["known_bytes"]),
        (min(size.rows, size.lists * _TRAINED_ON), "training vectors", 4 * size.dimensions),
    )
    if request.shards is None:
        return (build_figure,)
    distribution_terms = (1, "process", constants["deal_bytes"]), (size.papers, "papers", constants["seen_bytes"])
    return (_add_terms("To distribute papers to shards", "bytes", *distribution_terms), build_figure)


def _plan_build(
    size: _Size, request: CapacityRequest, constants: PlanningConstants, rate: float, usd: float
) -> tuple[PlannedFigure, ...]:
    papers, texts, machines = (size.papers, "papers"), (size.texts, "texts"), request.machines
    hours = (
        _compute_hours("Embedding", machines, (*texts, 1 / rate)),
        _compute_hours("Reading, sorting, writing", machines, (*papers, constants["record_seconds"])),
        _compute_hours("Index", machines, (*texts, constants["index_seconds"])),
        _compute_hours("Words", machines, (*texts, constants["word_seconds"])),
    )
    return _add_total(hours, machines, usd)


def _plan_nightly_update(
    size: _Size, request: CapacityRequest, constants: PlanningConstants, rate: float, usd: float, version: float
) -> tuple[PlannedFigure, ...]:
    """Estimate the hours and price of a nightly update on a single machine."""
    incoming_texts = size.texts * request.daily
    rewritten_texts = (incoming_texts * _WRITTEN_AGAIN, "texts rewritten")
    seconds_per_text = constants["record_seconds"] + constants["index_seconds"] + constants["word_seconds"]
    hours = (
        _compute_hours("Embedding", 1, (incoming_texts, "new or changed texts", 1 / rate)),
        _compute_hours("Writing", 1, (*rewritten_texts, seconds_per_text)),
        _compute_hours("Verifying existing files", 1, (version / 1e9, "GB", 1e9 / constants["checked_bytes"])),
    )
    return _add_total(hours, 1, usd)


def _add_total(hours: tuple[PlannedFigure, ...], machines: int, usd_per_hour: float) -> tuple[PlannedFigure, ...]:
    total = PlannedFigure("Total", sum(hour.value for hour in hours), "hours", "one step after another")
    usd = total.value * machines * usd_per_hour
    formula = f"{total.value:,.2f} h × {machines} × {usd_per_hour:g} USD"
    return (*hours, total, PlannedFigure("Price", usd, "USD", formula))


def _add_terms(name: str, unit: Unit, *terms: CostTerm) -> PlannedFigure:
    terms_text = [f"{count:,.0f} {noun} × {factor:,.5g}" for count, noun, factor in terms if count]
    return PlannedFigure(name, sum(count * factor for count, _, factor in terms), unit, " + ".join(terms_text))


def _compute_hours(name: str, machines: int, term: CostTerm) -> PlannedFigure:
    count, noun, seconds = term
    divisor_text = f" / {machines} machines" if machines > 1 else ""
    value = count * seconds / 3600 / machines
    return PlannedFigure(name, value, "hours", f"{count:,.0f} {noun} × {seconds:.3g} s{divisor_text}")


def _look_up(noun: str, name: str, table: Mapping[str, Entry]) -> Entry:
    if name not in table:
        raise InputError(f"Unknown {noun} {name!r}.", f"Use one of: {', '.join(table)}.")
    return table[name]
