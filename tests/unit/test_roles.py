"""Permissions of each role, in code and in the documentation."""

from pathlib import Path

from orchestrator.access.roles import ACTS, PERMISSIONS, ROLES

PAGE = Path(__file__).parents[2] / "docs" / "use" / "reviewing.md"


def test_the_table_on_paper_is_that_of_the_code() -> None:
    told = [
        f"| {act} | " + " | ".join("yes" if role in PERMISSIONS[act] else "" for role in ROLES) + " |" for act in ACTS
    ]
    rows = PAGE.read_text("utf-8").partition("| permission | ")[2].splitlines()
    assert rows[0] == " | ".join(ROLES) + " |"
    assert [row.replace("  ", " ") for row in rows[2 : 2 + len(ACTS)]] == [row.replace("  ", " ") for row in told]


def test_the_table_names_every_act_and_every_role_somewhere() -> None:
    assert PERMISSIONS.keys() == set(ACTS)
    assert set().union(*PERMISSIONS.values()) == set(ROLES)


def test_no_machine_decides() -> None:
    for act in ("give opinions", "override", "sign off", "see the panel"):
        assert "machine" not in PERMISSIONS[act]
