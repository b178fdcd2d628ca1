"""A claim of two findings has words of its paper for both, each cut from what was shown of it."""

from assayer.citing.claim_quotes import GivenQuote, Side, build_quoted_point, collect_given_quotes
from assayer.citing.evidence import Evidence, Quoted, ShownPlace
from assayer.citing.further_quotes import MAX_FURTHER_QUOTES
from assayer.citing.labels import label_papers
from assayer.models import PaperId, Point

A, B = PaperId("a"), PaperId("b")
PAPERS = label_papers([A, B])
HALVED = "rehearsal halved forgetting on all five streams of text"
COST = "Each replayed batch adds 38 percent of training time on one accelerator"
IMAGES = "Adapters with fewer parameters kept the accuracy of image classifiers"
DENIED = "We found no evidence that replay of synthetic samples improves dialogue agents"
TEXT = f"We study streams. In our experiments {HALVED}. {COST}. {IMAGES}. {DENIED}. It remains to be seen."
SHOWN = {
    A: Evidence(
        label="P1",
        paper_id=A,
        title="Adapters with fewer parameters keep the accuracy of image classifiers",
        year=2023,
        text=TEXT,
        places=(ShownPlace(start=0, name="abstract"),),
    )
}
BOTH = "Rehearsal halved forgetting on streams, at 38 percent more training time [P1]."


def given(words: str = HALVED, side: Side = "for", statement: str = "Rehearsal halved forgetting.") -> GivenQuote:
    quoted = Quoted(words=words, state="verified", place="abstract")
    return GivenQuote(paper=A, side=side, statement=statement, quoted=quoted)


def further_of(point: Point) -> list[tuple[str, str | None]]:
    return [(item.quote, item.place) for item in point.citations[0].further]


def test_sentence_supporting_second_finding_is_quoted_verbatim_with_location() -> None:
    made = build_quoted_point("support", BOTH, PAPERS, [given()], evidence_by_paper=SHOWN)
    assert made.citations[0].quote == HALVED
    assert further_of(made) == [(COST, "abstract")]


def test_claim_fully_supported_by_its_quote_gets_no_further_quotes() -> None:
    claim = "Rehearsal halved forgetting on five streams of text [P1]."
    assert further_of(build_quoted_point("support", claim, PAPERS, [given()], evidence_by_paper=SHOWN)) == []


def test_known_quotes_for_same_side_precede_other_sentences() -> None:
    other = "replayed batches cost 38 percent of the training time"
    found = [given(), given(other, statement="It costs time.")]
    assert further_of(build_quoted_point("support", BOTH, PAPERS, found, evidence_by_paper=SHOWN)) == [
        (other, "abstract")
    ]


def test_known_quotes_for_opposite_side_are_not_reused() -> None:
    other = "replayed batches cost 38 percent of the training time"
    found = [given(), given(other, side="against", statement="It costs time.")]
    assert further_of(build_quoted_point("support", BOTH, PAPERS, found)) == []


def test_negated_words_are_quoted_only_with_their_negation() -> None:
    claim = "Rehearsal halved forgetting, and replay of synthetic samples improves dialogue agents [P1]."
    assert further_of(build_quoted_point("support", claim, PAPERS, [given()], evidence_by_paper=SHOWN)) == [
        (DENIED, "abstract")
    ]


def test_paper_title_is_not_used_as_further_quote() -> None:
    only = {A: SHOWN[A].model_copy(update={"text": f"In our experiments {HALVED}. {SHOWN[A].title}."})}
    claim = "Rehearsal halved forgetting, and adapters with fewer parameters keep the accuracy of classifiers [P1]."
    assert further_of(build_quoted_point("support", claim, PAPERS, [given()], evidence_by_paper=only)) == []


def test_only_claim_sentences_citing_the_paper_are_considered() -> None:
    claim = f"Rehearsal halved forgetting on streams [P1]. {IMAGES} [P2]."
    assert further_of(build_quoted_point("support", claim, PAPERS, [given()], evidence_by_paper=SHOWN)) == []


def test_citation_without_verified_quote_gets_no_further_quotes() -> None:
    lost = GivenQuote(
        paper=A, side="for", statement="It costs.", quoted=Quoted(words="it costs nothing", state="not_found")
    )
    assert further_of(build_quoted_point("support", BOTH, PAPERS, [lost], evidence_by_paper=SHOWN)) == []
    assert further_of(build_quoted_point("support", BOTH, PAPERS, [], evidence_by_paper=SHOWN)) == []


def test_at_most_two_distinct_further_quotes_are_added() -> None:
    claim = (
        "Rehearsal halved forgetting at 38 percent more training time of an accelerator, adapters with fewer "
        "parameters kept the accuracy of image classifiers, and synthetic samples improve no dialogue agents [P1]."
    )
    found = further_of(build_quoted_point("support", claim, PAPERS, [given()], evidence_by_paper=SHOWN))
    assert len(found) == MAX_FURTHER_QUOTES
    assert len(set(found)) == MAX_FURTHER_QUOTES


def test_summary_inherits_further_quotes_of_its_points() -> None:
    said = build_quoted_point("support", BOTH, PAPERS, [given()], evidence_by_paper=SHOWN)
    summed_up = build_quoted_point("strength", BOTH, PAPERS, collect_given_quotes([said]))
    assert further_of(summed_up) == [(COST, "abstract")]
