"""The papers of one evaluation keep the ids that they were given."""

from hypothesis import given, settings
from hypothesis import strategies as st

from assayer.models import Identifiers, Paper, PaperId
from workers.literature.record_linker import RecordLinker


def make_paper(source: str, key: str, **identifiers: str) -> Paper:
    return Paper(
        id=PaperId(f"{source}:{key}"), title=f"{source} {key}", abstract="", source=source,
        identifiers=Identifiers(**identifiers),
    )  # fmt: skip


def test_paper_keeps_first_id_when_later_found_in_corpus() -> None:
    linker = RecordLinker()
    (first,) = linker.link([make_paper("openalex", "W1", doi="10.1000/1")])
    (relinked,) = linker.link([make_paper("corpus", "a", doi="10.1000/1")])
    assert relinked.id == first.id
    assert relinked.source == "openalex"
    assert linker.find_id_in_source(first.id, "corpus") == "corpus:a"


def test_paper_known_only_by_identifier_keeps_its_id_when_record_arrives() -> None:
    linker = RecordLinker()
    mentioned = linker.assign_id(Identifiers(s2="a" * 40))
    assert mentioned is not None
    assert linker.get_paper(mentioned) is None
    (paper,) = linker.link([make_paper("semantic_scholar", "x", s2="a" * 40, arxiv="2305.00001")])
    assert paper.id == mentioned
    assert linker.assign_id(Identifiers(arxiv="2305.00001")) == mentioned
    assert linker.assign_id(Identifiers()) is None


def test_papers_issued_with_separate_ids_are_not_merged_later() -> None:
    linker = RecordLinker()
    two = linker.link(
        [make_paper("openalex", "W1", openalex="W1"), make_paper("arxiv", "2305.00001", arxiv="2305.00001")]
    )
    (link,) = linker.link([make_paper("semantic_scholar", "x", openalex="W1", arxiv="2305.00001")])
    assert len({paper.id for paper in two}) == 2
    assert link.id in {paper.id for paper in two}
    assert [paper.id for paper in linker.link([*two])] == [paper.id for paper in two]


def test_unissued_id_may_belong_to_the_corpus() -> None:
    assert RecordLinker().find_id_in_source(PaperId("venue-17"), "corpus") == "venue-17"


_IDENTIFIER_PARTS = st.sampled_from(["", "", "1", "2", "3"])
_RECORDS = st.lists(
    st.builds(
        make_paper,
        st.sampled_from(["corpus", "openalex", "arxiv"]),
        st.sampled_from("ab"),
        doi=_IDENTIFIER_PARTS,
        arxiv=_IDENTIFIER_PARTS,
        s2=_IDENTIFIER_PARTS,
    ),
    max_size=4,
)


@settings(deadline=None)
@given(st.lists(_RECORDS, max_size=4))
def test_every_record_keeps_its_paper_id_across_later_records(answers: list[list[Paper]]) -> None:
    linker = RecordLinker()
    given_out: dict[Paper, PaperId] = {}
    for answer in answers:
        for record, paper in zip(answer, linker.link(answer), strict=True):
            assert given_out.setdefault(record, paper.id) == paper.id
    for record, paper_id in given_out.items():
        (paper,) = linker.link([record])
        assert paper.id == paper_id
        assert paper == linker.get_paper(paper_id)
