"""Measures search among millions of vectors: `python -m benchmarks.index speed`.

Each size is built in one fresh process and searched in another. The compared searches alternate within one run, so
their ratios are valid on a busy machine too; absolute times are upper bounds there.
"""

import json
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from rich.console import Console

from assayer.models import Frozen
from benchmarks.index.collection import BATCH, DIMENSIONS, LIMIT, BuildRecord, Collection, build, draw_vectors
from benchmarks.index.memory import measure_memory, run_in_process
from benchmarks.index.plain_faiss import PlainFaiss
from benchmarks.index.timing import Comparison, compare_searches
from benchmarks.measuring import build_parser, format_heading
from index.faiss_build import load_faiss


class SearchMeasurements(Frozen):
    recall: tuple[float, float, float]
    """Recall under each condition of a collection."""
    single: Comparison
    """Comparison with FAISS alone for single queries; `batch` is the same for batches."""
    batch: Comparison
    masked_single: Comparison
    masked_batch: Comparison
    anonymous_mb: float
    mapped_mb: float


def main() -> None:
    parser = build_parser("index speed", __doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 300_000, 1_000_000, 5_000_000])
    parser.add_argument("--kinds", nargs="+", default=["by size"], choices=["by size", "ivf_sq8", "ivf_pq"])
    parser.add_argument("--directory", type=Path, help="keep built indexes here; deleted by default")
    parser.add_argument("--out", type=Path, help="folder to write figures.json to")
    arguments = parser.parse_args()
    console = Console(highlight=False, soft_wrap=True)
    console.print(format_heading())
    figures: list[tuple[BuildRecord, SearchMeasurements]] = []
    with tempfile.TemporaryDirectory() as temporary:
        for rows in arguments.sizes:
            for kind in arguments.kinds:
                directory = (arguments.directory or Path(temporary)) / f"{rows} {kind}".replace(" ", "-")
                run_in_process(draw_vectors, directory, rows)
                built = run_in_process(build, directory, None if kind == "by size" else kind)
                measurements = run_in_process(_measure_searches, directory)
                figures.append((built, measurements))
                for line in _describe(built, measurements):
                    console.print(line)
    if arguments.out is not None:
        figures_json = [
            {"built": built.model_dump(), "asked": measurements.model_dump()} for built, measurements in figures
        ]
        (arguments.out / "figures.json").write_text(json.dumps(figures_json, indent=1) + "\n", "utf-8")


def _measure_searches(directory: Path) -> SearchMeasurements:
    load_faiss().omp_get_max_threads()  # loads its libraries before memory is measured
    collection = Collection(directory)
    unfiltered, _, masked = collection.conditions
    _, memory_before = collection.exact_rows, measure_memory()
    index = collection.open_index()
    matches_by_condition = [
        index.find_nearest(collection.judged_queries, LIMIT, row_filter) for row_filter in collection.conditions
    ]
    memory_after = measure_memory()
    recalls = [
        collection.compute_recall([matches.rows for matches in batches], number)
        for number, batches in enumerate(matches_by_condition)
    ]
    if index.approximate is None:
        raise SystemExit("There is nothing to compare: so few rows get no approximate index.")
    plain = PlainFaiss(index.approximate.index, collection.vectors, collection.parameters)
    single, batch, masked_single, masked_batch = (
        compare_searches(
            partial(index.find_nearest, limit=LIMIT, row_filter=row_filter),
            partial(plain.search, row_filter=row_filter),
            batches,
        )
        for row_filter in (unfiltered, masked)
        for batches in (collection.single_queries, collection.query_batches)
    )
    return SearchMeasurements(
        recall=(recalls[0], recalls[1], recalls[2]),
        single=single,
        batch=batch,
        masked_single=masked_single,
        masked_batch=masked_batch,
        anonymous_mb=memory_after.anonymous - memory_before.anonymous,
        mapped_mb=memory_after.mapped - memory_before.mapped,
    )


def _describe(built: BuildRecord, measurements: SearchMeasurements) -> Iterator[str]:
    vectors_mb = built.rows * DIMENSIONS * 2 / 1e6
    memory_mb = measurements.anonymous_mb + measurements.mapped_mb
    yield (
        f"{built.rows:,} × {DIMENSIONS}, {built.parameters.kind}: built in {built.seconds:.0f} s "
        f"({built.processor_seconds:.0f} s of CPU); index {built.index_mb:,.0f} MB"
    )
    recall_all, recall_before_cutoff, recall_masked = measurements.recall
    yield (
        f"  recall@{LIMIT} {recall_all:.4f}; among the first 30 % of the rows {recall_before_cutoff:.4f}; "
        f"among nine tenths {recall_masked:.4f}"
    )
    yield (
        f"  memory: {measurements.anonymous_mb:,.0f} MB of its own, {measurements.mapped_mb:,.0f} MB of mapped files; "
        f"{memory_mb / (vectors_mb + built.index_mb):.2f} of vectors and index"
    )
    for name, count, comparison in (
        ("batch 1", 1, measurements.single),
        (f"batch {BATCH}", BATCH, measurements.batch),
        ("batch 1, a tenth masked", 1, measurements.masked_single),
        (f"batch {BATCH}, a tenth masked", BATCH, measurements.masked_batch),
    ):
        yield (
            f"  {name}: p50 {comparison.ours.p50:.3f} ms, p95 {comparison.ours.p95:.3f} ms, "
            f"{count / comparison.ours.p50 * 1000:,.0f} queries/s; FAISS alone "
            f"p50 {comparison.theirs.p50:.3f} ms, p95 {comparison.theirs.p95:.3f} ms; "
            f"overhead {comparison.overhead:+.1%}"
        )


if __name__ == "__main__":
    main()
