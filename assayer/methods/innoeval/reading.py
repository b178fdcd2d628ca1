"""Slow reading, of the winners only: sections of papers, texts of pages, repositories from README to code."""

from collections.abc import Sequence, Set

from assayer.flow import together
from assayer.library import Library
from assayer.methods.innoeval.codebases import account_of
from assayer.methods.innoeval.dossier import Knowledge
from assayer.methods.innoeval.excerpts import excerpt
from assayer.methods.innoeval.finds import clean, one_line
from assayer.methods.innoeval.options import Options
from assayer.methods.innoeval.selection import Ranked
from assayer.methods.innoeval.sources import KINDS, Side, Sources
from assayer.models import Absent, Codebase, FullText, Page, Paper, TextFlag
from assayer.run import Run
from assayer.world import World

__all__ = ["Reading"]


class Reading:
    """What one evaluation reads. `about` holds the words of the idea, which choose the stretches that are kept."""

    def __init__(
        self, world: World, library: Library, sources: Sources, run: Run, options: Options, about: Set[str]
    ) -> None:
        self._world, self._library, self._sources = world, library, sources
        self._run, self._options, self._about = run, options, about

    async def read(self, winners: Sequence[Ranked], side: Side) -> tuple[Knowledge, ...]:
        """Within each kind in the order given. A paper that cannot be read keeps its abstract; a page or repository
        that cannot be read is no knowledge, and counted."""
        ours = {kind: [one for one in winners if one.candidate.kind == kind] for kind in KINDS}
        read = await together(
            [
                self._papers(ours["literature"]),
                self._pages(ours["web"], side),
                self._repositories(ours["code"], side),
            ]
        )
        return tuple(one for found in read for one in found)

    async def _papers(self, winners: Sequence[Ranked]) -> list[Knowledge]:
        texts = await self._library.full_texts([one.candidate.paper for one in winners]) if winners else {}
        return [self._of_paper(one, texts.get(one.candidate.paper.id)) for one in winners]

    def _of_paper(self, winner: Ranked, full: FullText | None) -> Knowledge:
        paper = winner.candidate.paper
        limit = self._options.evidence_chars
        text = paper.abstract.strip()[:limit]
        if full is not None:
            sections = (f"{one.title}\n\n{one.text}" for one in full.sections if one.text.strip() not in text)
            text = f"{text}\n\n{excerpt(sections, self._about, max(0, limit - len(text)))}".strip()
            self._run.journal.full_texts.add(paper.id)
            self._suspect(paper, full.flags)
        return self._knowledge(winner, paper, text, full is not None)

    async def _pages(self, winners: Sequence[Ranked], side: Side) -> list[Knowledge]:
        if self._world.web is None or not winners:
            return []
        pages = await self._world.web.read([one.candidate.paper.url for one in winners])
        return self._kept([self._of_page(one, pages[one.candidate.paper.url], side) for one in winners])

    def _of_page(self, winner: Ranked, page: Page | Absent, side: Side) -> Knowledge | None:
        """A page is dated by itself before anybody else."""
        paper = winner.candidate.paper
        if isinstance(page, Absent):
            self._run.journal.drop("web page to be read", page.reason)
            return None
        record = paper.model_copy(
            update={
                "title": page.title or paper.title,
                "venue": page.site,
                "abstract": paper.abstract or page.text[:500],
                "publication_date": page.published or paper.publication_date,
            }
        )
        if not self._sources.admits(record, side):
            return None
        self._suspect(record, page.flags)
        text = excerpt([page.text], self._about, self._options.evidence_chars)
        return self._knowledge(winner, record, text, read_on=True)

    async def _repositories(self, winners: Sequence[Ranked], side: Side) -> list[Knowledge]:
        if self._world.code is None or not winners:
            return []
        until = self._run.cutoff if side == "before" else None
        names = [one.candidate.paper.title for one in winners]
        codes = await self._world.code.read(names, until)
        return self._kept([self._of_code(one, codes[one.candidate.paper.title], side) for one in winners])

    def _of_code(self, winner: Ranked, code: Codebase | Absent, side: Side) -> Knowledge | None:
        paper = winner.candidate.paper
        if isinstance(code, Absent):
            self._run.journal.drop("repository to be read", code.reason)
            return None
        record = paper.model_copy(update={"abstract": f"{paper.abstract}\n\n{code.readme[:500]}".strip()})
        if not self._sources.admits(record, side):
            return None
        self._suspect(record, code.flags)
        text = account_of(code, self._about, self._options.evidence_chars)
        return self._knowledge(winner, record, text, read_on=True)

    def _knowledge(self, winner: Ranked, paper: Paper, text: str, read_on: bool) -> Knowledge:
        self._run.journal.read.add(paper.id)
        return Knowledge(
            paper=paper,
            kind=winner.candidate.kind,
            text=clean(text, paper, self._run, self._options.evidence_chars),
            score=winner.score,
            dated=paper.publication_date is not None,
            full_text=read_on,
        )

    def _suspect(self, paper: Paper, flags: Sequence[TextFlag]) -> None:
        if any(flag.kind == "suspected_injection" for flag in flags):
            self._run.journal.suspects[paper.id] = one_line(paper.title)

    @staticmethod
    def _kept(read: Sequence[Knowledge | None]) -> list[Knowledge]:
        return [one for one in read if one is not None and one.text]
