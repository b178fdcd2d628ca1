"""Export reports as a data set in the Hugging Face Hub's layout: a card and a Parquet file that `datasets` reads.

Nothing is uploaded."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from assayer.models import Report
from assayer.reports.python_report import EvaluationReport
from assayer.version import __version__
from cluster.whole_files import write_whole

_TEXTS = pa.list_(pa.string())
_SCHEMA = pa.schema(
    {
        "evaluation_id": pa.string(),
        "source": pa.string(),
        "title": pa.string(),
        "proposal": pa.string(),
        "method": pa.string(),
        "models": _TEXTS,
        "cutoff": pa.string(),
        "corpus_version": pa.string(),
        "total": pa.float64(),
        "no_total": pa.string(),
        "scores": pa.list_(
            pa.struct(
                {
                    "name": pa.string(),
                    "value": pa.float64(),
                    "low": pa.float64(),
                    "high": pa.float64(),
                    "reason": pa.string(),
                }
            )
        ),
        "findings": pa.list_(
            pa.struct({"kind": pa.string(), "text": pa.string(), "severity": pa.string(), "papers": _TEXTS})
        ),
        "references": pa.list_(pa.struct({"label": pa.string(), "title": pa.string(), "url": pa.string()})),
        "notices": _TEXTS,
        "assayer_version": pa.string(),
        "report": pa.string(),
    }
)


def write_dataset(out: Path, reports: Sequence[Report]) -> list[Path]:
    """Write the card and the Parquet file to the folder; return their paths. Raises InputError if they cannot be
    written."""
    table = pa.Table.from_pylist([_build_row(report) for report in reports], schema=_SCHEMA)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    (out / "data").mkdir(exist_ok=True)
    data, card = out / "data" / "train-00000-of-00001.parquet", out / "README.md"
    write_whole(data, sink.getvalue().to_pybytes())
    write_whole(card, _build_card(reports))
    return [card, data]


def _build_row(report: Report) -> dict[str, object]:
    evaluation_report, provenance = EvaluationReport(report), report.provenance
    return {
        "evaluation_id": report.evaluation_id,
        "source": report.idea.source,
        "title": report.idea.title,
        "proposal": report.idea.text,
        "method": report.method,
        "models": list(provenance.models),
        "cutoff": report.cutoff.isoformat() if report.cutoff else None,
        "corpus_version": provenance.corpus_version,
        "total": evaluation_report.total.value,
        "no_total": evaluation_report.total.reason or None,
        "scores": [{"name": name, **score._asdict()} for name, score in evaluation_report.scores.items()],
        "findings": [{**finding._asdict(), "papers": list(finding.papers)} for finding in evaluation_report.findings],
        "references": [
            {"label": str(reference.label), "title": reference.title, "url": reference.url}
            for reference in report.references
        ],
        "notices": list(evaluation_report.notices),
        "assayer_version": provenance.assayer_version,
        "report": report.model_dump_json(),
    }


def _build_card(reports: Sequence[Report]) -> str:
    methods = ", ".join(f"`{name}` ({count})" for name, count in sorted(Counter(r.method for r in reports).items()))
    models = sorted({model for report in reports for model in report.provenance.models})
    blind = sum(report.idea.blinding is not None for report in reports)
    return f"""---
pretty_name: Reports of assayer
configs:
- config_name: default
  data_files:
  - split: train
    path: data/*.parquet
tags:
- peer-review
- assayer
---

# Reports of assayer

{len(reports)} reports by assayer {__version__}, one per row. Methods: {methods}. Language models: \
{", ".join(f"`{model}`" for model in models) or "none"}.

```python
from datasets import load_dataset

reports = load_dataset("path/to/this/folder", split="train")
```

| column | holds |
|---|---|
| `title`, `source`, `proposal` | the proposal and its text as judged ({blind} of {len(reports)} with names masked) |
| `method`, `models`, `cutoff`, `corpus_version`, `assayer_version` | how the report was made |
| `total`, `no_total` | total score by which reports are ordered, from 0 to 100, or why there is none |
| `scores` | score of each part with the ends of its scale, or why there is none |
| `findings` | strengths, weaknesses, questions, suggestions, close passages; the papers that are evidence |
| `references` | papers, keyed by their labels in the texts |
| `notices` | what a reader should know first |
| `report` | the whole report as JSON |

## Before you share this

- The rows hold whole proposals and quotes of papers. Publish them only with the right to do so; \
masked names may remain.
- Scores were given by a program, not by reviewers. They support decisions; people decide.
- Fill in the licence and the source of the proposals in this card.
"""
