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
NEGATIVE_FINDING = "We found no evidence that replay of synthetic samples improves dialogue agents"
TEXT = f"We study streams. In our experiments {HALVED}. {COST}. {IMAGES}. {NEGATIVE_FINDING}. It remains to be seen."
EVIDENCE_BY_PAPER = {
    A: Evidence(
        label="P1",
        paper_id=A,
        title="Adapters with fewer parameters keep the accuracy of image classifiers",
        year=2023,
        text=TEXT,
        places=(ShownPlace(start=0, name="abstract"),),
    )
}
CLAIM_WITH_BOTH_FINDINGS = "Rehearsal halved forgetting on streams, at 38 percent more training time [P1]."


def make_given_quote(
    words: str = HALVED, side: Side = "for", statement: str = "Rehearsal halved forgetting."
) -> GivenQuote:
    quoted = Quoted(words=words, state="verified", place="abstract")
    return GivenQuote(paper=A, side=side, statement=statement, quoted=quoted)


def list_further_quotes(point: Point) -> list[tuple[str, str | None]]:
    return [(item.quote, item.place) for item in point.citations[0].further]


def test_sentence_supporting_second_finding_is_quoted_verbatim_with_location() -> None:
    point = build_quoted_point(
        "support", CLAIM_WITH_BOTH_FINDINGS, PAPERS, [make_given_quote()], evidence_by_paper=EVIDENCE_BY_PAPER
    )
    assert point.citations[0].quote == HALVED
    assert list_further_quotes(point) == [(COST, "abstract")]


def test_claim_fully_supported_by_its_quote_gets_no_further_quotes() -> None:
    claim = "Rehearsal halved forgetting on five streams of text [P1]."
    assert (
        list_further_quotes(
            build_quoted_point("support", claim, PAPERS, [make_given_quote()], evidence_by_paper=EVIDENCE_BY_PAPER)
        )
        == []
    )


def test_known_quotes_for_same_side_precede_other_sentences() -> None:
    cost_quote = "replayed batches cost 38 percent of the training time"
    given_quotes = [make_given_quote(), make_given_quote(cost_quote, statement="It costs time.")]
    assert list_further_quotes(
        build_quoted_point(
            "support", CLAIM_WITH_BOTH_FINDINGS, PAPERS, given_quotes, evidence_by_paper=EVIDENCE_BY_PAPER
        )
    ) == [(cost_quote, "abstract")]


def test_known_quotes_for_opposite_side_are_not_reused() -> None:
    cost_quote = "replayed batches cost 38 percent of the training time"
    given_quotes = [make_given_quote(), make_given_quote(cost_quote, side="against", statement="It costs time.")]
    assert list_further_quotes(build_quoted_point("support", CLAIM_WITH_BOTH_FINDINGS, PAPERS, given_quotes)) == []


def test_negated_words_are_quoted_only_with_their_negation() -> None:
    claim = "Rehearsal halved forgetting, and replay of synthetic samples improves dialogue agents [P1]."
    assert list_further_quotes(
        build_quoted_point("support", claim, PAPERS, [make_given_quote()], evidence_by_paper=EVIDENCE_BY_PAPER)
    ) == [(NEGATIVE_FINDING, "abstract")]


def test_paper_title_is_not_used_as_further_quote() -> None:
    evidence_with_title = {
        A: EVIDENCE_BY_PAPER[A].model_copy(
            update={"text": f"In our experiments {HALVED}. {EVIDENCE_BY_PAPER[A].title}."}
        )
    }
    claim = "Rehearsal halved forgetting, and adapters with fewer parameters keep the accuracy of classifiers [P1]."
    assert (
        list_further_quotes(
            build_quoted_point("support", claim, PAPERS, [make_given_quote()], evidence_by_paper=evidence_with_title)
        )
        == []
    )


def test_only_claim_sentences_citing_the_paper_are_considered() -> None:
    claim = f"Rehearsal halved forgetting on streams [P1]. {IMAGES} [P2]."
    assert (
        list_further_quotes(
            build_quoted_point("support", claim, PAPERS, [make_given_quote()], evidence_by_paper=EVIDENCE_BY_PAPER)
        )
        == []
    )


def test_citation_without_verified_quote_gets_no_further_quotes() -> None:
    unverified_quote = GivenQuote(
        paper=A, side="for", statement="It costs.", quoted=Quoted(words="it costs nothing", state="not_found")
    )
    assert (
        list_further_quotes(
            build_quoted_point(
                "support", CLAIM_WITH_BOTH_FINDINGS, PAPERS, [unverified_quote], evidence_by_paper=EVIDENCE_BY_PAPER
            )
        )
        == []
    )
    assert (
        list_further_quotes(
            build_quoted_point("support", CLAIM_WITH_BOTH_FINDINGS, PAPERS, [], evidence_by_paper=EVIDENCE_BY_PAPER)
        )
        == []
    )


def test_at_most_two_distinct_further_quotes_are_added() -> None:
    claim = (
        "Rehearsal halved forgetting at 38 percent more training time of an accelerator, adapters with fewer "
        "parameters kept the accuracy of image classifiers, and synthetic samples improve no dialogue agents [P1]."
    )
    further_quotes = list_further_quotes(
        build_quoted_point("support", claim, PAPERS, [make_given_quote()], evidence_by_paper=EVIDENCE_BY_PAPER)
    )
    assert len(further_quotes) == MAX_FURTHER_QUOTES
    assert len(set(further_quotes)) == MAX_FURTHER_QUOTES


def test_summary_inherits_further_quotes_of_its_points() -> None:
    point = build_quoted_point(
        "support", CLAIM_WITH_BOTH_FINDINGS, PAPERS, [make_given_quote()], evidence_by_paper=EVIDENCE_BY_PAPER
    )
    summed_up = build_quoted_point("strength", CLAIM_WITH_BOTH_FINDINGS, PAPERS, collect_given_quotes([point]))
    assert list_further_quotes(summed_up) == [(COST, "abstract")]
