"""Extract an idea's parts, of six kinds, and digest them for later prompts."""

from collections.abc import Iterable

from assayer.citing.labels import strip_citations
from assayer.evaluation_context import EvaluationContext
from assayer.methods.innoeval.options import InnoEvalOptions
from assayer.methods.innoeval.schemas import ExtractionQuestion
from assayer.methods.innoeval.tasks import EXTRACTION
from assayer.models import Frozen


class IdeaPart(Frozen):
    """A part of the six-tuple, under the name that groundings use."""

    name: str
    """The part's name: `summary`, `motivation 1`, `research question 2`, `method 3`, `settings`, `results`."""
    text: str


class SixTuple(Frozen):
    """An idea divided into six kinds of parts. A part that the idea does not contain is None or empty; nothing is
    invented."""

    tldr: str | None = None
    motivations: tuple[str, ...] = ()
    research_questions: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    settings: str | None = None
    results: str | None = None

    @property
    def parts(self) -> tuple[IdeaPart, ...]:
        """The parts that the idea contains, in standard order."""
        several = {
            "motivation": self.motivations,
            "research question": self.research_questions,
            "method": self.methods,
        }
        named_parts = [("summary", self.tldr)]
        named_parts += [
            (f"{name} {n}", text) for name, texts in several.items() for n, text in enumerate(texts, start=1)
        ]
        named_parts += [("settings", self.settings), ("results", self.results)]
        return tuple(IdeaPart(name=name, text=text) for name, text in named_parts if text)


async def extract_parts(context: EvaluationContext[InnoEvalOptions]) -> SixTuple:
    """Extract the idea's parts. Raises LlmError or BudgetExhausted if the request fails."""
    answer = await context.ask(EXTRACTION, ExtractionQuestion(idea=context.text))
    return SixTuple(
        tldr=strip_citations(answer.tldr or "") or None,
        motivations=_strip_all(answer.motivations),
        research_questions=_strip_all(answer.research_questions),
        methods=_strip_all(answer.methods),
        settings=strip_citations(answer.settings or "") or None,
        results=strip_citations(answer.results or "") or None,
    )


def _strip_all(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(text for text in map(strip_citations, texts) if text)


def format_digest(title: str, six_tuple: SixTuple) -> str:
    """Return the idea's title and parts as one text, with which every prompt after the extraction begins."""
    return "\n\n".join([f"Title: {title}", *(f"{part.name.capitalize()}: {part.text}" for part in six_tuple.parts)])
