"""Copies of models with changed fields."""

import pytest

from assayer.models import Absent


def test_copy_with_an_unknown_field_is_refused() -> None:
    reason = Absent(reason="The model did not answer.")
    assert reason.model_copy(update={"reason": "Other."}).reason == "Other."
    with pytest.raises(ValueError, match="Absent has no field cause"):
        reason.model_copy(update={"cause": "Other."})
