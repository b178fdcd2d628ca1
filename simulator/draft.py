"""State of an answer while it is generated: its prompt, its random numbers, and where to apply a fault."""

import re
from collections import Counter
from random import Random

from simulator.prompt import Item, Prompt
from simulator.settings import AnswerFault
from simulator.text import clip, draw_passage, extract_phrases, split_sentences

MAX_REFERENCE_DEPTH = 5
"""Depth of nested references after which recursive schemas are ended."""
_STRAY_BRACKETS = ' (compare "]}", [1, 2}, {"a": [ and ```json in the original)'
_PATTERNS = (
    "{own}. {who} reports: {other}.",
    "{own}, where {who} finds: {other}.",
    "{who}: {other}. Here: {own}.",
    "{who} bears on this ({other}): {own}.",
)
_QUESTIONS = (
    "How can one get further with {one} where {other} is all that is known?",
    "What would it take to deal with {one} when {other} cannot be relied on?",
    "Which way of looking at {one} would explain what happens to {other}?",
)
_STEPS = (
    "Step {n}: take {one} apart by what it has in common with {other}, and keep the parts that repeat.",
    "Step {n}: hold {one} fixed while {other} is varied, and record every case in which the outcome changes.",
    "Step {n}: write down beforehand what would be seen of {one} if {other} made no difference.",
    "Step {n}: repeat this on cases of {other} that were set aside, with {one} as the control.",
)
_HEADING = re.compile(r"^(?:[A-Z][a-z]+: )+")


class Draft:
    """State of an answer. `focus` contains the labelled items that the object being generated is about."""

    def __init__(self, prompt: Prompt, seed: int) -> None:
        self.prompt = prompt
        self.random = Random(seed)
        self.focus: tuple[Item, ...] = ()
        self.depth = 0
        """Number of enclosing arrays."""
        self.references = 0
        """Number of enclosing references."""
        self.used_texts: set[str] = set()
        """Names and statements used so far."""
        self.counts_faults = False
        self.chances: Counter[AnswerFault] = Counter()
        """Number of places so far where each kind of fault could be applied."""
        self.fault: AnswerFault | None = None
        self.target = 0
        """Number of the place where `fault` is applied."""
        self.is_irrelevant = False
        """Whether the object being generated is about an item judged irrelevant."""
        self.alternative_depth = 0
        """Number of enclosing alternatives; above 0, no faults are applied, because the answer could remain valid."""

    def should_inject(self, fault: AnswerFault) -> bool:
        """Count a place where this fault could be applied, and return whether to apply it here."""
        if not self.counts_faults or self.alternative_depth:
            return False
        position = self.chances[fault]
        self.chances[fault] = position + 1
        return self.fault == fault and self.target == position

    def choose_item(self, letter: str | None) -> Item | None:
        """Return the labelled item in focus, otherwise a random item with that letter; None if there is none."""
        for item in self.focus:
            if letter is None or item.letter == letter:
                return item
        items = self.list_items(letter)
        return self.random.choice(items) if items else None

    def list_items(self, letter: str | None) -> list[Item]:
        """Return the prompt's items with that letter; without a letter, the papers or, if there are none, other
        items."""
        items = self.prompt.items
        if letter is not None:
            return items.get(letter, [])
        return items.get("P") or next(iter(items.values()), [])

    def make_unknown_label(self, letter: str) -> str:
        """Return a label that the prompt does not define, with a number far above the defined ones."""
        return f"{letter}{max((item.number for item in self.list_items(letter)), default=0) + 900}"

    def get_subject(self) -> str:
        """Return the subject of the object being generated: the text of its item unless that is a paper, otherwise the
        prompt's subject."""
        for item in self.focus:
            if item.letter != "P":
                return item.text
        return self.prompt.subject

    def draw_quote(self) -> str:
        item = self.choose_item("P") or self.choose_item(None)
        text = item.text if item else self.prompt.idea
        if item and item.further_texts:
            text = self.random.choice((text, *item.further_texts))
        return draw_passage(text, self.random)

    def draw_name(self) -> str:
        phrase = self._choose_unused(extract_phrases(self.get_subject()) or ("unnamed",))
        return phrase[0].upper() + phrase[1:]

    def draw_query(self, min_length: int) -> str:
        """Return key phrases of the subject, at least `min_length` characters in total if the subject has enough."""
        subject_phrases = list(extract_phrases(self.get_subject())) or ["prior work"]
        self.random.shuffle(subject_phrases)
        query_phrases = subject_phrases[:2]
        for phrase in subject_phrases[2:]:
            if sum(map(len, query_phrases)) >= min_length:
                break
            query_phrases.append(phrase)
        return self._choose_unused((" ".join(query_phrases),))

    def draw_statement(self, min_length: int) -> str:
        """Return sentences of the subject, at least `min_length` characters in total if the subject has enough."""
        subject = self.get_subject()
        subject_sentences = split_sentences(subject) or (draw_passage(subject, self.random),)
        text = self._choose_unused(subject_sentences)
        position = subject_sentences.index(text) if text in subject_sentences else 0
        for sentence in subject_sentences[position + 1 :]:
            if len(text) >= min_length:
                break
            text += f" {sentence}"
        return text

    def draw_question(self) -> str:
        """Return a question about two phrases from the first paragraph of the prompt's subject, where papers have their
        title."""
        opening = self.prompt.subject.partition("\n\n")[0]
        first, second = self._draw_two_phrases(opening)
        return self.random.choice(_QUESTIONS).format(one=first, other=second)

    def draw_plan(self, min_length: int) -> str:
        """Return steps of a method about phrases of the subject, at least `min_length` characters in total."""
        steps = list[str]()
        while not steps or sum(map(len, steps)) < min_length:
            first, second = self._draw_two_phrases(self.get_subject())
            steps.append(self.random.choice(_STEPS).format(n=len(steps) + 1, one=first, other=second))
        return " ".join(steps)

    def _draw_two_phrases(self, text: str) -> tuple[str, str]:
        candidates = extract_phrases(text) or ("the outcome",)
        return self.random.choice(candidates), self.random.choice(candidates)

    def draw_text(self, cites: bool, max_length: int) -> str:
        """Return one or two sentences made from the idea and the evidence; with `cites`, they contain labels."""
        for _ in range(3):
            text = self._compose_text(cites, max_length)
            if text not in self.used_texts:
                break
        self.used_texts.add(text)
        return text

    def _compose_text(self, cites: bool, max_length: int) -> str:
        papers = [item for item in self.focus if item.letter == "P"] or self.prompt.items.get("P")
        clause_length = max_length // 2 - 20
        subject_clause = _extract_clause(draw_passage(self.get_subject(), self.random), clause_length)
        if not papers:
            return f"{subject_clause}."
        item = self.random.choice(papers)
        cited_clause = _extract_clause(draw_passage(item.text, self.random), clause_length)
        source = "earlier work"
        if cites:
            source = f"[{self.make_unknown_label('P') if self.should_inject('unknown_label') else item.label}]"
        text = self.random.choice(_PATTERNS).format(own=subject_clause, other=cited_clause, who=source)
        text = text[0].upper() + text[1:]
        second = self.random.choice(papers)
        if cites and second is not item and len(text) + 30 < max_length and self.random.random() < 0.3:
            text += f" See [{second.label}] too."
        return text

    def append_brackets(self, text: str, max_length: int) -> str:
        """Return the text followed by brackets, quotes and fences that a careless parser would stumble over."""
        return clip(text, max_length - len(_STRAY_BRACKETS)) + _STRAY_BRACKETS

    def _choose_unused(self, candidates: tuple[str, ...]) -> str:
        """Return a candidate not used yet in this answer; if all are used, a variant of one of them."""
        start = self.random.randrange(len(candidates))
        for offset in range(len(candidates)):
            candidate = candidates[(start + offset) % len(candidates)] or "Unnamed"
            if candidate.casefold() not in self.used_texts:
                break
        else:
            candidate = f"{candidate.rstrip('.')}, variant {len(self.used_texts) + 1}"
        self.used_texts.add(candidate.casefold())
        return candidate


def _extract_clause(sentence: str, max_length: int) -> str:
    """Return a sentence without its heading and full stop, for use inside another sentence."""
    return clip(_HEADING.sub("", sentence), max_length).rstrip(".,;: ")
