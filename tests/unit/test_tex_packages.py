"""TeX of usual packages is read as it is printed: units, abbreviations, quotation marks, citations and own macros."""

import pytest

from assayer.models import CitedWork
from assayer.reference_lists.bibtex import amsrefs_as_bibtex, read_bibtex
from assayer.reference_lists.entry_parser import parse_references
from tests.unit.tex_files import read, read_paragraphs

BIB = r"""@article{lee19, author={Lee, Ann and Chen, Bo}, title={Sorting mail}, journal={Letters}, year={2019}}
@book{fox20, author={Fox, Eva}, title={Lamps}, publisher={Post}, year={2020}}"""


def render_document(body: str, preamble: str = "", files: dict[str, str] | None = None) -> str:
    source = rf"\documentclass{{article}}{preamble}\begin{{document}}{body}\bibliography{{refs}}\end{{document}}"
    return " / ".join(read_paragraphs({"m.tex": source, "refs.bib": BIB, **(files or {})}, "m.tex"))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"A lamp of \SI{5}{\micro\metre} width.", "A lamp of 5 µm width."),
        (r"At \SI{3.2e-4}{\metre\per\second} and \SI{20}{\celsius}.", "At 3.2×10^(-4) m/s and 20 °C."),
        (r"At \SI{9.8}{m.s^{-2}} here.", "At 9.8 m·s^(-2) here."),
        (r"From \SIrange[range-phrase=--]{1}{10}{\kilo\hertz} on.", "From 1 to 10 kHz on."),
        (r"With \num{12345.67} letters and \num{1e5} cards.", "With 12345.67 letters and 1×10^5 cards."),
        (r"In \unit{\kilogram\metre\squared} and \si{\um}.", "In kg m² and µm."),
        (r"In \qty{5}{\percent} of \unit[30]{min}.", "In 5 % of 30 min."),
        (r"Turn by \ang{45} and \ang{1;2;3}.", "Turn by 45° and 1°2′3″."),
        (r"Lists \numlist{1;2;3} and \SIlist{1;2}{\volt}.", "Lists 1, 2 and 3 and 1 and 2 V."),
        (r"Error \num{1.2 +- 0.1} and \num{5(1)}.", "Error 1.2 ± 0.1 and 5(1)."),
        (r"In maths $t=\SI{5}{\micro\second}$ holds.", "In maths t=5 µs holds."),
        (r"A screen of \SI{100}{\px}.", "A screen of 100 px."),
        (r"He said \enquote{the lamp is \enquote{bright} here} now.", "He said “the lamp is ‘bright’ here” now."),
        (r"So \textquote[Lee]{a lamp} and \foreignquote{german}{die Lampe}.", "So “a lamp” and “die Lampe”."),
        (r"See \parencites[see][3]{lee19}[7]{fox20}.", "See see [1, 3], [2, 7]."),
        (r"See \autocites(e.g.)(among others)[3]{lee19}{fox20} too.", "See e.g. [1, 3], [2], among others too."),
        (r"Shown by \citeonline{lee19}.", "Shown by Lee and Chen [1]."),
        (r"As \textcites{lee19}{fox20} show.", "As Lee and Chen [1], Fox [2] show."),
        (r"As \textcite[12]{lee19} and \autocite[see][3]{fox20} show.", "As Lee and Chen [1, 12] and see [2, 3] show."),
        (r"Said \citeauthor{fox20} \citeyearpar{fox20} in \citetitle{fox20}.", "Said Fox [1] (2020) in Lamps."),
        (r"URL \url{http://a.test/x%20y_z} stays.", "URL http://a.test/x%20y_z stays."),
        (r"A \href{http://a.test/~lee}{page} of hers.", "A page (http://a.test/~lee) of hers."),
        (r"Words \texorpdfstring{$x^2$}{x2} stay once.", "Words x^2 stay once."),
    ],
)
def test_macro_of_a_package_is_read_as_printed(body: str, text: str) -> None:
    assert render_document(body, r"\DeclareSIUnit{\px}{px}") == text


ACRONYMS = {
    "acronym": r"\acrodef{CNN}{convolutional neural network}\acrodef{GPU}[GPU]{graphics unit}",
    "acro": r"\DeclareAcronym{CNN}{short=CNN, long=convolutional neural network}"
    r"\DeclareAcronym{GPU}{short = GPU , long = graphics unit}",
    "glossaries": r"\newacronym{CNN}{CNN}{convolutional neural network}"
    r"\newacronym[longplural={units}]{GPU}{GPU}{graphics unit}",
}


@pytest.mark.parametrize(
    ("package", "body", "text"),
    [
        ("acronym", r"\ac{CNN}, \ac{CNN}, \acp{GPU}", "convolutional neural network (CNN), CNN, graphics units (GPUs)"),
        ("acronym", r"\acs{GPU}, \acl{GPU}, \acf{GPU}, \ac{GPU}", "GPU, graphics unit, graphics unit (GPU), GPU"),
        (
            "acronym",
            r"\ac{CNN} \acresetall \ac{CNN}",
            "convolutional neural network (CNN) convolutional neural network (CNN)",
        ),
        ("acro", r"\iac{GPU} and \Ac{CNN}", "a graphics unit (GPU) and Convolutional neural network (CNN)"),
        ("glossaries", r"\gls{CNN}, \gls{CNN}, \glspl{GPU}", "convolutional neural network (CNN), CNN, units (GPUs)"),
        ("glossaries", r"\acrshort{CNN}, \acrlong{CNN}, \glslink{GPU}{it}", "CNN, convolutional neural network, it"),
        ("glossaries", r"\gls{XYZ} and \ac{ABC} stay", "XYZ and ABC stay"),
    ],
)
def test_abbreviation_is_written_out_at_its_first_use(package: str, body: str, text: str) -> None:
    assert render_document(f"We use {body}.", ACRONYMS[package]) == f"We use {text}."


def test_printed_list_of_abbreviations_is_a_list() -> None:
    body = r"\begin{acronym}[XX]\acro{CNN}{convolutional network}\acro{G}[GPU]{unit}\end{acronym} We use \ac{G}."
    assert render_document(body) == "- CNN convolutional network / - GPU unit / We use unit (GPU)."


def test_term_of_a_glossary_is_its_name() -> None:
    defined = r"\newglossaryentry{lamp}{name=lamp, description={a light, above a table}}"
    assert render_document(r"\Gls{lamp} and \glspl{lamp}.", defined) == "Lamp and lamps."


@pytest.mark.parametrize(
    ("preamble", "body", "text"),
    [
        (r"\NewDocumentCommand{\two}{m m}{#1 and #2}\NewDocumentCommand\x{}{X}", r"\two{a}{b} \x.", "a and b X."),
        (r"\NewDocumentCommand{\two}{s O{p} m}{#2 and #3}", r"\two*[q]{a} \two{b}.", "q and a p and b."),
        (r"\let\eps\varepsilon", r"Let $\eps$ be small.", "Let ε be small."),
        (r"\newcommand{\mycite}[1]{\textcite{#1}}", r"\mycite{lee19} shows.", "Lee and Chen [1] shows."),
        (r"\newcommand{\um}{\SI{5}{\micro\metre}}", r"A lamp of \um.", "A lamp of 5 µm."),
    ],
)
def test_own_macro_is_expanded(preamble: str, body: str, text: str) -> None:
    assert render_document(body, preamble) == text


def test_abbreviations_in_a_package_of_the_document_are_expanded() -> None:
    package = r"\newcommand{\lamp}{the lamp}\newcommand{\section}[1]{no}\def\x@y{z}"
    body = r"\InputIfFileExists{more}{}{}\section{Use} Use \lamp."
    assert (
        render_document(body, r"\usepackage{mine}", {"mine.sty": package, "more.tex": "More."})
        == "More. / Use / Use the lamp."
    )


@pytest.mark.parametrize(
    ("entry", "title", "authors", "year", "raw"),
    [
        ("@book{a, author={Lee, A.}, title={Lamps}, subtitle={A history}, date={2020-03}}",
         "Lamps: A history", ("A. Lee",), 2020, ""),
        ("@incollection{a, author={Lee, A.}, title={A lamp}, crossref={B}}\n@book{b, title={Lamps}, year=2018}",
         "A lamp", ("A. Lee",), 2018, "Lamps"),
        ("@book{a, author={Lee, A.}, title={Lamps}, xdata={x}}\n@xdata{x, publisher={Post}, date={2017}}",
         "Lamps", ("A. Lee",), 2017, "Post"),
        ("@thesis{a, author={Lee, A.}, title={Lamps}, school={Bern}, year=2019}", "Lamps", ("A. Lee",), 2019, "Bern"),
        ("@report{a, author={{Mail Office}}, title={Lamps}, institution={Post}, year=2019}",
         "Lamps", ("Mail Office",), 2019, "Post"),
        ("@article{a, author={given=Ann, family=Lee and family=Berg, prefix=van, given=Bo}, title={Lamps}, date=2019}",
         "Lamps", ("Ann Lee", "Bo van Berg"), 2019, ""),
    ],
)  # fmt: skip
def test_field_of_biblatex_is_read(entry: str, title: str, authors: tuple[str, ...], year: int, raw: str) -> None:
    work = next(iter(read_bibtex(entry).works.values()))
    assert (work.title, work.authors, work.year) == (title, authors, year)
    assert raw in work.raw


def test_doi_with_angle_brackets_in_tex_is_read_completely() -> None:
    entry = r"@article{a, title={Lamps}, doi={10.5555/(SICI)1(1996)365:1{\textless}113::AID-X{\textgreater}3.0.CO;2-6}}"
    assert [work.doi for work in read_bibtex(entry).works.values()] == [
        "10.5555/(sici)1(1996)365:1<113::aid-x>3.0.co;2-6"
    ]


def test_entries_of_amsrefs_take_fields_of_their_book() -> None:
    source = (
        r"\bib*{p}{proceedings}{title={Proc. Mail}, date={2017}}"
        "\n"
        r"\bib{a}{article}{author={Lee, Ann}, author={{Mail Office}}, title={Lamps}, subtitle={A tale}, book={p}}"
        "\n"
        r"\bib{b}{incollection}{author={Fox, Eva}, title={Tables}, book={title={Rooms}, date={2018}}, pages={1--9}}"
    )
    entries = list(read_bibtex(amsrefs_as_bibtex(source)).works.values())
    assert [(work.title, work.authors, work.year) for work in entries] == [
        ("Proc. Mail", (), 2017), ("Lamps: A tale", ("Ann Lee", "Mail Office"), 2017), ("Tables", ("Eva Fox",), 2018),
    ]  # fmt: skip
    assert "Rooms" in entries[2].raw
    assert len(parse_references(rf"\begin{{biblist}}{source}\end{{biblist}}")) == 3


def read_entry_works(item: str) -> list[CitedWork]:
    item = rf"{item} \bibitem{{b}} E. Fox, \emph{{Lamps}}, Post, 2020."
    bibliography = rf"\begin{{thebibliography}}{{9}}{item}\end{{thebibliography}}"
    return read({"m.tex": rf"\begin{{document}}See \cite{{b}}. {bibliography}\end{{document}}"}, "m.tex")[1]


@pytest.mark.parametrize(
    "item",
    [
        r"\bibitem[{{Lee} \& {Chen}(2019){Lee}, {Chen}}]{a} Lee, A., \& Chen, B. (2019). Sorting mail at night. Post.",
        """\\bibitem [\\protect \\citeauthoryear {%
Lee%
\\ \\BBA {} Chen%
}{%
Lee%
\\ \\BBA {} Chen%
}{%
{\\protect \\APACyear {2019}}%
}]{%
a}
\\APACinsertmetastar {%
a}%
\\begin{APACrefauthors}%
Lee, A.%
\\BCBT {}\\ \\BBA {} Chen, B.%
\\end{APACrefauthors}%
\\unskip\\
\\newblock
\\APACrefYearMonthDay{2019}{}{}.
\\newblock
{\\BBOQ}\\APACrefatitle {Sorting Mail at Night} {Sorting mail at night}.{\\BBCQ}
\\newblock
\\APACjournalVolNumPages{Letters}{3}{2}{1--9}.
\\PrintBackRefs{\\CurrentBib}""",
    ],
)
def test_entry_with_a_nested_label_or_in_apacite_is_read(item: str) -> None:
    first, _ = read_entry_works(item)
    assert (first.number, first.title, first.year) == (1, "Sorting mail at night", 2019)
    assert [name[:3] for name in first.authors] == ["Lee", "Che"]


def test_macros_that_a_list_defines_are_expanded() -> None:
    bibliography = (
        r"\providecommand{\href}[2]{#2}\providecommand{\abntrefinfo}[3]{}\def\doi@#1{\href{}}"
        r"\begin{thebibliography}{9}\bibitem[Lee 2018]{lee}\abntrefinfo{Lee}{LEE}{2018}"
        r"{LEE, A. \emph{Sorting mail at night}. 2018. \href{https://doi.org/10.5555/a.1}{page}.}\end{thebibliography}"
    )
    source = r"\begin{document}See \cite{lee}.\bibliography{gone}\end{document}"
    (work,) = read({"p.tex": source, "p.bbl": bibliography}, "p.tex")[1]
    assert work.raw.startswith("[1] LEE, A. Sorting mail at night")
    assert work.doi == "10.5555/a.1"


def test_link_without_arguments_is_read() -> None:
    assert render_document(r"Words \href").startswith("Words")


BIBLIOGRAPHY = (
    r"\begin{thebibliography}{9}\bibitem{a} A. Lee. Sorting of late mail. Rail Letters, 2019.\end{thebibliography}"
)


@pytest.mark.parametrize(
    ("command", "name"),
    [
        (r"\input{p.bbl}", "p.bbl"),
        (r"\makeatletter\@input{p.bbl}\makeatother", "p.bbl"),
        (r"\@input{\jobname.bbl}", "p.bbl"),
        (r"\@@input parts/refs.bbl", "parts/refs.bbl"),
        (r"\input{refs.bbl}", "refs.bbl"),
    ],
)
def test_included_generated_list_is_read_and_not_reported_as_missing(command: str, name: str) -> None:
    source = rf"\documentclass{{article}}\begin{{document}}We sort \cite{{a}}. {command} End.\end{{document}}"
    text, cited_works = read({"p.tex": source, name: BIBLIOGRAPHY, "old.bbl": ""}, "p.tex")
    assert [work.title for work in cited_works] == ["Sorting of late mail"]
    assert not text.left_out


def test_file_included_by_internal_input_command_is_read() -> None:
    source = r"\documentclass{article}\begin{document}First. \makeatletter\@input{part}\makeatother Last.\end{document}"
    assert read_paragraphs({"p.tex": source, "part.tex": "Second."}, "p.tex") == ["First. Second. Last."]


def test_bibliography_that_only_a_package_names_is_read() -> None:
    preamble = r"\usepackage[bibfile=refs]{thesis}"
    source = rf"\documentclass{{book}}{preamble}\begin{{document}}On lamps \cite{{fox20}}.\end{{document}}"
    text, cited_works = read({"m.tex": source, "thesis.sty": r"\bibliography{\t@file}", "refs.bib": BIB}, "m.tex")
    assert [work.title for work in cited_works] == ["Lamps"]
    assert text.paragraphs == [(0, "On lamps [1].")]


def test_bibliography_next_to_a_document_with_its_own_list_is_not_read() -> None:
    source = rf"\documentclass{{book}}\begin{{document}}On mail \cite{{a,fox20}}. {BIBLIOGRAPHY}\end{{document}}"
    assert [work.title for work in read({"m.tex": source, "refs.bib": BIB}, "m.tex")[1]] == ["Sorting of late mail"]


@pytest.mark.parametrize("name", ["lstlisting", "minted", "Verbatim", "alltt", "verbatim"])
def test_text_after_a_listing_with_unbalanced_braces_is_read(name: str) -> None:
    body = (
        rf"Sort. \begin{{{name}}}[language=mail]" + "\nsort({ lamp: {\n" + rf"\end{{{name}}} Then \cite{{fox20}} ends."
    )
    assert render_document(body) == "Sort. / sort({ lamp: { / Then [1] ends."
