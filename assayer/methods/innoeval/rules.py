"""What a board goes by: dimensions, personas and calibration, whether they come with assayer or from files."""

import hashlib
from typing import Any, NamedTuple

from pydantic import RootModel

from assayer.methods.innoeval.board import enough
from assayer.methods.innoeval.board_options import BoardOptions
from assayer.methods.innoeval.decision import DecisionCalibration
from assayer.methods.innoeval.decision import load as load_calibration
from assayer.methods.innoeval.dimensions import Dimension, chosen
from assayer.methods.innoeval.options import Options
from assayer.methods.innoeval.personas import Pool, shipped
from assayer.methods.innoeval.personas import load as load_pool

__all__ = ["Determinants", "Rules", "determinants_of", "rules_of"]


class Rules(NamedTuple):
    dimensions: tuple[Dimension, ...]
    pool: Pool
    calibration: DecisionCalibration | None


class Determinants(RootModel[dict[str, Any]]):
    """Options as they determine a report: files by what stands in them, wherever they lie."""


def rules_of(options: BoardOptions) -> Rules:
    """Reads the files. Raises InputError for those that cannot be used and for a pool smaller than the board."""
    rules = Rules(
        dimensions=chosen(options.dimensions),
        pool=shipped() if options.personas is None else load_pool(options.personas),
        calibration=load_calibration(options.calibration) if options.calibration else None,
    )
    enough(rules.pool, options.board)
    return rules


def determinants_of(options: Options) -> Determinants:
    """Raises as `rules_of`."""
    rules = rules_of(options.board)
    dumped = options.model_dump(mode="json", exclude={"board": {"personas", "dimensions", "calibration"}})
    dumped["board"] |= {
        "personas": rules.pool.sha256,
        "dimensions": [one.sha256 for one in rules.dimensions],
        "calibration": _sha256(rules.calibration) if rules.calibration else None,
    }
    return Determinants(dumped)


def _sha256(calibration: DecisionCalibration) -> str:
    return hashlib.sha256(calibration.model_dump_json().encode()).hexdigest()
