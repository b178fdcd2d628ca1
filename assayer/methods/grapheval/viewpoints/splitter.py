"""Extract viewpoints without a language model: sentences and clauses, with their pronouns resolved.

A sentence that begins with `It`, `This method`, `These results` … is prefixed with the term that the previous sentence
introduces. If no such term is found, the two sentences are joined, or the sentence is marked as not self-contained."""

import re
from collections.abc import Iterator, Sequence

from assayer.methods.grapheval.graph.records import Viewpoint
from assayer.text.headings import find_headings, split_at
from assayer.text.sentences import sentences

SPLITTER = "splitter v1"
"""Name and version of the splitter. The version increases with every change that alters the viewpoints."""

_MIN_WORDS = 5
_MIN_CLAUSE_WORDS = 6
"""Minimum number of words on each side of a clause boundary at which the clause is split off."""
_MAX_JOINED_WORDS = 60
"""Maximum number of words in two sentences that are joined into one viewpoint."""

_LINKING = re.compile(
    r"^(?:however|moreover|furthermore|in addition|additionally|therefore|thus|hence|consequently|as a result|"
    r"in particular|specifically|finally|lastly|first(?:ly)?|second(?:ly)?|third(?:ly)?|besides|nevertheless|"
    r"nonetheless|in contrast|on the other hand|to this end|similarly|likewise|overall|in short|in summary|"
    r"and|but|so|yet|also|then)\b(?:,\s*|\s+(?=(?:it|this|these|they|we|the)\b))",
    re.I,
)
"""Matches an opening that only links the sentence to the one before."""
_POINTING = re.compile(
    r"^(?:(?:in|with|for|from|to|by|on|under|through|using|based on|because of|despite)\s+)?"
    r"(?P<word>it|its|they|their|them|this|these|that(?=\s+(?:is|was|would|will|can)\b)|those|such|he|she|both|"
    r"the former|the latter|the same|doing so|here)\b",
    re.I,
)
"""Matches an opening whose referent is in an earlier sentence. `It is known that …` has no referent, and is excluded by
`_EXPLETIVE`."""
_EXPLETIVE = re.compile(r"^it\s+(?:is|was|has been|remains|seems)\s+\w+(?:\s+\w+)?\s+(?:that|whether|to|how)\b", re.I)
_FORWARD = re.compile(
    r"^(?:(?:in|with|for|through|by)\s+)?(?:this|these)\s+(?:paper|work|article|study|proposal|project|research|thesis)\b",
    re.I,
)
"""Matches an opening that refers to the idea itself and needs no earlier sentence."""

_CLAUSES = re.compile(
    r";\s+|,\s+(?=(?:and|but|while|whereas|yet)\s+(?:we|it|they|this|these|the|our|there|such)\b)", re.I
)
_JOINER = re.compile(r"^(?:and|but|while|whereas|yet)\s+")
_ITEM = re.compile(r"^\(?(?:\d{1,2}|[ivx]{1,4}|[a-h])\)\s+")
_RUN_IN = re.compile(r"^[^\S\n]*+(?:\*\*|__)[^*_\n]{3,120}(?:\*\*|__):?[^\S\n]*+$", re.MULTILINE)
"""Matches a bold heading on a line of its own."""

_INTRODUCED = re.compile(
    r"\b(?:propos\w+|introduc\w+|present\w*|develop\w*|design\w*|build|built|call(?:ed)?|named|termed|dubbed)\s+"
    r"(?:(?:an?|the|our|two|three|several|new|novel)\s+)*(?!(?:to|that|how|by|in|on|for|and)\b)"
    r"(?P<term>[^,;:.()]{3,80}?)(?=\s+(?:that|which|to|for|with|based|using|by|where|in|on|from|as|and|of)\b|[,;:.()]|$)",
    re.I,
)
_VERB = re.compile(r"\b(?:is|are|was|were|has|have|can|could|may|will|would|does|do)\b", re.I)
_NAME = re.compile(r"\b(?:[A-Z][a-z]*[A-Z][\w-]*|[A-Z]{2,}[\w-]*|[^\W\d]*+\d\w*?[A-Z]\w*+)\b")
_CITED = re.compile(r"\((?=[^()]*+\))[^()]*?\b(?:19|20)\d{2}[^()]*+\)|\[\d+(?:,\s*\d+)*\]")


def split_viewpoints(text: str, limit: int) -> tuple[Viewpoint, ...]:
    """Split a text into up to `limit` viewpoints, in text order; headings are left out."""
    viewpoints: list[Viewpoint] = []
    for paragraph in _split_into_paragraphs(text):
        viewpoints += _resolve_references(_split_into_clauses(paragraph))
        if len(viewpoints) >= limit:
            break
    unique: dict[str, Viewpoint] = {}
    for viewpoint in viewpoints[:limit]:
        unique.setdefault(viewpoint.text, viewpoint)
    return tuple(unique.values())


def refers_back(statement: str) -> bool:
    """Return whether a statement begins with a word that refers to earlier text."""
    unlinked_statement = _LINKING.sub("", statement)
    return (
        bool(_POINTING.match(unlinked_statement))
        and not _EXPLETIVE.match(unlinked_statement)
        and not _FORWARD.match(unlinked_statement)
    )


def _split_into_paragraphs(text: str) -> Iterator[str]:
    for section in split_at(text, find_headings(text), ""):
        text = _RUN_IN.sub("\n", section.text)
        yield from (block for block in re.split(r"\n\s*\n", text) if block.strip())


def _split_into_clauses(paragraph: str) -> list[str]:
    """Return a paragraph's sentences, split further at clauses with their own subject."""
    clauses: list[str] = []
    for sentence in sentences(paragraph, min_words=_MIN_WORDS):
        open_clause = ""
        for piece in _CLAUSES.split(sentence):
            joined_clause = f"{open_clause}, {piece}" if open_clause else piece
            if open_clause and min(_count_words(open_clause), _count_words(piece)) >= _MIN_CLAUSE_WORDS:
                clauses.append(open_clause)
                joined_clause = piece
            open_clause = joined_clause
        clauses.append(open_clause)
    return clauses


def _resolve_references(clauses: Sequence[str]) -> list[Viewpoint]:
    """Turn each clause into a viewpoint. If its opening word refers back, the referent is added if it can be found."""
    resolved_viewpoints: list[Viewpoint] = []
    for words in clauses:
        bare_words = _ITEM.sub("", _JOINER.sub("", _LINKING.sub("", words)))
        previous = resolved_viewpoints[-1] if resolved_viewpoints else None
        if not refers_back(bare_words):
            resolved_viewpoints.append(Viewpoint(text=_format_sentence(bare_words), words=words))
        elif previous is not None and (term := _find_subject(previous.words)):
            resolved_viewpoints.append(
                Viewpoint(text=f"{_capitalise(term)}: {_format_sentence(bare_words)}", words=words)
            )
        elif (
            previous is not None
            and previous.self_contained
            and _count_words(previous.text) + _count_words(bare_words) <= _MAX_JOINED_WORDS
        ):
            resolved_viewpoints[-1] = Viewpoint(
                text=f"{previous.text} {_format_sentence(bare_words)}", words=f"{previous.words} {words}"
            )
        else:
            resolved_viewpoints.append(Viewpoint(text=_format_sentence(bare_words), words=words, self_contained=False))
    return resolved_viewpoints


def _find_subject(sentence: str) -> str:
    """Return the term that a sentence introduces. If there is none, return the sentence's only name, or an empty
    string. `method` alone does not count as a term."""
    uncited_sentence = _CITED.sub("", sentence)
    introduction = _INTRODUCED.search(uncited_sentence)
    term = introduction["term"].strip() if introduction else ""
    if (len(term.split()) > 1 and not _VERB.search(term)) or _NAME.fullmatch(term):
        return term
    names = list(dict.fromkeys(_NAME.findall(uncited_sentence)))
    return names[0] if len(names) == 1 else ""


def _format_sentence(text: str) -> str:
    stripped_text = text.strip()
    ended_sentence = (
        stripped_text if stripped_text.endswith((".", "!", "?", "”", '"', ":")) else f"{stripped_text.rstrip(',;')}."
    )
    return _capitalise(ended_sentence)


def _capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]


def _count_words(text: str) -> int:
    return len(text.split())
