"""Languages of a text, detected by its scripts and, for Latin and Cyrillic letters, by the most common words."""

import re
from collections import Counter
from collections.abc import Collection

_SCRIPTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("Japanese", re.compile(r"[\u3040-\u30ff]")),
    ("Korean", re.compile(r"[\uac00-\ud7af]")),
    ("Chinese", re.compile(r"[\u4e00-\u9fff]")),
    ("Arabic script", re.compile(r"[\u0600-\u06ff]")),
    ("Hebrew", re.compile(r"[\u0590-\u05ff]")),
    ("Greek", re.compile(r"[\u0370-\u03ff]")),
    ("Devanagari script", re.compile(r"[\u0900-\u097f]")),
    ("Bengali", re.compile(r"[\u0980-\u09ff]")),
    ("Tamil", re.compile(r"[\u0b80-\u0bff]")),
    ("Thai", re.compile(r"[\u0e00-\u0e7f]")),
)
_COMMON = {
    "English": "the of and to in is that for with we this are by which from on be as",
    "German": "der die das und ist nicht mit den von wir eine auf werden dem zu im für auch",
    "French": "le la les des et est une que dans nous pour sur qui par avec du au ce",
    "Spanish": "el los las de y que en una con para por se del es como más este",
    "Portuguese": "o os as e que em uma com para por se do da não é como mais este",
    "Italian": "il di e che la un per con non sono del della è le si come più questo",
    "Dutch": "de het een en van is dat met voor niet wij zijn op te worden door deze",
    "Swedish": "och att det som en är av för med den till inte vi på ett om har",
    "Danish": "og at det som en er af for med den til ikke vi på et om har de",
    "Finnish": "ja on että se ei ovat tai kun myös mutta joka olla ovat tässä voidaan",
    "Polish": "i w na z że do się nie jest to o jak dla przez oraz od które",
    "Czech": "a se na že je v s do pro jako by které jsou nebo z byl tak",
    "Turkish": "ve bir bu için ile da de olarak olan çok daha gibi en ne kadar",
    "Hungarian": "a az és hogy nem is egy meg de ez van csak vagy mint lehet",
    "Romanian": "și de la în cu pe care nu un o este pentru din mai sunt ca",
    "Indonesian": "yang dan di untuk dengan ini dari pada dalam tidak akan adalah atau ke",
    "Vietnamese": "và của là các có trong được cho không một với này những để",
    "Russian": "и в не на что с по как для это из мы от при или также",
    "Ukrainian": "і в не на що з до як для це та ми від при або також є",
    "Bulgarian": "и в на не да се от за са по като с това които или",
}
_OWNERS: dict[str, list[str]] = {}
"""Languages keyed by common word."""
for _language, _words in _COMMON.items():
    for _word in frozenset(_words.split()):
        _OWNERS.setdefault(_word, []).append(_language)
_WORD = re.compile(r"[^\W\d_]+")
_READ = 20_000
_MIN_SHARE = 0.08
"""Minimum share of a language's common words among all words for the language to be recognised."""
_SHARE = 0.15
"""Minimum share of a script among all letters for its language to be named."""


def common_words() -> Collection[str]:
    """Return the most common words of all languages that are recognised by words, in lower case."""
    return _OWNERS.keys()


def languages_of(text: str) -> tuple[str, ...]:
    """Return the languages of a text, most common first; empty if none is recognised. At most one of them is recognised
    by its words, the others by their scripts."""
    sample = text[:_READ]
    words = Counter(_WORD.findall(sample.casefold()))
    letters = sum(len(word) * count for word, count in words.items())
    if not letters:
        return ()
    scripts = () if sample.isascii() else _SCRIPTS
    found = Counter({name: len(pattern.findall(sample)) for name, pattern in scripts})
    if found["Japanese"]:
        found["Japanese"] += found.pop("Chinese", 0)
    owned = Counter[str]()
    for word in words.keys() & _OWNERS.keys():
        for language in _OWNERS[word]:
            owned[language] += words[word]
    language = max(_COMMON, key=owned.__getitem__)
    if owned[language] >= _MIN_SHARE * words.total():
        found[language] = letters - sum(found.values())
    return tuple(name for name, count in found.most_common() if count >= _SHARE * letters)
