"""Read the selected sources: sections of papers, texts of pages, READMEs and code of repositories, and descriptions of
data sets."""

from collections.abc import Sequence, Set

from assayer.citing.evidence import ShownPlace
from assayer.evaluation_context import EvaluationContext
from assayer.methods.innoeval.dimensions import EvidenceKind
from assayer.methods.innoeval.evidence_pack import ReadSource
from assayer.methods.innoeval.options import InnoEvalOptions
from assayer.methods.innoeval.prompt_evidence import clean_text
from assayer.methods.innoeval.search.excerpts import cut_excerpt, cut_repository_excerpt
from assayer.methods.innoeval.search.fast_search import SOURCE_KINDS, SOURCE_NOUNS, CutoffSide, FastSearch
from assayer.methods.innoeval.search.hybrid_selection import RankedCandidate
from assayer.methods.scholareval.paper_evidence import MIN_EXCERPT_CHARS
from assayer.models import Absent, Codebase, FullText, Paper, WebPage
from assayer.run.concurrency import gather_all
from assayer.text.sanitise import sanitise


class SlowReader:
    """Reads one evaluation's selected sources. `idea_words` holds the idea's words, by which spans of text are
    selected."""

    def __init__(self, context: EvaluationContext[InnoEvalOptions], sources: FastSearch, idea_words: Set[str]) -> None:
        self._backends, self._library, self._sources = context.backends, context.library, sources
        self._run, self._options, self._idea_words = context.run, context.options, idea_words

    async def read(self, candidates: Sequence[RankedCandidate], cutoff_side: CutoffSide) -> tuple[ReadSource, ...]:
        """Read the candidates, keeping their order within each kind. If a paper's full text cannot be read, its
        abstract is used. A page or repository that cannot be read is left out, and the journal records the omission."""
        by_kind = {
            kind: [candidate for candidate in candidates if candidate.candidate.kind == kind] for kind in SOURCE_KINDS
        }
        read = await gather_all(
            [
                self._read_papers(by_kind["literature"], cutoff_side),
                self._read_pages(by_kind["web"], cutoff_side),
                self._read_repositories(by_kind["code"], cutoff_side),
            ]
        )
        datasets = self._drop_unread([self._read_dataset(item) for item in by_kind["data"]])
        return (*(item for sources in read for item in sources), *datasets)

    async def _read_papers(self, candidates: Sequence[RankedCandidate], cutoff_side: CutoffSide) -> list[ReadSource]:
        papers = [candidate.candidate.paper for candidate in candidates]
        texts = await self._library.full_texts(papers, later=cutoff_side == "after") if candidates else {}
        return self._drop_unread(
            [
                self._read_paper(candidate, texts.get(candidate.candidate.paper.id), cutoff_side)
                for candidate in candidates
            ]
        )

    def _read_paper(
        self, ranked_candidate: RankedCandidate, full_text: FullText | None, cutoff_side: CutoffSide
    ) -> ReadSource | None:
        paper = ranked_candidate.candidate.paper
        limit, beyond_abstract = self._options.evidence_chars, False
        text = paper.abstract.strip()[:limit]
        if full_text is not None:
            sections = (
                f"{section.title}\n\n{section.text}"
                for section in full_text.sections
                if section.text.strip() not in text
            )
            body_excerpt = cut_excerpt(sections, self._idea_words, max(0, limit - len(text)))
            text = f"{text}\n\n{body_excerpt}".strip()
            beyond_abstract = len(body_excerpt) > MIN_EXCERPT_CHARS
            if beyond_abstract:
                self._run.journal.full_texts.add(paper.id)
            if beyond_abstract and self._run.cutoff and cutoff_side == "before" and not full_text.within_window:
                self._run.journal.undated_texts[paper.id] = "full text"
            self._run.journal.record_if_suspicious(paper, full_text.flags)
        return self._read_source(ranked_candidate, paper, text, beyond_abstract)

    async def _read_pages(self, candidates: Sequence[RankedCandidate], cutoff_side: CutoffSide) -> list[ReadSource]:
        if self._backends.web is None or not candidates:
            return []
        pages = await self._backends.web.read([candidate.candidate.paper.url for candidate in candidates])
        return self._drop_unread(
            [self._read_page(candidate, pages[candidate.candidate.paper.url], cutoff_side) for candidate in candidates]
        )

    def _read_page(
        self, ranked_candidate: RankedCandidate, page: WebPage | Absent, cutoff_side: CutoffSide
    ) -> ReadSource | None:
        """Read a web page. The date on the page takes precedence over the one in the search result."""
        paper = ranked_candidate.candidate.paper
        if isinstance(page, Absent):
            self._run.journal.record_dropped("web page to be read", page.reason)
            return None
        record = paper.model_copy(
            update={
                "title": page.title or paper.title,
                "venue": page.site,
                "abstract": paper.abstract or page.text[:500],
                "publication_date": page.published or paper.publication_date,
            }
        )
        if not self._sources.admits(record, cutoff_side):
            return None
        if self._run.cutoff and cutoff_side == "before":
            self._run.journal.undated_texts[record.id] = "web page"
        self._run.journal.record_if_suspicious(record, page.flags)
        text = cut_excerpt([page.text], self._idea_words, self._options.evidence_chars)
        return self._read_source(ranked_candidate, record, text, full_text_read=True)

    async def _read_repositories(
        self, candidates: Sequence[RankedCandidate], cutoff_side: CutoffSide
    ) -> list[ReadSource]:
        if self._backends.code is None or not candidates:
            return []
        names = [candidate.candidate.paper.title for candidate in candidates]
        codes = await self._backends.code.read(names, self._sources.get_window(cutoff_side))
        return self._drop_unread(
            [
                self._read_repository(candidate, codes[candidate.candidate.paper.title], cutoff_side)
                for candidate in candidates
            ]
        )

    def _read_repository(
        self, ranked_candidate: RankedCandidate, code: Codebase | Absent, cutoff_side: CutoffSide
    ) -> ReadSource | None:
        paper = ranked_candidate.candidate.paper
        if isinstance(code, Absent):
            self._run.journal.record_dropped("repository to be read", code.reason)
            return None
        record = paper.model_copy(update={"abstract": f"{paper.abstract}\n\n{code.readme[:500]}".strip()})
        if not self._sources.admits(record, cutoff_side):
            return None
        self._run.journal.record_if_suspicious(record, code.flags)
        text = cut_repository_excerpt(code, self._idea_words, self._options.evidence_chars)
        return self._read_source(ranked_candidate, record, text, full_text_read=True)

    def _read_dataset(self, ranked_candidate: RankedCandidate) -> ReadSource | None:
        """Read a data set's record; its files are not opened."""
        paper = ranked_candidate.candidate.paper
        return self._read_source(ranked_candidate, paper, paper.abstract or paper.title, full_text_read=False)

    def _read_source(
        self, ranked_candidate: RankedCandidate, paper: Paper, text: str, full_text_read: bool
    ) -> ReadSource | None:
        """Return the source with sanitised text. If it has no text, record that in the journal and return None."""
        text = clean_text(text, paper, self._run, self._options.evidence_chars)
        if not text:
            self._run.journal.record_dropped(
                f"{SOURCE_NOUNS[ranked_candidate.candidate.kind]} to be read", "it has no text"
            )
            return None
        self._run.journal.read.add(paper.id)
        return ReadSource(
            paper=paper,
            kind=ranked_candidate.candidate.kind,
            text=text,
            places=_list_shown_places(text, paper, ranked_candidate.candidate.kind),
            score=ranked_candidate.score,
            full_text=full_text_read,
        )

    @staticmethod
    def _drop_unread(read: Sequence[ReadSource | None]) -> list[ReadSource]:
        return [item for item in read if item is not None]


def _list_shown_places(text: str, paper: Paper, kind: EvidenceKind) -> tuple[ShownPlace, ...]:
    if kind != "literature":
        return (ShownPlace(start=0, name=SOURCE_NOUNS[kind]),)
    abstract = sanitise(paper.abstract)[0].strip()
    if not abstract or not text.startswith(abstract[: len(text)]):
        return (ShownPlace(start=0, name="full text"),)
    return (ShownPlace(start=0, name="abstract"), ShownPlace(start=len(abstract), name="full text"))
