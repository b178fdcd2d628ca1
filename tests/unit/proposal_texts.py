"""A proposal as text, with and without references and appendix."""

PROPOSAL = """# Quote, then abstain

## Problem

Language models state things that are not so, and a reader cannot tell. The answer is often wrong where the evidence is
thin, and this has been shown for a range of models.

## Method

We propose to quote first and to abstain where nothing can be quoted. The method uses a second model that has read the
same passages."""
PROPOSAL_WITH_BACK_MATTER = f"""{PROPOSAL}

## References

- [1] A. Author. Attention is all you need. This is the proceedings of a conference, 2017. https://evidence.org/this.is

## Appendix A

This is an appendix, and it has a table of the prompts."""
