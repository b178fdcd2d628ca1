"""Read plans for `assayer policy train`: one TOML file per training, in which `method` names the policy's method."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from assayer.errors import InputError
from workers.policy_training.companion_plan import CompanionTraining
from workers.policy_training.configuration import PolicyTraining

AnyTraining = PolicyTraining | CompanionTraining
_KINDS: Mapping[object, type[PolicyTraining] | type[CompanionTraining]] = {
    "debate": PolicyTraining,
    "scicompanion": CompanionTraining,
}


def parse_plan(fields: Mapping[str, object]) -> AnyTraining:
    """Return the training plan. Raises ValidationError if it is invalid, and InputError if the method cannot be
    trained."""
    method = fields.get("method", "debate")
    if not isinstance(method, str) or method not in _KINDS:
        raise InputError(
            f"Cannot train unknown method {method!r}.",
            f"Set method to one of {', '.join(map(str, _KINDS))}.",
        )
    return _KINDS[method].model_validate(fields)


def read_policy_training(path: Path) -> AnyTraining:
    """Read a training plan. Paths are relative to the file's folder. Raises InputError, which names every invalid
    field, if it cannot be used."""
    try:
        fields = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} cannot be read as TOML: {error}.") from None
    try:
        plan = parse_plan(fields)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, item['loc'])) or 'the file'}: {item['msg']}"
            for item in error.errors(include_url=False)
        )
        raise InputError(
            f"{path} cannot be used: {faults}.", "See docs/use/policy-training.md for all fields."
        ) from None
    return plan.from_folder(path.absolute().parent)
