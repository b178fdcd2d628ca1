"""Tables below a reference list, and lists printed as tables."""

import pytest

from assayer.reference_lists.entry_parser import parse_references
from assayer.reference_lists.list_removal import split_off_lists

_ENTRIES = """Lee, A. (2019). Replay buffers for continual text classification. Text Methods, 3, 1-9.

Chen, B., & Diaz, C. (2020). Forgetting curves of small language models. Text Methods, 4, 2-8.

Fox, E. (2021). Which examples does a model forget first. Text Methods, 5, 7-12.
"""
_TABLES = {
    "rows of a Word file": "Team | Year | Score\n\nRoe, J. | 2019 | 0.4\n\nDoe, K. | 2020 | 0.5",
    "Markdown": "| Team | Year |\n|---|---|\n| Roe, J. (2019). | 0.4 |\n| Doe, K. (2020). | 0.5 |",
    "caption and plain rows": "Table 2. Scores by year\n\nRoe, J. 2019 0.4\nDoe, K. 2020 0.5\nLow, M. 2021 0.6",
    "tabs": "Team\tYear\tScore\nRoe, J.\t2019\t0.4\nDoe, K.\t2020\t0.5",
    "figure": "Figure 3: Scores of Roe, J. (2019) and Doe, K. (2020).",
}


@pytest.mark.parametrize("table", _TABLES)
@pytest.mark.parametrize("heading", ["References\n", "## References\n", ""])
def test_table_below_a_reference_list_is_not_read_as_entries(heading: str, table: str) -> None:
    plan = "We rehearse what training would overwrite. " * 8
    text = f"# Plans\n\n{plan}\n\n{heading}\n{_ENTRIES}\n{_TABLES[table]}\n"
    text_and_lists = split_off_lists(text)
    assert [len(parse_references(reference_list)) for reference_list in text_and_lists.lists] == [3]
    assert "Doe, K." in text_and_lists.text
    assert "Fox" not in text_and_lists.text


def test_reference_list_that_is_a_table_is_read() -> None:
    rows = "\n".join(f"[{n}] | {entry}" for n, entry in enumerate(filter(None, _ENTRIES.split("\n")), 1))
    text_and_lists = split_off_lists(
        f"{'We rehearse what training would overwrite. ' * 8}\n\n## References\n\n{rows}\n"
    )
    assert "Fox" not in text_and_lists.text
