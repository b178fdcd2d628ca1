"""Find concepts, methods and claims in a title and an abstract by wording alone, without a model.

Phrases are runs of words between stop words, as in RAKE (Rose et al., 2010). An acronym, or a phrase that
ends like the name of a procedure, is a method; a phrase in the title or a repeated phrase is a concept; a sentence that
states that something is shown or found is a claim. The rules are for English; other languages yield few names."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assayer.models import ContentKind
from assayer.text.names import normalise_name
from assayer.text.sentences import sentence_spans

MAX_NAMES = 16
MAX_CLAIMS = 3
_READ_CHARS = 6_000
"""Maximum characters read from an abstract; a longer one is usually a whole paper stored by mistake."""
_MAX_NAME_CHARS = 60
_MIN_WORDS, _MAX_WORDS = 2, 4
"""Minimum and maximum words of a phrase."""

_ACRONYM = re.compile(r"[A-Za-z]?[A-Z][A-Za-z]{0,12}[A-Z0-9][A-Za-z0-9]{0,6}(?:-[A-Z0-9][A-Za-z0-9]{0,5})?")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]+(?:-[A-Za-z0-9]+){0,3}|[^\sA-Za-z]")
_BUILDS_ON = re.compile(
    r"\b(?:buil(?:d|ds|t|ding) (?:up)?on|extend(?:s|ed|ing)?|based on|inspired by|derived from|variants? of"
    r"|generali[sz](?:e|es|ed|ing)|adapt(?:s|ed|ing)?|improv(?:e|es|ed|ing) (?:up)?on|modif(?:y|ies|ied|ying))\b",
    re.IGNORECASE,
)
_INTRODUCES = re.compile(
    r"\b(?:propos(?:e|es|ed|ing)|introduc(?:e|es|ed|ing)|develop(?:s|ed|ing)?|call(?:s|ed)?|named|dubbed|termed)\b",
    re.IGNORECASE,
)
_REACH = 90
"""Maximum distance in characters between a name and the word that introduces it, such as `propose` or `call`."""
_CLAIMS = re.compile(
    r"\b(?:shows?|shown|showed|demonstrat(?:e|es|ed|ing)|prov(?:e|es|ed)|f(?:ind|ound)|observe|observed|reveal(?:s|ed)?"
    r"|suggests?|indicates?|confirm(?:s|ed)?|outperform(?:s|ed|ing)?|achiev(?:e|es|ed|ing)|surpass(?:es|ed)?"
    r"|reduc(?:es|ed)|improves|improved|increased|decreased)\b",
    re.IGNORECASE,
)
_METHOD_NOUNS_TEXT = """
algorithm analysis assay attention augmentation autoencoder bandit bootstrap classifier clustering codec convolution
decoder decoding descent detector diffusion distillation dropout embedding encoder encoding ensemble estimation
estimator factorization filter filtering finetuning fine-tuning forest framework generator gradient imaging
inference interpolation kernel learning likelihood localization machine matching microscopy mixture model modeling
modelling network normalization optimization optimizer parser parsing perceptron planner planning policy pooling
pre-training pretraining process programming prompting propagation protocol pruning quantization regression
regularization reinforcement retrieval sampler sampling search segmentation sequencing simulation simulator solver
spectroscopy synthesis tokenization tokenizer training transform transformer tree
"""
_METHOD_NOUNS = frozenset(_METHOD_NOUNS_TEXT.split())
_STOP_WORDS_TEXT = """
a about above abstract accurate achieve achieves across additional adapts address after all allow allows along
already also although among an analyze and another any approach approaches are art as at available average baseline
based be because been before being best better between beyond both but by can cannot case challenge challenges
challenging code common compare compared comparison complex consider consistently could current data dataset
datasets demonstrate demonstrated demonstrates depend depends describe design designed despite develop developed
different difficult directly do does due during each effective effectively effectiveness efficient efficiently eight
either empirical empirically enable enables especially establish etc evaluate evaluated evaluation even existing
experimental experiments explore extensive extend extends few field find finding findings finally first five faster
focus for four from fully further furthermore general generally given good great group had has have having here high
higher highly how however i if important improve improved improvement improvements improves improving in include
including increase increasing instead into introduce introduced introduces investigate is issue issues it its itself
key known large largely larger lead leads less level like limited low lower main major make makes making many may
method methods metric metrics might more moreover most much multiple must namely near need needs new next nine no
nor not novel novelty number numbers of often on one only onto open optimal or order other others our ours out
outperform outperforms over own paper papers particular particularly per perform performance performs popular
possible potential practical present presents previous previously prior problem problems promising propose proposed
proposes provide provided provides providing public publicly question questions range real recent recently reduce
reduces related remain remains report require required requires requiring research respectively result results same
section see seven several show showed shown shows significant significantly similar simple simply since single six
small so some specific specifically standard state state-of-the-art still studied studies study such suggest
superior task tasks technique techniques ten than that the their them then theoretical there therefore these they
this those though three through thus to together too top toward towards traditional two typical typically under
understanding unified unlike until up upon us use used useful user users uses using usually various very via was way
ways we well were what when where whereas whether which while who whole whose why wide widely will with within
without work works would yet you your
"""
_STOP_WORDS = frozenset(_STOP_WORDS_TEXT.split())
_NOT_NAMES_TEXT = """
aaai acl cvpr eccv emnlp iccv iclr icml ieee naacl neurips nips ii iii iv sota usa uk url
"""
_NOT_NAMES = frozenset(_NOT_NAMES_TEXT.split())


class TextPart(NamedTuple):
    """Range of characters in the combined text of title and abstract."""

    start: int
    end: int


class Mention(NamedTuple):
    kind: ContentKind
    name: str
    normalised: str
    introduced: bool
    built_on: bool
    sentence: TextPart


class FoundContents(NamedTuple):
    mentions: Sequence[Mention]
    """Mentions in order of appearance. If there are too many, those in the title and repeated ones take precedence."""
    claims: Sequence[TextPart]


class _Phrase(NamedTuple):
    start: int
    name: str


def text_with_title(title: str, abstract: str) -> str:
    """Return the combined text of title and abstract, to which the offsets of parts refer."""
    return f"{title}\n{abstract}"


def contents_of(title: str, abstract: str) -> FoundContents:
    """Return at most `MAX_NAMES` names and `MAX_CLAIMS` claims of a paper, in time linear in the text length."""
    read, after = abstract[:_READ_CHARS], len(title) + 1
    sentences = [TextPart(after + start, after + end) for start, end in sentence_spans(read)]
    text = text_with_title(title, read)
    found = _Names()
    for part in (TextPart(0, len(title)), *sentences):
        found.read(text, part, in_title=part.start == 0)
    claims = [sentence for sentence in sentences if _CLAIMS.search(text, sentence.start, sentence.end)]
    return FoundContents(found.chosen(), claims[-MAX_CLAIMS:])


class _Names:
    """Names found in one text."""

    def __init__(self) -> None:
        self._mentions: dict[tuple[ContentKind, str], Mention] = {}
        self._weights: dict[tuple[ContentKind, str], int] = {}

    def read(self, text: str, part: TextPart, in_title: bool) -> None:
        part_text = text[part.start : part.end]
        builds, introduces = _ends(_BUILDS_ON, part_text), _ends(_INTRODUCES, part_text)
        for phrase in _phrases(part_text):
            kind = _kind(phrase.name)
            normalised = normalise_name(phrase.name)
            if not normalised or normalised in _NOT_NAMES or len(phrase.name) > _MAX_NAME_CHARS:
                continue
            key = (kind, normalised)
            names_paper = in_title and phrase.start == 0 and part_text[len(phrase.name) :].startswith(":")
            introduced = names_paper or (_is_acronym(phrase.name) and _follows(phrase.start, introduces))
            built_on = _follows(phrase.start, builds)
            before = self._mentions.get(key)
            if before is None:
                self._mentions[key] = Mention(kind, phrase.name, normalised, introduced, built_on, part)
            else:
                self._mentions[key] = before._replace(
                    introduced=before.introduced or introduced,
                    built_on=before.built_on or built_on,
                    sentence=part if built_on and not before.built_on else before.sentence,
                )
            self._weights[key] = self._weights.get(key, 0) + (3 if in_title else 1)

    def chosen(self) -> list[Mention]:
        """Return the methods, and the concepts that are named in the title or that recur; if there are too many, those
        with the highest weight."""
        relevant = [
            key
            for key, mention in self._mentions.items()
            if mention.kind == "method" or mention.built_on or self._weights[key] > 1
        ]
        kept = set(sorted(relevant, key=lambda key: -self._weights[key])[:MAX_NAMES])
        return [self._mentions[key] for key in relevant if key in kept]


def _phrases(part_text: str) -> Iterator[_Phrase]:
    """Yield acronyms, and runs of words between stop words and punctuation; of a long run, only the end is kept."""
    run: list[re.Match[str]] = []
    for word in _WORD.finditer(part_text):
        if word[0][0].isalpha() and word[0].lower() not in _STOP_WORDS:
            run.append(word)
            if _is_acronym(word[0]):
                yield _Phrase(word.start(), word[0])
            continue
        yield from _run_phrases(part_text, run)
        run = []
    yield from _run_phrases(part_text, run)


def _run_phrases(part_text: str, run: Sequence[re.Match[str]]) -> Iterator[_Phrase]:
    """Yield the end of a run, and also its last two words if they name a method: many papers share `contrastive
    learning`."""
    for length in dict.fromkeys((min(len(run), _MAX_WORDS), _MIN_WORDS)):
        words = run[-length:]
        name = part_text[words[0].start() : words[-1].end()] if words else ""
        if len(words) >= _MIN_WORDS and (length == min(len(run), _MAX_WORDS) or _kind(name) == "method"):
            yield _Phrase(words[0].start(), name)


def _is_acronym(word: str) -> bool:
    return _ACRONYM.fullmatch(word) is not None


def _kind(name: str) -> ContentKind:
    """Return the kind of a name, determined from the name alone so that it is the same in all papers."""
    last = normalise_name(name.rsplit(maxsplit=1)[-1]) if " " in name else ""
    return "method" if _is_acronym(name) or last in _METHOD_NOUNS else "concept"


def _ends(pattern: re.Pattern[str], part_text: str) -> list[int]:
    return [match.end() for match in pattern.finditer(part_text)]


def _follows(start: int, ends: Sequence[int]) -> bool:
    return any(0 <= start - end <= _REACH for end in ends)
