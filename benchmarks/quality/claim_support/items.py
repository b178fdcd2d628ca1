"""Claims with passages of known relation: four public sets, converted to the outcomes of the support check."""

import hashlib
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from assayer.models import SupportOutcome
from benchmarks.records import DATA, read_records

Gold = SupportOutcome | Literal["flawed"]
"""`flawed` is any outcome but `supports`; the set does not say which."""
SETS = ("scifact", "citation_integrity", "healthver", "covidfact")
_LABELS: dict[str, Gold] = {"SUPPORT": "supports", "CONTRADICT": "contradicts", "NOT_ENOUGH_INFO": "not"}
_KINDS: dict[str, Gold] = {"NOT_SUBSTANTIATE": "not", "OVERSIMPLIFY": "partly", "CONTRADICT": "contradicts"}


class KnownClaim(NamedTuple):
    id: str
    group: str
    """Known label or origin of the claim, in the set's own terms."""
    gold: Gold
    document: str
    claim: str
    passage: str
    title: str
    is_tuning: bool
    """Whether thresholds may be fitted on it; all claims about one document are on the same side."""


def read_claims(name: str, first: int | None = None) -> list[KnownClaim]:
    """Return the known claims of a set in hash order, at most `first`."""
    rows = read_records(DATA / "claims" / f"{name}.jsonl.gz")
    claims = [claim for row in rows for claim in _READERS[name](row)]
    return sorted(claims, key=lambda claim: _compute_hash(claim.id))[:first]


def _compute_hash(text: str) -> int:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16)


def _build_claim(
    row: dict[str, Any], group: str, gold: Gold, document: object, passage: str, part: str = ""
) -> KnownClaim:
    is_tuning = _compute_hash(str(document)) % 2 == 0
    title = row["source"] if row["id"].startswith("scifact") else ""
    return KnownClaim(
        f"{row['id']}{part}", group, gold, str(document), _mark_citations(row["claim"]), passage, title, is_tuning
    )


_CITATION = re.compile(r"<\|(multi_|other_)?cit\|>")
_IN_BRACKETS = re.compile(r"[\[(](\[(?:this|another) source\])[\])]")


def _mark_citations(claim: str) -> str:
    """Write citations as the prompt does; a claim without citations gets one of the source at its end."""
    marked_claim = _CITATION.sub(lambda match: f"[{'another' if match[1] == 'other_' else 'this'} source]", claim)
    marked_claim = _IN_BRACKETS.sub(r"\1", marked_claim)
    return marked_claim if "[this source]" in marked_claim else f"{marked_claim.rstrip('. ')} [this source]."


def _read_scifact(row: dict[str, Any]) -> Iterator[KnownClaim]:
    """Yield each rationale, each sentence of a supporting rationale of several sentences, and one sentence outside the
    rationales."""
    sentences: list[str] = row["sentences"]
    rationale_sentences = {index for rationale in row["rationales"] for index in rationale}
    for number, rationale in enumerate(row["rationales"]):
        passage = " ".join(sentences[index] for index in sorted(rationale))
        yield _build_claim(row, f"rationale, {row['label']}", _LABELS[row["label"]], row["doc"], passage, f"-r{number}")
        if len(rationale) > 1 and row["label"] == "SUPPORT":
            for index in rationale:
                group = "one sentence of a longer rationale"
                yield _build_claim(row, group, "partly", row["doc"], sentences[index], f"-r{number}s{index}")
    other_sentences = [index for index in range(len(sentences)) if index not in rationale_sentences]
    if other_sentences:
        group = (
            "another sentence of the same abstract"
            if rationale_sentences
            else "a sentence of an abstract that leaves it open"
        )
        yield _build_claim(
            row,
            group,
            "not",
            row["doc"],
            sentences[other_sentences[_compute_hash(row["id"]) % len(other_sentences)]],
            "-o",
        )


def _read_citation_integrity(row: dict[str, Any]) -> Iterator[KnownClaim]:
    kinds: list[str] = row["kinds"]
    group, gold = row["label"], _LABELS.get(row["label"], "flawed")
    if row["label"] == "NOT_ACCURATE":
        group = f"NOT_ACCURATE, {', '.join(kinds) or 'kind unknown'}"
        gold = _KINDS.get(kinds[0], "flawed") if kinds else "flawed"
    yield _build_claim(row, group, gold, row["article"], " ".join(row["passages"]))


def _read_healthver(row: dict[str, Any]) -> Iterator[KnownClaim]:
    yield _build_claim(row, row["label"], _LABELS[row["label"]], row["evidence"], row["evidence"])


def _read_covidfact(row: dict[str, Any]) -> Iterator[KnownClaim]:
    yield _build_claim(row, row["label"], _LABELS[row["label"]], row["source"], " ".join(row["evidence"]))


_READERS: dict[str, Callable[[dict[str, Any]], Iterator[KnownClaim]]] = {
    "scifact": _read_scifact,
    "citation_integrity": _read_citation_integrity,
    "healthver": _read_healthver,
    "covidfact": _read_covidfact,
}
