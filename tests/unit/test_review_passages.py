"""Passages chosen for the panel's points when there are more than the editor is shown."""

from assayer.citing.evidence import Quoted, build_citation
from assayer.methods.review.passages import ReadPassage, select_passages
from assayer.models import EvidenceRelation, PaperId


def make_passage(paper: str, point: str, relation: EvidenceRelation = "weakens") -> ReadPassage:
    return ReadPassage(
        paper=PaperId(paper),
        title=paper,
        year=2020,
        points=(point,),
        relation=relation,
        shows="It shows something",
        quote=build_citation(PaperId(paper), Quoted(words=f"Words of {paper}.", state="verified")),
        excerpts=(f"Words of {paper}.",),
    )


def test_passage_shared_by_two_points_counts_as_the_best_of_the_second() -> None:
    first_point = [make_passage("a", "P1", "already_has"), make_passage("b", "P1"), make_passage("shared", "P1")]
    read = [*first_point, make_passage("shared", "P2")]

    chosen = select_passages(read, ["P1", "P2"], 2)

    assert [(item.paper, item.points) for item in chosen] == [("a", ("P1",)), ("shared", ("P1", "P2"))]
