"""HTML and RTF files: all of their text in order, with what a reader cannot see set apart."""

import pytest

from workers.documents.document_ideas import read_document_idea
from workers.sandbox.html_text import read_html
from workers.sandbox.refusal import Refused
from workers.sandbox.rich_text import read_rich_text

MAX_CHARACTERS = 1_000_000
PAGE = """<!doctype html><html><head><meta charset="{}"><title>The file</title><style>.h{{display:none}}</style></head>
<body><nav>Home</nav><h1>Scoring plans</h1><h2>Problem</h2><p>Offices <b>read</b> plans &amp; “naïve” ideas.<br>More</p>
<p class=h>Ignore all.</p><ul><li>one<li><p>two</p></ul><h2>Method</h2>
<table><tr><th>A<th>B<tr><td>1<td>2<br>x</table><p><strong>Bold line</strong></p><pre>a
 b</pre>tail<script>x()</script></body></html>"""
RTF = rb"""{\rtf1\ansi\ansicpg1252{\fonttbl{\f0 Times;}}{\colortbl;\red0\green0\blue0;\red255\green255\blue255;}
{\stylesheet{\s0 Normal;}{\s1\b heading 1;}{\s5 Title;}}{\info{\title Old}{\author Verne}}
\pard\s5 Scoring plans\par\pard\s1 Problem\par
\pard Offices read na\'efve plans \u8212? and {\b bold words}.{\super\chftn{\footnote\pard A guide.}} {\v Ignore all.}
{\cf2 White.} {\fs2 Tiny.} End.\par\pard\s1 Method\par\pard {\b\'dcberschrift}\par
\trowd\cellx1\cellx2\intbl A\cell B\cell\row\pard\outlinelevel0 Last\par}"""


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1252", "utf-16"])
def test_html_is_read_in_order_with_its_declared_encoding(encoding: str) -> None:
    text = read_html(PAGE.format(encoding).encode(encoding), MAX_CHARACTERS)
    assert text.paragraphs == [
        (1, "Scoring plans"),
        (2, "Problem"),
        (0, "Offices read plans & “naïve” ideas.\nMore"),
        (0, "- one"),
        (0, "- two"),
        (2, "Method"),
        (0, "A | B"),
        (0, "1 | 2 x"),
        (-1, "Bold line"),
        (0, "a\nb"),
        (0, "tail"),
    ]
    assert text.hidden == [("not displayed", "Ignore all.")]
    assert text.left_out == [("the page's navigation", "it is not part of the text")]


def test_page_without_main_heading_uses_title_element() -> None:
    assert read_html(b"<title>Plans</title><p>Words of a plan", MAX_CHARACTERS).title == "Plans"


def test_page_without_text_is_refused() -> None:
    with pytest.raises(Refused, match="no_text"):
        read_html(b"<html><script>x()</script></html>", MAX_CHARACTERS)


def test_rtf_is_read_in_order_with_notes_and_hidden_text_separated() -> None:
    text = read_rich_text(RTF, MAX_CHARACTERS)
    assert text.title == "Scoring plans"
    assert text.paragraphs == [
        (1, "Problem"),
        (0, "Offices read naïve plans — and bold words.[^1] End."),
        (1, "Method"),
        (-1, "Überschrift"),
        (0, "A | B"),
        (1, "Last"),
    ]
    assert text.notes == [("1", "A guide.")]
    assert text.hidden == [
        ("marked as hidden", "Ignore all."),
        ("in the background colour", "White."),
        ("tiny", "Tiny."),
    ]


@pytest.mark.parametrize("cut", range(6, len(RTF), 29))
def test_truncated_rtf_is_read_or_rejected(cut: int) -> None:
    try:
        read_rich_text(RTF[:cut], MAX_CHARACTERS)
    except Refused:
        return


@pytest.mark.parametrize("cut", range(0, len(PAGE), 29))
def test_truncated_html_is_read_or_rejected(cut: int) -> None:
    try:
        read_html(PAGE.encode()[:cut], MAX_CHARACTERS)
    except Refused:
        return


def test_number_next_to_html_list_entry_is_joined_to_the_entry() -> None:
    entries = "".join(
        f'<div><div class="csl-left-margin">{number} </div><div class="csl-right-inline">{text}</div></div>'
        for number, text in ((1, "Moss A. Stamps. 2019."), (2, "Bell C. Letters. 2018."))
    )
    text = read_html(f"<html><body><h1>Post</h1>{entries}</body></html>".encode(), MAX_CHARACTERS)
    assert text.paragraphs[1:] == [(0, "1 Moss A. Stamps. 2019."), (0, "2 Bell C. Letters. 2018.")]


@pytest.mark.parametrize(
    ("mark", "note"),
    [
        (
            '<sup><a href="#ftnt1" id="ftnt_ref1">[1]</a></sup>',
            '<hr><div><p><a href="#ftnt_ref1" id="ftnt1">[1]</a> More of it.</p></div>',
        ),
        (
            '<a href="#fn1" class="footnote-ref" id="fnref1"><sup>1</sup></a>',
            '<section class="footnotes"><ol><li id="fn1"><p>More of it.<a href="#fnref1">↩</a></p></li></ol></section>',
        ),
        (
            '<a href="#_ftn1" name="_ftnref1">[1]</a>',
            '<div id="ftn1"><p class="MsoFootnoteText"><a href="#_ftnref1" name="_ftn1">[1]</a> More of it.</p></div>',
        ),
    ],
)
async def test_footnotes_of_html_follow_their_paragraph_and_are_not_in_the_list(mark: str, note: str) -> None:
    words = "We rehearse what the next round of training would overwrite, as bees do in a garden. " * 3
    references = "<h2>References</h2><ol><li>Lee A. Replay buffers. Text Methods 2019.</li></ol>"
    page = (
        f'<html><body><p class="title">On bees</p><h2>Problem</h2><p>{words}{mark}</p>{references}{note}</body></html>'
    )
    idea = await read_document_idea(page.encode(), "a.html")
    assert idea.title == "On bees"
    assert [work.raw for work in idea.references] == ["Lee A. Replay buffers. Text Methods 2019."]
    assert idea.text.endswith("[^1]\n\n[^1]: More of it.")
