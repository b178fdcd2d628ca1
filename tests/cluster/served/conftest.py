"""A small Ray of its own for the tests of this folder, gone before those that start another."""

from collections.abc import Iterator

import pytest
from ray import serve

from cluster.ray_cluster import enter_private_environment, start_service_cluster
from cluster.serving.settings import ServingSettings
from simulator.process import Simulator


@pytest.fixture(scope="package")
def simulator() -> Iterator[Simulator]:
    with Simulator(latency_mean=0) as simulator:
        yield simulator


@pytest.fixture(scope="package")
def cluster(simulator: Simulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Start a Ray cluster whose processes use the simulator."""
    home = tmp_path_factory.mktemp("home")
    variables = {
        "HOME": str(home),
        "ASSAYER_HOME": str(home / "assayer"),
        "ASSAYER_LLM__BASE_URL": simulator.base_url,
        "ASSAYER_LLM__MODEL": "simulated",
        "ASSAYER_LLM__API_KEY": "sk-test",
    }
    with pytest.MonkeyPatch.context() as patch, enter_private_environment() as folder:
        for name, value in variables.items():
            patch.setenv(name, value)
        with start_service_cluster(folder, ServingSettings()):
            serve.start(proxy_location="Disabled", logging_config={"log_level": "WARNING"})
            yield
            serve.shutdown()  # type: ignore[no-untyped-call]
