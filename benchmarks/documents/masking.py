"""`python -m benchmarks.documents.masking FOLDER`: names that blind mode leaves in real documents.

The folder holds a file `names.jsonl`. Each of its lines labels one document: `document` (path from the folder), `kind`,
`people` (full names of its authors) and `institutions`.

A name survives if the masked title or text has the family name beside a given name or its initial, or alone outside a
citation such as `(Lee et al., 2019)`, which blind mode keeps. The reference list is not searched.
"""

import asyncio
import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from assayer.blinding.blind import blind_idea
from assayer.errors import InputError
from assayer.literature.paper_identity import extract_family_name
from assayer.models import Frozen
from benchmarks.measuring import build_parser, format_heading
from workers.documents.idea_reader import read_ideas

_WORD = r"[A-Z][\w.’'-]*"
_CITED = re.compile(
    rf"(?:['’]s)?(?:,? (?:and |& )?{_WORD}(?: {_WORD}){{0,2}}){{0,8}},?(?: et al\.?,?)? ?"
    r"(?:(?:[(\[]{1,2}|(?=[12]))\d|\[-?@)"
)
_CITES_BEFORE = re.compile(r"\([^()]{0,300}$|@[\w:.-]*$")
_CITES_AFTER = re.compile(r"[^()]{0,300}\b(?:(?:19|20)\d\d[a-z]?\b|n\. ?d\.)[^()]{0,300}\)")
_OTHER_INITIAL = re.compile(r",? [A-Z]\.")


class LabelledNames(Frozen):
    document: str
    kind: str
    people: tuple[str, ...]
    institutions: tuple[str, ...] = ()


class Survivors(NamedTuple):
    """Names and institutions that survive in one document, and whether its report warns that names may remain."""

    label: LabelledNames
    names: tuple[str, ...]
    institutions: tuple[str, ...]
    has_warning: bool


def main() -> None:
    parser = build_parser("masking", __doc__)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    lines = (options.folder / "names.jsonl").read_text("utf-8").splitlines()
    labels = map(LabelledNames.model_validate_json, lines)
    results = [result for label in labels if (result := asyncio.run(_measure(options.folder, label)))]
    print(format_heading(), *_format_tables(results), sep="\n")


async def _measure(folder: Path, label: LabelledNames) -> Survivors | None:
    reading = await read_ideas([folder / label.document])
    try:
        masked_idea = blind_idea(reading.ideas[0])
    except (InputError, IndexError) as error:
        print(f"{label.document} cannot be judged: {reading.rejected[0].message if reading.rejected else error}")
        return None
    text = _strip_accents(f"{masked_idea.title}\n{masked_idea.text}")
    return Survivors(
        label,
        tuple(f"{name}: {context}" for name in label.people if (context := _find_survivor(_strip_accents(name), text))),
        tuple(name for name in label.institutions if re.search(rf"\b{re.escape(_strip_accents(name))}\b", text)),
        masked_idea.blinding is not None and masked_idea.blinding.names_may_remain,
    )


def _strip_accents(text: str) -> str:
    """Return the text without accents, with unchanged case."""
    letters = unicodedata.normalize("NFKD", text.replace("ø", "o").replace("ł", "l"))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _find_survivor(name: str, text: str) -> str:
    """Return the words around the first place at which the name survives, or an empty string."""
    given_name = re.escape(name.split(maxsplit=1)[0].rstrip("."))
    initial = f"(?:{given_name}|{name[0]}\\.)"
    last = re.escape(extract_family_name(name))
    pattern = rf"\b{initial}[\s,.-]{{1,3}}(?:[\w.-]{{1,15}}\s){{0,3}}{last}\b|\b{last},? {initial}"
    if match := re.search(pattern, text):
        return _get_context(text, match)
    for match in re.finditer(rf"\b{last}\b", text):
        text_before, text_after = (
            text[max(0, match.start() - 300) : match.start()],
            text[match.end() : match.end() + 700],
        )
        is_citation = _CITED.match(text_after) or (_CITES_BEFORE.search(text_before) and _CITES_AFTER.match(text_after))
        if not is_citation and not _OTHER_INITIAL.match(text_after):
            return _get_context(text, match)
    return ""


def _get_context(text: str, match: "re.Match[str]") -> str:
    return " ".join(text[max(0, match.start() - 40) : match.end() + 40].split())


def _format_tables(results: Sequence[Survivors]) -> Iterator[str]:
    yield "\n| kind | documents | names | left | institutions | left | with a name left | not warned | warned in all |"
    yield "|:--|--:|--:|--:|--:|--:|--:|--:|--:|"
    for kind in [*dict.fromkeys(result.label.kind for result in results), ""]:
        kind_results = [result for result in results if kind in ("", result.label.kind)]
        people, names_left = (
            sum(len(result.label.people) for result in kind_results),
            sum(len(result.names) for result in kind_results),
        )
        institutions, institutions_left = (
            sum(len(result.label.institutions) for result in kind_results),
            sum(len(result.institutions) for result in kind_results),
        )
        unmasked, warned = (
            [result for result in kind_results if result.names],
            sum(result.has_warning for result in kind_results),
        )
        yield (
            f"| {kind or 'all'} | {len(kind_results)} | {people} | {names_left} ({names_left / max(1, people):.1%}) | "
            f"{institutions} | {institutions_left} | {len(unmasked)} "
            f"| {sum(not result.has_warning for result in unmasked)} | {warned} |"
        )
    for result in results:
        start = f"{result.label.document} [{'warned' if result.has_warning else 'no warning'}]"
        yield from (f"{start} {words}" for words in (*result.names, *result.institutions))


if __name__ == "__main__":
    main()
