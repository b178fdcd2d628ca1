"""A quote carries the claim for which it was given, and no other."""

from assayer.citing.claim_quotes import GivenQuote, Side, build_quoted_point, collect_given_quotes
from assayer.citing.evidence import Quoted
from assayer.citing.labels import label_papers
from assayer.models import PaperId, Point

A = PaperId("a")
PAPERS = label_papers([A])


def make_given_quote(side: Side, statement: str, words: str = "", state: str = "verified") -> GivenQuote:
    quoted = Quoted.model_validate({"words": words, "state": state}) if words else None
    return GivenQuote(paper=A, side=side, statement=statement, quoted=quoted)


def get_quote(point: Point) -> tuple[str | None, bool]:
    return point.citations[0].quote, point.downgraded


def test_quote_is_used_only_for_claims_of_the_same_stance() -> None:
    words = "sampling helps in all of our tasks"
    given_quotes = [make_given_quote("for", "Sampling helps.", words)]
    assert get_quote(build_quoted_point("support", "It helps [P1].", PAPERS, given_quotes)) == (words, False)
    assert get_quote(build_quoted_point("contradiction", "It does not help [P1].", PAPERS, given_quotes)) == (
        None,
        False,
    )
    assert get_quote(build_quoted_point("suggestion", "Try it as in [P1].", PAPERS, given_quotes)) == (None, False)


def test_neutral_quote_serves_claims_on_both_sides_but_no_suggestion_that_does_not_repeat_it() -> None:
    words = "we sample nine answers of the model and keep the one most often given"
    given_quotes = [make_given_quote("neither", "Samples answers.", words)]
    for kind in ("support", "contradiction", "strength", "weakness"):
        assert get_quote(build_quoted_point(kind, "Nine answers are enough [P1].", PAPERS, given_quotes)) == (
            words,
            False,
        )
    assert get_quote(build_quoted_point("suggestion", "Sample nine answers [P1].", PAPERS, given_quotes)) == (
        None,
        False,
    )
    repeated = build_quoted_point("suggestion", f"As in [P1]: “{words[:60]} …”", PAPERS, given_quotes)
    assert get_quote(repeated) == (words, False)


def test_verified_quote_is_not_used_for_claim_about_another_method() -> None:
    methods = [
        Point(kind="support", text="Sampling of many answers raises accuracy [@a].", citations=()),
        Point(kind="support", text="Blind expert raters agree about proposals [@a].", citations=()),
    ]
    quotes = [
        Quoted(words="sampling raises accuracy", state="verified"),
        Quoted(words="raters agree everywhere", state="not_found"),
    ]
    points = [
        build_quoted_point(
            "support",
            method.text.replace("[@a]", "[P1]"),
            PAPERS,
            [make_given_quote("for", method.text, quoted.words, quoted.state)],
        )
        for method, quoted in zip(methods, quotes, strict=True)
    ]
    summed_up = build_quoted_point("strength", "Expert raters agree [P1].", PAPERS, collect_given_quotes(points))
    assert get_quote(summed_up) == ("raters agree everywhere", True)
    other_point = build_quoted_point(
        "strength", "Sampling answers raises the accuracy [P1].", PAPERS, collect_given_quotes(points)
    )
    assert get_quote(other_point) == ("sampling raises accuracy", False)


def test_quote_with_best_matching_words_is_chosen_for_claim() -> None:
    transfer = "examples are not as transferable across defended networks as others"
    training = "adversarial training remains one of the best defense techniques"
    given_quotes = [make_given_quote("for", "Its method.", transfer), make_given_quote("for", "Its finding.", training)]
    claim = "Adversarial training is among the best defenses [P1]."
    assert get_quote(build_quoted_point("strength", claim, PAPERS, given_quotes))[0] == training
    claim = "Examples transfer less across defended networks, being not as transferable [P1]."
    assert get_quote(build_quoted_point("strength", claim, PAPERS, given_quotes))[0] == transfer


def test_summary_of_a_point_without_quote_is_unquoted() -> None:
    points = [
        build_quoted_point(
            "support",
            "Sampling raises accuracy [P1].",
            PAPERS,
            [make_given_quote("for", "…", "sampling raises accuracy")],
        ),
        build_quoted_point("support", "Blind expert raters agree [P1].", PAPERS, []),
    ]
    assert (
        get_quote(build_quoted_point("strength", "Expert raters agree [P1].", PAPERS, collect_given_quotes(points)))[0]
        is None
    )


def test_quote_is_not_used_for_an_unrelated_claim() -> None:
    words = "annotators agreed with the tool in nine of ten cases"
    given_quotes = [make_given_quote("for", "Annotators agreed with the tool.", words)]
    assert (
        get_quote(build_quoted_point("support", "Training takes three days on one GPU [P1].", PAPERS, given_quotes))[0]
        is None
    )
    assert get_quote(build_quoted_point("support", "Its annotators agree [P1].", PAPERS, given_quotes)) == (
        words,
        False,
    )
