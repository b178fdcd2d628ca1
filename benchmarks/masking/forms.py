"""Forms of saying whose an idea is, with fields for invented people, and where in an idea each of them stands."""

from typing import Literal, NamedTuple

__all__ = ["FORMS", "Form", "Place"]

Place = Literal["title", "head", "head and middle", "middle", "end", "after the references", "after a paragraph"]


class Form(NamedTuple):
    name: str
    place: Place
    text: str
    """Fields: n, n2 names; f, f2 surnames; N the name in capitals; g given name and l surname in plain small letters;
    i, i2 institutions; b one named by a bare word; r, R a role, small and with a capital; e an address of mail; h an
    account; u a funder's initials; o a foundation; c a number of a grant; t the idea's title."""
    also: str = ""
    """What stands in the middle of an idea with `text` at its head."""


_FIRST = (
    Form("block", "head", "{n}, {n2}\n{i}\n{e}"),
    Form("marks", "head", "{n}¹*, {n2}²\n¹{i}, ²{i2}\n"),
    Form("byline", "head", "by {n} ({i})"),
    Form("labels", "head", "Principal investigator: Prof. Dr. {n}\nHost institution: {i}\nCareer stage: {r}"),
    Form("bold labels", "head", "- **PI:** {n}, {r}\n- **Affiliation:** {i}\n- **E-mail:** {e}"),
    Form("led by", "end", "The project will be led by {n}, a {r} at {i}. {f} will hire two people."),
    Form("my name", "middle", "My name is {n} and I work on this at {i}."),
    Form("I am", "middle", "I am a {r} at {i}."),
    Form("thanks", "end", "## Acknowledgements\n\nWe thank {n} for her help and the {o} for money."),
    Form("cv", "end", "## Curriculum vitae\n\n{n}\n2012 PhD, {i}\n2015 Award for young scientists"),
    Form("team", "end", "## Team\n\nDr. {n} ({i}) has led such work for ten years. {f} will supervise."),
    Form("own work", "middle", "In our previous work [{f} 2020] we began this; {f} et al. (2021) went on."),
    Form("grant", "end", "This work is funded by {u} grant {c}."),
    Form("orcid", "end", "See https://orcid.org/0000-0002-1825-0097."),
    Form("group at", "middle", "Our group at {b} has the hardware."),
)
"""Those that the rules were first written with."""
_REVIEWED = (
    Form("title", "title", "Prof. {n} ({i}): {t} under {u} grant {c}"),
    Form("title2", "title", "{t}, by Dr. {n} of {i}"),
    Form(
        "section title",
        "end",
        "## Prior results at {i} under {u} grant {c}\n\n"
        "These results came first and led to the plan above, which goes on from there.",
    ),
    Form(
        "after refs",
        "after the references",
        "## Facilities\n\nThe study will be carried out at {i} under {u} grant {c}. "
        "Our group at {b} has hardware. I am a {r} at {i2}.",
    ),
    Form(
        "short surname",
        "head and middle",
        "{n}\n{i}",
        "{f} proposed this in 2019. As {f} notes, it can be done with {f} in charge.",
    ),
    Form("caps", "head and middle", "{N}\n{i}", "{n} will lead; {f} too. A. {f} is there."),
    Form("caps titled", "middle", "Prof. {N} leads it. {f} will go on."),
    Form("prose first", "after a paragraph", "{n}\n{R}, {i}"),
    Form("signature", "end", "{n}\n{R}, {i}"),
    Form("my advisor", "middle", "My advisor {n} and my colleague {n2} built it."),
    Form("our lab", "middle", "Our {b} lab has GPUs."),
    Form("github", "middle", "The code is at https://github.com/{h}/quote and will be extended."),
    Form("in cite", "middle", "In ({f} 2020) we showed this, and {f} (2020) is where it begins."),
    Form("thank fund", "end", "We thank the {o} for funding (grant {c})."),
    Form("hold", "end", "I hold an {u} Starting Grant."),
    Form("obf mail", "end", "**Contact:** {g} DOT {l} AT {b} DOT edu"),
)
"""Found by reviewers to pass."""
_FURTHER = (
    Form("advised by", "middle", "This extends my thesis, advised by {n} at {i}."),
    Form("coauthors", "middle", "Together with my co-author {n}, I have run a pilot."),
    Form("we at", "middle", "We at {i} have collected such data before."),
    Form("joined", "middle", "I joined {b} as a {r} last year."),
    Form("corresponding", "head", "{n} and {n2}\nCorrespondence to: {e}\n{i}"),
    Form("submitted", "head", "Submitted by: {n}, {R}, {i}"),
    Form("caps block", "head", "{N}\n{R}\n{i}"),
    Form("signed", "end", "Sincerely,\n{n}\n{i}"),
    Form("as we showed", "middle", "As we showed in {f} et al. (2021), this holds."),
    Form("my paper", "middle", "It builds on my paper ({f} & {f2}, 2022)."),
    Form("supported", "end", "The applicant is supported by the {o} and by {u} ({c})."),
    Form("award holder", "end", "The PI is the recipient of an {u} award ({c})."),
    Form("possessive", "middle", "{n}'s lab at {i} will share the data; {f}'s group has them."),
    Form("prof", "middle", "Professor {f} of {i} has agreed to help. {f} has them."),
    Form("dr two", "middle", "Drs. {n} and {n2} will rate the cases."),
    Form("our dept", "middle", "Our department at {i} runs the cluster."),
    Form("homepage", "middle", "More is on https://{h}.github.io and in our repository https://github.com/{h}/plan."),
    Form("title by", "title", "{t} ({n}, {i})"),
    Form("role line", "head", "{n}\n{R}\n{i}"),
    Form("collab", "middle", "We collaborate with {n} ({i}) on the second data set."),
    Form("at mail", "end", "Questions go to {g}.{l} (at) {b} (dot) edu."),
    Form("facilities", "end", "## Facilities\n\nThe {b} cluster is ours. {n} ({i}) maintains it."),
    Form("phd at", "middle", "During my PhD at {i} with {n} I built the first version."),
    Form("refs own", "after the references", "## Team\n\n{n} ({R}, {i}) leads; {n2} helps."),
)
"""Written before the rules were mended for the others."""
FORMS = {"first": _FIRST, "reviewed": _REVIEWED, "further": _FURTHER}
