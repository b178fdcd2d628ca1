"""A board's configuration: the built-in dimensions and personas, and the calibration from a file."""

import hashlib
from typing import Any, NamedTuple

from pydantic import RootModel

from assayer.errors import InputError
from assayer.methods.innoeval.board.decision import DecisionCalibration, load_decision_calibration
from assayer.methods.innoeval.dimensions import RubricDimension, load_built_in_dimensions
from assayer.methods.innoeval.options import BoardOptions, InnoEvalOptions
from assayer.methods.innoeval.personas import PersonaPool, load_built_in_persona_pool


class BoardConfiguration(NamedTuple):
    dimensions: tuple[RubricDimension, ...]
    pool: PersonaPool
    calibration: DecisionCalibration | None


class HashedOptions(RootModel[dict[str, Any]]):
    """Options that determine a report. Files are replaced by hashes of their contents, so that file locations make no
    difference."""


def load_board_configuration(options: BoardOptions) -> BoardConfiguration:
    """Load the board's configuration. Raises InputError if the calibration file is invalid or there are fewer personas
    than seats."""
    configuration = BoardConfiguration(
        dimensions=load_built_in_dimensions(),
        pool=load_built_in_persona_pool(),
        calibration=load_decision_calibration(options.calibration) if options.calibration else None,
    )
    personas = len(configuration.pool.personas)
    if personas < options.board:
        raise InputError(
            f"The pool {configuration.pool.name} has {personas} personas, too few for a board of {options.board}.",
            "Choose a smaller board.",
        )
    return configuration


def hash_option_files(options: InnoEvalOptions) -> HashedOptions:
    """Return the options with files replaced by hashes. Raises the same errors as `load_board_configuration`."""
    configuration = load_board_configuration(options.board)
    calibration = configuration.calibration
    options_json = options.model_dump(mode="json", exclude={"board": {"calibration"}})
    options_json["board"] |= {
        "personas": configuration.pool.sha256,
        "dimensions": [dimension.sha256 for dimension in configuration.dimensions],
        "calibration": calibration and hashlib.sha256(calibration.model_dump_json().encode()).hexdigest(),
    }
    return HashedOptions(options_json)
