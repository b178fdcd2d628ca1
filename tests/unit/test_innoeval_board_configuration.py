"""Identity of a run: the contents of the files that a board uses, not their paths."""

import datetime as dt
from pathlib import Path
from shutil import copyfile

from assayer.methods.innoeval.board.configuration import hash_option_files
from assayer.methods.innoeval.board.decision import CalibrationConditions, DecisionCalibration, DecisionPerformance
from assayer.methods.innoeval.options import BoardOptions, InnoEvalOptions

CALIBRATION = DecisionCalibration(
    name="spring",
    made_on=dt.date(2026, 3, 1),
    provenance="40 made-up ideas.",
    labels_sha256="ab" * 32,
    conditions=CalibrationConditions(
        models=("m",), prompt_version=1, prompt_digest="", dimensions=(), board=0, pool=""
    ),
    outcomes=("Reject", "Accept"),
    counts=(20, 20),
    unscored=0,
    thresholds=(5.0,),
    replicates=((5.0,),),
    performance=DecisionPerformance(
        accuracy=0.8, macro_f1=0.8, balanced_accuracy=0.8, always_most_frequent=0.5, macro_f1_most_frequent=0.33,
        chance=0.5,
    ),
)  # fmt: skip


def hash_board_options(**board: object) -> dict[str, object]:
    content = hash_option_files(InnoEvalOptions(board=BoardOptions.model_validate(board))).model_dump(mode="json")
    return dict(content["board"])


def test_board_configuration_depends_on_file_contents_not_paths(tmp_path: Path) -> None:
    calibration, copied_calibration = tmp_path / "spring.json", tmp_path / "copied.json"
    calibration.write_text(CALIBRATION.model_dump_json())
    copyfile(calibration, copied_calibration)
    board_by_path = hash_board_options(calibration=calibration)
    assert board_by_path == hash_board_options(calibration=copied_calibration) != hash_board_options()
    calibration.write_text(CALIBRATION.model_copy(update={"thresholds": (6.0,)}).model_dump_json())
    assert hash_board_options(calibration=calibration) != board_by_path
    assert str(tmp_path) not in str(board_by_path)


def test_seed_and_board_size_are_part_of_the_configuration() -> None:
    assert hash_board_options(seed=1) != hash_board_options()
    assert hash_board_options(board=0)["board"] == 0
