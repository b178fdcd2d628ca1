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
from assayer.literature.paper_identity import family_name
from assayer.models import Frozen
from benchmarks.measuring import command_line, heading
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
    places: tuple[str, ...]
    warned: bool


def main() -> None:
    parser = command_line("masking", __doc__)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    lines = (options.folder / "names.jsonl").read_text("utf-8").splitlines()
    labels = map(LabelledNames.model_validate_json, lines)
    results = [found for label in labels if (found := asyncio.run(_measure(options.folder, label)))]
    print(heading(), *_tables(results), sep="\n")


async def _measure(folder: Path, label: LabelledNames) -> Survivors | None:
    read = await read_ideas([folder / label.document])
    try:
        masked = blind_idea(read.ideas[0])
    except (InputError, IndexError) as error:
        print(f"{label.document} cannot be judged: {read.rejected[0].message if read.rejected else error}")
        return None
    text = _plain(f"{masked.title}\n{masked.text}")
    return Survivors(
        label,
        tuple(f"{name}: {place}" for name in label.people if (place := _first_place(_plain(name), text))),
        tuple(name for name in label.institutions if re.search(rf"\b{re.escape(_plain(name))}\b", text)),
        masked.blinding is not None and masked.blinding.names_may_remain,
    )


def _plain(text: str) -> str:
    """Return the text without accents, with unchanged case."""
    letters = unicodedata.normalize("NFKD", text.replace("ø", "o").replace("ł", "l"))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _first_place(name: str, text: str) -> str:
    """Return the words around the first place at which the name survives, or an empty string."""
    given = re.escape(name.split(maxsplit=1)[0].rstrip("."))
    initial = f"(?:{given}|{name[0]}\\.)"
    last = re.escape(family_name(name))
    whole = rf"\b{initial}[\s,.-]{{1,3}}(?:[\w.-]{{1,15}}\s){{0,3}}{last}\b|\b{last},? {initial}"
    if found := re.search(whole, text):
        return _around(text, found)
    for found in re.finditer(rf"\b{last}\b", text):
        before, after = text[max(0, found.start() - 300) : found.start()], text[found.end() : found.end() + 700]
        cited = _CITED.match(after) or (_CITES_BEFORE.search(before) and _CITES_AFTER.match(after))
        if not cited and not _OTHER_INITIAL.match(after):
            return _around(text, found)
    return ""


def _around(text: str, found: "re.Match[str]") -> str:
    return " ".join(text[max(0, found.start() - 40) : found.end() + 40].split())


def _tables(results: Sequence[Survivors]) -> Iterator[str]:
    yield "\n| kind | documents | names | left | institutions | left | with a name left | not warned | warned in all |"
    yield "|:--|--:|--:|--:|--:|--:|--:|--:|--:|"
    for kind in [*dict.fromkeys(item.label.kind for item in results), ""]:
        chosen = [item for item in results if kind in ("", item.label.kind)]
        people, left = sum(len(item.label.people) for item in chosen), sum(len(item.names) for item in chosen)
        spots, there = sum(len(item.label.institutions) for item in chosen), sum(len(item.places) for item in chosen)
        unmasked, warned = [item for item in chosen if item.names], sum(item.warned for item in chosen)
        yield (
            f"| {kind or 'all'} | {len(chosen)} | {people} | {left} ({left / max(1, people):.1%}) | "
            f"{spots} | {there} | {len(unmasked)} | {sum(not item.warned for item in unmasked)} | {warned} |"
        )
    for item in results:
        start = f"{item.label.document} [{'warned' if item.warned else 'no warning'}]"
        yield from (f"{start} {words}" for words in (*item.names, *item.places))


if __name__ == "__main__":
    main()
