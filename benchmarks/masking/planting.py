"""Invented people planted into real ideas, and which of the planted words are left once the ideas are masked."""

import random
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assayer.blinding.blind import blinded
from assayer.ideas.parsing import parse_idea
from assayer.models import Idea
from benchmarks.masking.forms import Form
from benchmarks.masking.words import WordPool

__all__ = ["PlantedWord", "plant_form"]

_REFERENCES = "## References\n\nDoe, A. (2019). A paper. Journal of Tests."
_OPENING = "We study how often a claim that a model makes is borne out by what it cites, and what can be done about it."
_SHORTEST_SURNAME = 4
_LONGEST_HEADING = 250


class PlantedWord(NamedTuple):
    form: str
    kind: str
    word: str
    survived: bool


def plant_form(form: Form, ideas: Sequence[Idea], pool: WordPool, draw: random.Random) -> Iterator[PlantedWord]:
    """One person an idea; words that the idea has of its own are left out."""
    for idea in ideas:
        fields = _fields(pool, draw)
        title, body = idea.title.rstrip("…"), _body(idea)
        words = [(kind, word) for kind, word in _words(form, fields) if not _stands(word, f"{title}\n{body}")]
        masked = blinded(_planted(form, fields, idea.source, title, body))
        seen = "\n".join([masked.title, masked.text, *(f"{one.title}\n{one.text}" for one in masked.sections)])
        for kind, word in words:
            yield PlantedWord(form.name, kind, word, _stands(word, seen))


def _fields(pool: WordPool, draw: random.Random) -> dict[str, str]:
    """With the words that tell the institutions under `iw` and `iw2`."""
    name, other = draw.sample(pool.people, 2)
    (place, word), (second, second_word) = draw.sample(pool.institutions, 2)
    role = draw.choice(pool.roles)
    given, surname = _plain(name.split()[0]), _plain(_surname(name))
    return {
        "n": name,
        "n2": other,
        "f": _surname(name),
        "f2": _surname(other),
        "N": name.upper(),
        "g": given,
        "l": surname,
        "h": f"{given}-{surname}",
        "e": f"{given}.{surname}@uni-x.edu",
        "i": place,
        "i2": second,
        "iw": word,
        "iw2": second_word,
        "b": draw.choice(pool.bare),
        "r": role,
        "R": role[0].upper() + role[1:],
        "u": draw.choice(pool.funders),
        "o": draw.choice(pool.foundations),
        "c": draw.choice(pool.codes),
    }


def _surname(name: str) -> str:
    """With its particles."""
    words = name.split()
    particle = next((place for place, word in enumerate(words) if place and word[0].islower()), len(words) - 1)
    return " ".join(words[particle:])


def _plain(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word.lower().replace("ı", "i"))
    return "".join(letter for letter in decomposed if letter.isascii() and letter.isalpha())


def _words(form: Form, fields: dict[str, str]) -> list[tuple[str, str]]:
    """What is to be masked, with its kind."""
    used = set(re.findall(r"\{(\w+)\}", f"{form.text} {form.also}"))
    spelled = {"g", "l"} & used
    found = [("name", word) for field in ("n", "n2", "N") if field in used for word in _name_words(fields[field])]
    found += [("name", fields[field].split()[-1]) for field in ("f", "f2") if field in used]
    found += [("affiliation", fields[f"{field[0]}w{field[1:]}"]) for field in ("i", "i2") if field in used]
    if "b" in used and not spelled:  # otherwise it is part of an address
        found.append(("affiliation", fields["b"]))
    if "e" in used or spelled:
        found.append(("address of mail", fields["l"] if len(fields["l"]) >= _SHORTEST_SURNAME else fields["g"]))
    kinds = {"h": "account or page", "c": "grant number", "u": "funder"}
    found += [(kind, fields[field]) for field, kind in kinds.items() if field in used]
    if "o" in used:
        found.append(("funder", fields["o"].split()[0]))
    if {"r", "R"} & used:
        found.append(("role", fields["r"]))
    if "orcid" in form.text:
        found.append(("ORCID iD", "1825-0097"))
    return list(dict.fromkeys(found))


def _name_words(name: str) -> tuple[str, str]:
    words = name.split()
    return words[0], words[-1]


def _stands(word: str, text: str) -> bool:
    flags = re.I if " " in word else 0
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, flags) is not None


def _body(idea: Idea) -> str:
    """Without a line of its title."""
    first, _, rest = idea.text.partition("\n")
    titled = first.startswith("#") or idea.title.lower() in first.lower() or rest.startswith("\n")
    return rest.strip() if rest and titled and len(first) < _LONGEST_HEADING else idea.text


def _planted(form: Form, fields: dict[str, str], source: str, title: str, body: str) -> Idea:
    text, also = (one.format(t=title, **fields) for one in (form.text, form.also))
    paragraphs = body.split("\n\n")
    middle = max(1, len(paragraphs) // 2)

    def with_middle(inserted: str) -> str:
        return "\n\n".join([*paragraphs[:middle], inserted, *paragraphs[middle:]])

    parts = {
        "title": [f"# {text}", body],
        "head": [f"# {title}", text, body],
        "head and middle": [f"# {title}", text, with_middle(also)],
        "middle": [f"# {title}", with_middle(text)],
        "end": [f"# {title}", body, text],
        "after the references": [f"# {title}", body, _REFERENCES, text],
        "after a paragraph": [f"{_OPENING}\n{text}", body],
    }
    named = {"title": text, "after a paragraph": None}.get(form.place, title)
    return parse_idea("\n\n".join(parts[form.place]), source, named)
