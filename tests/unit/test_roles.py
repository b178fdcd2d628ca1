"""Permissions of each role, in code and in the documentation."""

from pathlib import Path

from orchestrator.access.roles import ACTS, PERMISSIONS, ROLES

PAGE = Path(__file__).parents[2] / "docs" / "use" / "reviewing.md"


def test_documented_permission_table_matches_code() -> None:
    documented = [
        f"| {act} | " + " | ".join("yes" if role in PERMISSIONS[act] else "" for role in ROLES) + " |" for act in ACTS
    ]
    table_lines = PAGE.read_text("utf-8").partition("| permission | ")[2].splitlines()
    assert table_lines[0] == " | ".join(ROLES) + " |"
    assert [row.replace("  ", " ") for row in table_lines[2 : 2 + len(ACTS)]] == [
        row.replace("  ", " ") for row in documented
    ]


def test_permission_table_covers_every_action_and_role() -> None:
    assert PERMISSIONS.keys() == set(ACTS)
    assert set().union(*PERMISSIONS.values()) == set(ROLES)


def test_machine_role_has_no_decision_permissions() -> None:
    for act in ("give reviews", "override", "sign off", "see the panel"):
        assert "machine" not in PERMISSIONS[act]
