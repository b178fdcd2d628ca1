"""Writes all figures as one page and as JSON."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.quality.figures import Figure, format_table
from benchmarks.quality.judged_sets.simple import LONGER, WORDS

TITLES: Mapping[str, str] = {
    "iclr_years": "Decisions of ICLR 2022 to 2025",
    "innoeval": "InnoEval's points, pairs and groups",
    "ai_researcher": "Proposals reviewed before and after they were carried out",
    "scholarideas": "What experts said of 48 ideas",
    "queries": "Literature queries",
    "reviews": "Reviews taken apart",
    "flaws": "Inserted errors",
}
_JSON_ONLY = ("chosen that are lost, best 75% read", "chosen that are lost, best 25% read", "ECE", "Brier")
"""Measures that are only in the JSON, not on the page."""
_SIMULATED = (
    "**SIMULATED ANSWERS: every figure of a language model on this page is invented and says nothing of quality.**"
)


def build_page(
    figures: Sequence[Figure], absent: Mapping[str, str], caveats: Mapping[str, str], introduction: str
) -> Iterator[str]:
    """Yield the page. `absent` gives the reason for each missing contender or set, `caveats` the limitations of each
    set."""
    is_simulated = any(figure.simulated for figure in figures)
    yield "# All judged sets on one page\n"
    yield "Made by `python -m benchmarks.quality all`; do not edit. Figures as JSON: [all.json](all.json).\n"
    yield f"{introduction}\n"
    if is_simulated:
        yield f"{_SIMULATED}\n"
    yield (
        "Values with 95 % intervals by bootstrap over items. An item without an answer stays in the denominator: it "
        "loses every comparison, is read last, and is counted under *unanswered*. *Chosen that are lost*: of the "
        "proposals that people chose, the share that is not among those read on; of grades the best third counts as "
        "chosen; lower is better, and whoever draws by lot loses what is cut. Other cuts, ECE "
        "and Brier scores are in the JSON. People are the ceiling.\n"
    )
    if absent:
        yield "Not measured here:\n"
        yield from (f"- {name}: {reason}" for name, reason in absent.items())
        yield ""
    mark = "SIMULATED: " if is_simulated else ""
    yield from (line.replace("- ", f"- {mark}", 1) for line in _list_unbeaten_sets(figures))
    for name, title in TITLES.items():
        if set_figures := [
            figure for figure in figures if figure.set == name and not figure.measure.startswith(_JSON_ONLY)
        ]:
            yield f"\n## {name}\n\n{title}. {caveats.get(name, '')}".rstrip() + "\n"
            for block in _group_into_tables(set_figures):
                if is_simulated:
                    yield f"{_SIMULATED}\n"
                yield from format_table(block)
                yield ""
            notes = dict.fromkeys(f"{item.scorer}: {item.note}" for item in set_figures if item.note)
            yield from (f"- {mark}{note}" for note in notes)


def _group_into_tables(figures: Sequence[Figure]) -> list[list[Figure]]:
    """Group figures into tables: parts with the same measures share one."""
    by_part: dict[str, list[Figure]] = {}
    for figure in figures:
        by_part.setdefault(figure.part, []).append(figure)
    blocks: dict[tuple[str, ...], list[Figure]] = {}
    for part_figures in by_part.values():
        blocks.setdefault(tuple(dict.fromkeys(item.measure for item in part_figures)), []).extend(part_figures)
    return list(blocks.values())


def _list_unbeaten_sets(figures: Sequence[Figure]) -> Iterator[str]:
    """Yield where no scorer is shown to order better than length or words."""
    gaps = [figure for figure in figures if f" above {LONGER}" in figure.measure or f" above {WORDS}" in figure.measure]
    parts = dict.fromkeys((gap.set, gap.part) for gap in gaps)
    if not parts:
        return
    yield "## Where nothing beats length or TF-IDF\n"
    yield "Shown to be better means that the interval of the paired difference lies above 0, of people apart.\n"
    for part in parts:
        conclusions = []
        for simple, word in ((LONGER, "length"), (WORDS, "TF-IDF")):
            part_gaps = [gap for gap in gaps if (gap.set, gap.part) == part and gap.measure.endswith(f"above {simple}")]
            better = [item.scorer for item in part_gaps if item.low is not None and item.low > 0]
            conclusions.append(f"{word}: {', '.join(better) if better else '**nothing beats it**'}")
        yield f"- {part[0]}, {part[1]}: {'; '.join(conclusions)}"


def write_page(folder: Path, lines: Sequence[str], figures: Sequence[Figure]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "all.md").write_text("\n".join(lines).rstrip() + "\n", "utf-8")
    content = ",\n".join(json.dumps(figure.model_dump(), ensure_ascii=False) for figure in figures)
    (folder / "all.json").write_text(f"[\n{content}\n]\n", "utf-8")
