"""Checks finished reports without using any code of the program that made them.

    python benchmarks/quality/check_reports.py REPORT_OR_FOLDER… [--corpus papers.jsonl.gz] [--expect N]

Reads report JSON and, with --corpus, the records that the references must come from. Exits 1 on any violation. It uses
only the standard library and the modules `quotations` and `corpus_records` beside this file, so that a fault in the
program cannot hide itself here.
"""

import argparse
import datetime as dt
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

if not __package__:  # run by its path, from any directory
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.quality.corpus_records import find_differences, list_texts, select_records
from benchmarks.quality.quotations import ADDRESS, occurs_in

Json = dict[str, Any]

LABELS = re.compile(r"\[(P\d+(?:\s*[,;]\s*P\d+)*)\]")
BRACKET_WITH_LABEL = re.compile(r"\[[^\[\]]*\bP\d+\b[^\[\]]*\]")
MARKER = re.compile(r"\[@[^\]\s]+\]")
MAX_FURTHER_QUOTES = 2
"""Largest number of quotes in a citation besides the first."""


@dataclass
class Check:
    """Counts of the items checked in one report, and the violations."""

    name: str
    references: int = 0
    labels: int = 0
    quotes: Counter[str] = field(default_factory=Counter)
    compared: int = 0
    """Number of references and quotes compared with the corpus."""
    release: str = ""
    """`complete`, or the minima that it fails; empty for older reports."""
    violations: list[str] = field(default_factory=list)

    def fail(self, text: str) -> None:
        self.violations.append(text)


def main(arguments: list[str] | None = None) -> int:
    options = _parse_options(arguments)
    files = sorted(_list_files(options.reports))
    if not files:
        print("No report was found. Give JSON files, or folders that contain some.", file=sys.stderr)
        return 2
    checks = check_files(files, options.corpus)
    _print_checks(checks, with_corpus=options.corpus is not None)
    has_wrong_count = options.expect is not None and len(checks) != options.expect
    if has_wrong_count:
        print(f"Expected {options.expect} reports, found {len(checks)}.")
    return 1 if has_wrong_count or any(check.violations for check in checks) else 0


def check_files(files: Iterable[Path], corpus: Path | None) -> list[Check]:
    """Check report files, and compare them with the corpus if a path is given."""
    reports = [(file, _load(file)) for file in files]
    ids = {reference["id"] for _, report in reports for reference in _get_references(report)}
    records = None if corpus is None else select_records(corpus, ids)
    return [check(str(file), report, records) for file, report in reports]


def _parse_options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Checks citations, dates, quotes and counts of finished reports.")
    parser.add_argument("reports", nargs="+", type=Path, help="report JSON files, or folders with them")
    parser.add_argument("--corpus", type=Path, help="papers.jsonl or .jsonl.gz from which the corpus was built")
    parser.add_argument("--expect", type=int, help="number of reports that there must be")
    options = parser.parse_args(arguments)
    if options.corpus and not options.corpus.is_file():
        parser.error(f"The corpus file {options.corpus} does not exist.")
    return options


def _list_files(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        yield from path.rglob("*.json") if path.is_dir() else [path]


def _load(file: Path) -> Json | None:
    try:
        report = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return report if isinstance(report, dict) else None


def _get_references(report: Json | None) -> list[Json]:
    references = (report or {}).get("references")
    items = references if isinstance(references, list) else []
    return [item for item in items if isinstance(item, dict) and "id" in item]


def check(name: str, report: Json | None, corpus: dict[str, Json] | None = None) -> Check:
    """Apply all rules to one report; `report` is None if the file contains no JSON object."""
    result = Check(name)
    if report is None:
        result.fail("is not a JSON object")
        return result
    rules: list[Callable[[Json, Check], None]] = [
        _check_references,
        _check_labels,
        _check_cutoff,
        _check_addresses,
        _check_citations,
        _check_scores,
        _check_counts,
        _check_notices,
        _check_release,
    ]
    if corpus is not None:
        rules.append(partial(_check_corpus, corpus))
    for rule in rules:
        try:
            rule(report, result)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            result.fail(f"is not shaped like a report: {error!r}")
    return result


def _walk_strings(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield every string of the report with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _walk_strings(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk_strings(item, f"{path}[{index}]")


def _find_objects(value: Any, key: str) -> Iterator[Json]:
    """Yield every object that has the key, at any depth."""
    if isinstance(value, dict):
        if key in value:
            yield value
        for item in value.values():
            yield from _find_objects(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from _find_objects(item, key)


def _check_references(report: Json, result: Check) -> None:
    references = report["references"]
    result.references = len(references)
    for field_name in ("label", "id"):
        for value, count in Counter(reference[field_name] for reference in references).items():
            if count > 1:
                result.fail(f"{field_name} {value!r} stands for {count} references")
    for reference in references:
        if not re.fullmatch(r"P\d+", reference["label"]):
            result.fail(f"label {reference['label']!r} is not of the form P3")
        for field_name in ("id", "title", "source"):
            if not str(reference[field_name]).strip():
                result.fail(f"reference {reference['label']} has no {field_name}")


def _check_labels(report: Json, result: Check) -> None:
    known_labels = {holder["label"] for holder in report["references"]}
    used_labels: set[str] = set()
    for path, text in _walk_strings(report):
        if path.startswith("coverage.faults"):  # quotes from rejected answers
            continue
        text_labels = [label for group in LABELS.findall(text) for label in re.findall(r"P\d+", group)]
        result.labels += len(text_labels)
        used_labels.update(text_labels)
        for bracket in BRACKET_WITH_LABEL.findall(text):
            if not LABELS.fullmatch(bracket):
                result.fail(f"{bracket} in {path} is not of the form [P3] or [P3, P4]")
        for label in sorted(set(text_labels) - known_labels):
            result.fail(f"[{label}] in {path} is not a reference")
        if MARKER.search(text) and not path.startswith("idea."):
            result.fail(f"a paper in {path} was never given its label")
    for holder in _find_objects([report["parts"], report.get("plan_review"), report.get("evidence")], "label"):
        used_labels.add(holder["label"])
        if holder["label"] not in known_labels:
            result.fail(f"{holder['label']} is cited but is not a reference")
    for label in sorted(known_labels - used_labels):
        result.fail(f"reference {label} is never cited")


def _check_cutoff(report: Json, result: Check) -> None:
    if report["cutoff"] is None:
        return
    cutoff = dt.date.fromisoformat(report["cutoff"])
    judging_labels = _collect_judging_labels(report)
    for reference in report["references"]:
        if reference["publication_date"] is None:
            result.fail(f"reference {reference['label']} is undated, and there is a cutoff")
        elif dt.date.fromisoformat(reference["publication_date"]) > cutoff and reference["label"] in judging_labels:
            result.fail(
                f"reference {reference['label']} of {reference['publication_date']} is after the cutoff {cutoff}"
            )


def _collect_judging_labels(report: Json) -> set[str]:
    """Return the labels on which the judgement rests. Only a board's advice may rest on papers after the cutoff."""
    board = {key: value for key, value in (report.get("board") or {}).items() if key != "advice"}
    judging_parts = [report["summary"], report["parts"], report.get("evidence"), board]
    texts = (text for _, text in _walk_strings(judging_parts))
    cited_labels = {label for text in texts for group in LABELS.findall(text) for label in re.findall(r"P\d+", group)}
    return cited_labels | {holder["label"] for holder in _find_objects(judging_parts, "label")}


def _check_addresses(report: Json, result: Check) -> None:
    """No text of the evaluation contains an address; only the references do."""
    for key in ("summary", "parts", "board"):
        for path, text in _walk_strings(report.get(key), key):
            if not path.endswith(".quote") and ADDRESS.search(text):
                result.fail(f"an address stands in {path}")
    for reference in report["references"]:
        if reference["url"] and not re.fullmatch(r"https?://\S+", reference["url"]):
            result.fail(f"reference {reference['label']} has an address that is not http(s): {reference['url']!r}")


def _check_citations(report: Json, result: Check) -> None:
    """A quote has a state, and a state has a quote."""
    for citation in _find_citations(report):
        result.quotes[citation["quote_state"]] += 1
        if citation["quote_state"] not in {"verified", "not_found", "none"}:
            result.fail(f"a quote of {citation['label']} is in the unknown state {citation['quote_state']!r}")
        elif (citation["quote_state"] == "none") != (not citation["quote"]):
            result.fail(
                f"a citation of {citation['label']} in state {citation['quote_state']!r} "
                f"has quote {citation['quote']!r}"
            )
        further = citation.get("further", [])  # older reports have none
        if further and citation["quote_state"] != "verified":
            result.fail(f"a citation of {citation['label']} has further quotes and no first one that was verified")
        quotes = {citation["quote"], *(further_quote["quote"] for further_quote in further)}
        if len(quotes) != len(further) + 1 or len(further) > MAX_FURTHER_QUOTES:
            result.fail(f"a citation of {citation['label']} has too many quotes, or one twice")
    for point in _find_objects(_select_citing_parts(report), "downgraded"):
        states = {citation["quote_state"] for citation in point["citations"]}
        if point["downgraded"] != ("not_found" in states and "verified" not in states):
            result.fail(f"downgraded is {point['downgraded']} for: {point['text'][:60]}")


def _find_citations(report: Json) -> list[Json]:
    return list(_find_objects(_select_citing_parts(report), "quote_state"))


def _select_citing_parts(report: Json) -> list[Any]:
    return [report["summary"], report["parts"], report.get("evidence"), report.get("board")]


def _check_scores(report: Json, result: Check) -> None:
    for holder in _find_objects(report["parts"], "score"):
        score = holder["score"]
        if "reason" in score:
            if not score["reason"].strip():
                result.fail(f"{holder['name']} has no score and no reason")
        elif not score["scale_min"] <= score["value"] <= score["scale_max"]:
            result.fail(f"the score {score['value']} of {holder['name']} is off its scale")


def _check_counts(report: Json, result: Check) -> None:
    coverage = report["coverage"]
    readings = _find_objects(report["parts"], "stance")
    states = Counter(reading["quote"]["quote_state"] for reading in readings if reading["quote"] is not None)
    evidence = report.get("evidence") or {}
    states += Counter(item["quote_state"] for item in _find_objects(evidence, "quote_state") if item["quote"])
    expected_counts = {
        "papers_cited": len(report["references"]),
        "quotes_verified": states["verified"],
        "quotes_unverified": states["not_found"],
    }
    for name, number in expected_counts.items():
        if coverage[name] != number:
            result.fail(f"coverage says {name} = {coverage[name]}, the report holds {number}")
    # Papers near a comparison that the plan lacks, and works cited by several papers, are named without being read.
    named_labels = {item["label"] for item in _find_objects(report.get("plan_review") or {}, "similarity")}
    named_labels |= {item["label"] for item in _find_objects(evidence, "cited_by")}
    unread = {"papers_cited": len(named_labels)}
    for smaller, larger in (
        ("papers_cited", "papers_read"),
        ("papers_read", "papers_found"),
        ("full_texts", "papers_read"),
    ):
        if coverage[smaller] > coverage[larger] + unread.get(smaller, 0):
            result.fail(f"coverage says {smaller} = {coverage[smaller]} of {larger} = {coverage[larger]}")
    for item in coverage["faults"]:
        if not 0 <= item["recovered"] <= item["occurrences"]:
            result.fail(f"{item['task']} recovered {item['recovered']} of {item['occurrences']} {item['kind']} faults")
    for item in coverage["dropped"]:
        if item["count"] < 1 or not item["reason"].strip():
            result.fail(f"dropped {item['item_kind']!r} lacks a count or a reason")


def _check_notices(report: Json, result: Check) -> None:
    kinds = {notice["kind"] for notice in report["notices"]}
    fit = report["coverage"]["corpus_fit"]
    if fit.get("level") == "poor" and "corpus_fit" not in kinds:
        result.fail("the corpus does not cover the field, and no notice says so")
    if not report["provenance"]["models"] and report["coverage"]["llm_requests"] == 0 and "no_llm" not in kinds:
        result.fail("no language model was used, and no notice says so")


def _check_release(report: Json, result: Check) -> None:
    """Minima are recomputed where the report contains the counts; a report below a minimum must have no total."""
    release = report.get("release")
    if release is None:
        return
    minima = {item["name"]: item for item in release["minima"]}
    failed_minima = [name for name, item in minima.items() if not item["is_met"]]
    result.release = ", ".join(failed_minima) or "complete"
    if release["state"] != ("incomplete" if failed_minima else "complete"):
        result.fail(f"it is {release['state']} and fails {len(failed_minima)} minima")
    coverage = report["coverage"]
    quotes = (coverage["quotes_verified"], coverage["quotes_verified"] + coverage["quotes_unverified"])
    shares = {"quotes_found": quotes}
    if coverage["llm_requests_failed"] is not None:
        shares["answered"] = (coverage["llm_requests"], coverage["llm_requests"] + coverage["llm_requests_failed"])
    for name, (part, total) in shares.items():
        measured = minima[name]["measured"]
        expected_share = round(part / total, 4) if total else None
        if (None if isinstance(measured, dict) else measured) != expected_share:
            result.fail(f"{name} is measured as {measured}, and {part} of {total} are counted")
    for name, item in minima.items():
        if isinstance(item["measured"], float) and item["is_met"] != (item["measured"] >= item["minimum"]):
            result.fail(f"{name} is {item['measured']} and called {'met' if item['met'] else 'missed'}")
    if failed_minima:
        for score_name in _list_totals(report):
            result.fail(f"it is incomplete, and {score_name} has a total")


def _list_totals(report: Json) -> Iterator[str]:
    yield from (part["name"] for part in report["parts"] if "value" in part["score"])
    board = report.get("board") or {}
    keys = ("score", "interval", "decision")
    yield from (f"the board's {key}" for key in keys if "reason" not in board.get(key, {"reason": ""}))
    verdict = report.get("verdict") or {}
    if isinstance(verdict.get("decision"), str) or verdict.get("probabilities"):
        yield "the verdict"


def _check_corpus(corpus: dict[str, Json], report: Json, result: Check) -> None:
    texts: dict[str, list[str]] = {}
    for reference in report["references"]:
        if reference["source"] != "corpus":
            continue
        result.compared += 1
        record = corpus.get(reference["id"])
        if record is None:
            result.fail(f"reference {reference['label']} ({reference['id']}) is not in the corpus")
            continue
        texts[reference["label"]] = list_texts(record)
        for text in find_differences(reference, record):
            result.fail(text)
    for citation in _find_citations(report):
        if citation["quote_state"] != "verified" or citation["label"] not in texts:
            continue
        for quote in (citation["quote"], *(further_quote["quote"] for further_quote in citation.get("further", []))):
            result.compared += 1
            if not any(occurs_in(quote, text) for text in texts[citation["label"]]):
                result.fail(f"a verified quote is not in {citation['label']}: {quote[:80]!r}")


def _print_checks(checks: list[Check], with_corpus: bool) -> None:
    width = max(len(check.name) for check in checks)
    print(f"{'report':{width}}  references  labels  verified  not found  compared  violations")
    for check in checks:
        print(
            f"{check.name:{width}}  {check.references:10}  {check.labels:6}  {check.quotes['verified']:8}  "
            f"{check.quotes['not_found']:9}  {check.compared:8}  {len(check.violations):10}"
        )
    for check in checks:
        for violation in check.violations:
            print(f"{check.name}: {violation}")
    total = sum((check.quotes for check in checks), Counter[str]())
    if releases := Counter(check.release for check in checks if check.release):
        release_text = "; ".join(f"{count} {name}" for name, count in releases.most_common())
        print(f"Releases, complete or by the minima that are failed: {release_text}")
    checked_against = "the corpus" if with_corpus else "no corpus: none was given"
    print(
        f"{len(checks)} reports, {sum(check.references for check in checks)} references, "
        f"{sum(check.labels for check in checks)} labels in texts, {total['verified']} verified quotes, "
        f"{total['not_found']} not found; {sum(check.compared for check in checks)} references and quotes compared "
        f"with {checked_against}: {sum(len(check.violations) for check in checks)} violations"
    )


if __name__ == "__main__":
    sys.exit(main())
