"""An evaluation's state, and what prompts show of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from assayer.citing.labels import MARKER, parse_marker, strip_citations
from assayer.methods.innoeval.prompt_evidence import clean_text, join_lines
from assayer.methods.scholareval.paper_evidence import format_title
from assayer.methods.scicompanion.graph import StateGraph
from assayer.methods.scicompanion.history import GraphHistory
from assayer.methods.scicompanion.options import SciCompanionOptions
from assayer.methods.scicompanion.retrieval import FoundPapers
from assayer.methods.scicompanion.schemas import AskedQuery, GraphPaper, NotedEntry, ShownEdge, ShownNode, StateQuestion
from assayer.models import FitLevel, GraphEdit, GraphStep, Idea, NodeKey, PaperId, SearchPath
from assayer.run.run import Run

_DELETED = "(a paper since deleted)"


class NotebookEntry(NamedTuple):
    step: int
    text: str
    """The entry's text, which cites papers by markers."""


class Notebook(NamedTuple):
    """Immutable notebook; appending returns a new one."""

    entries: tuple[NotebookEntry, ...] = ()

    def add_entry(self, step: int, text: str) -> "Notebook":
        return Notebook((*self.entries, NotebookEntry(step, text))) if text else self

    def get_text(self, step: int) -> str:
        """Return a step's text, or an empty string if it has none."""
        return next((entry.text for entry in self.entries if entry.step == step), "")

    def fit_entries(self, labels: Mapping[PaperId, str], chars: int) -> tuple[NotebookEntry, ...]:
        """Return the newest entries that fit into `chars` characters, in their original order. Papers are labelled as
        in the prompt; papers that are no longer in the graph have no label."""
        shown_entries: list[NotebookEntry] = []
        remaining_chars = chars
        for entry in reversed(self.entries):
            text = MARKER.sub(lambda match: _format_label(labels.get(parse_marker(match[1]))), entry.text)
            remaining_chars -= len(text)
            if remaining_chars < 0 and shown_entries:
                break
            shown_entries.append(NotebookEntry(entry.step, text[:chars]))
        return tuple(reversed(shown_entries))


def _format_label(label: str | None) -> str:
    return _DELETED if label is None else f"[{label}]"


_NOTEBOOK_CHARS = 6_000
_MAX_REFUSED = 8
_MAX_OVERRUN = 1.25


@dataclass(frozen=True)
class CompanionState:
    """An evaluation's immutable state after a step; every step returns a new one."""

    idea: Idea
    text: str
    """The idea's text as shown in prompts."""
    fit: FitLevel
    graph: StateGraph
    found: FoundPapers = field(default_factory=FoundPapers)
    history: GraphHistory = field(default_factory=GraphHistory)
    notebook: Notebook = field(default_factory=Notebook)
    steps: tuple[GraphStep, ...] = ()
    asked: tuple[str, ...] = ()

    @property
    def labels(self) -> dict[PaperId, str]:
        """The label of every record in the graph; two records of the same paper share one label."""
        return {paper: _label_paper(node) for paper, node in self.graph.papers.items()}


def build_state_question(
    state: CompanionState,
    run: Run,
    options: SciCompanionOptions,
    step: int,
    new_papers: frozenset[PaperId] = frozenset(),
) -> StateQuestion:
    graph = state.graph
    sources = {edge: graph.papers[paper] for edge, paper in graph.evidence.items() if paper in graph.papers}
    labels = {edge: _label_paper(node) for edge, node in sources.items()}
    notebook_entries = state.notebook.fit_entries(state.labels, _NOTEBOOK_CHARS)
    return StateQuestion(
        title=state.idea.title,
        idea=state.text,
        papers=_show_papers(state, run, options.paper_chars, new_papers),
        nodes=tuple(
            ShownNode(label=item.key, kind=item.kind, name=join_lines(item.name), note=join_lines(item.note))
            for item in graph.nodes.values()
            if item.kind not in ("idea", "paper")
        ),
        edges=tuple(
            ShownEdge(
                label=item.key,
                source=item.source,
                target=item.target,
                kind=item.kind,
                basis=item.basis,
                paper=labels.get(item.key, "a deleted paper" if item.quote else ""),
                statement=item.statement,
                quote=item.quote,
            )
            for item in graph.edges.values()
        ),
        notebook=tuple(NotedEntry(step=entry.step, text=entry.text) for entry in notebook_entries),
        refused=_describe_refusals(state.steps[-1].edits if state.steps else ()),
        asked=tuple(_describe_query(query, state) for query in state.asked),
        step=step,
        steps=options.steps,
        limit=options.queries,
        edits=options.edits,
        fit=state.fit,
        day=run.cutoff,
    )


def _label_paper(node: NodeKey) -> str:
    return f"P{node[1:]}"


def _show_papers(state: CompanionState, run: Run, chars: int, new_papers: frozenset[PaperId]) -> tuple[GraphPaper, ...]:
    """Return the graph's papers as shown in prompts, in the order in which they were added."""
    paper_of_node: Mapping[NodeKey, PaperId] = state.graph.paper_of_node
    graph_papers = []
    for key in (key for key in state.graph.nodes if key in paper_of_node):
        paper = state.found.papers[paper_of_node[key]]
        run.journal.read.add(paper.id)
        graph_papers.append(
            GraphPaper(
                label=_label_paper(key),
                paper_id=paper.id,
                title=format_title(paper),
                year=paper.year,
                text=mark_cut(
                    clean_text(paper.abstract, paper, run, _limit_abstract_chars(paper.abstract, chars)), paper.abstract
                ),
                new=paper.id in new_papers,
            )
        )
    return tuple(graph_papers)


def _limit_abstract_chars(abstract: str, chars: int) -> int:
    """Return how many characters of an abstract to show. An abstract only slightly longer than `chars` is shown in
    full: cutting a few words would lose its findings."""
    return len(abstract) if len(abstract) <= _MAX_OVERRUN * chars else chars


def mark_cut(text: str, full_text: str) -> str:
    """Return the text, with ` […]` appended if it was cut from the abstract `full_text`."""
    return f"{text} […]" if text.split()[-1:] != full_text.split()[-1:] else text


def _describe_query(query: str, state: CompanionState) -> AskedQuery:
    """Return the query with the papers in the graph that it found, in the order in which they were added."""
    reasons = state.found.reasons
    paper_nodes = (
        key for key, item in state.graph.paper_of_node.items() if _was_found_by(reasons.get(item, ()), query)
    )
    return AskedQuery(query=query, brought=tuple(_label_paper(key) for key in paper_nodes))


def _was_found_by(reasons: tuple[SearchPath, ...], query: str) -> bool:
    return any(reason.query == strip_citations(query) for reason in reasons)


def _describe_refusals(edits: tuple[GraphEdit, ...]) -> tuple[str, ...]:
    refusals = [
        f"{edit.action} {edit.subject}: {edit.refusal_reason}" for edit in edits if edit.refusal_reason is not None
    ]
    return tuple(refusals[:_MAX_REFUSED])
