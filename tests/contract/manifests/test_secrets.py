"""Each component has the Secrets that it uses, and no others; each has its own role in the database."""

import pytest

from tests.contract.manifests.resources import Pod, build_folder, filter_by_kind, list_pods

POOLS = {
    "assayer-postgres-serving", "assayer-llm", "assayer-access", "assayer-sources", "assayer-webhooks", "assayer-mail"
}  # fmt: skip
SECRETS = {
    "head": {"assayer-postgres-scaling"},
    "pools": POOLS,
    "gpus": set(),
    "llm": set(),
    "llm-head": set(),
    "grobid": set(),
    "redis": {"assayer-redis"},
    "migrate": {"assayer-postgres-app"},
    "dump": {"assayer-postgres-dump"},
    "postgres": {
        "assayer-postgres-app", "assayer-postgres-serving", "assayer-postgres-scaling", "assayer-postgres-dump"
    },
    "schedule": set(),
    "submitter": set(),
    "night": {"assayer-sources", "assayer-corpus-writer"},
}  # fmt: skip
CORPUS = {
    "corpus/build": {"corpus-head": {"assayer-corpus-writer"}, "corpus-gpus": set()},
    "overlays/nightly": {"corpus-head": set(), "corpus-gpus": {"assayer-sources", "assayer-corpus-writer"}},
}


def _list_secrets(pod: Pod) -> set[str]:
    return {
        reference["name"]
        for container in pod.containers
        for source in (*container.get("envFrom", ()), *(item.get("valueFrom", {}) for item in container.get("env", ())))
        for kind, reference in source.items()
        if kind in ("secretRef", "secretKeyRef")
    } | {volume["secret"]["secretName"] for volume in pod.spec.get("volumes", ()) if "secret" in volume}


@pytest.mark.parametrize(
    "folder",
    [
        *(f"overlays/{name}" for name in ("cpu", "gpu", "gpu-search", "llm", "small", "kind", "mail", "nightly")),
        "corpus/build",
        "corpus/nightly",
    ],
)
def test_component_has_only_the_secrets_that_it_uses(folder: str) -> None:
    expected = SECRETS | CORPUS.get(folder, {})
    for pod in list_pods(build_folder(folder)):
        if pod.of != "Cluster/assayer-postgres":  # its instances are the operator's
            assert _list_secrets(pod) == expected[pod.labels["assayer/part"]], pod.of


def test_only_the_pools_read_the_bucket() -> None:
    pods = {pod.labels["assayer/part"]: pod for pod in list_pods(build_folder("overlays/bucket"))}
    assert _list_secrets(pods["pools"]) == {*POOLS, "assayer-corpus-reader"}
    assert _list_secrets(pods["head"]) == SECRETS["head"]


def test_operator_makes_the_roles_that_the_migration_names() -> None:
    resources = build_folder("overlays/cpu")
    (cluster,) = filter_by_kind(resources, "Cluster")
    roles = {role["name"]: role["passwordSecret"]["name"] for role in cluster["spec"]["managed"]["roles"]}
    (migrate,) = filter_by_kind(resources, "Job")
    (container,) = migrate["spec"]["template"]["spec"]["containers"]
    options = dict(zip(container["command"][3::2], container["command"][4::2], strict=True))
    assert options == {"--serving-role": "assayer_serving", "--scaling-role": "assayer_scaling"}
    assert roles == {role: role.replace("assayer_", "assayer-postgres-") for role in options.values()}


def test_plain_server_creates_the_same_roles_and_one_for_dumps() -> None:
    texts = [
        item["data"]["roles.sh"]
        for item in filter_by_kind(build_folder("overlays/small"), "ConfigMap")
        if "roles.sh" in item["data"]
    ]
    (text,) = texts
    for role in ("assayer_serving", "assayer_scaling", "assayer_dump"):
        assert f"CREATE ROLE {role} LOGIN PASSWORD :'{role.removeprefix('assayer_')}'" in text
