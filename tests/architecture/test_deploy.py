"""No container can be started here, so at least nothing in deploy/ may name what does not exist."""

import re
from typing import Any

import pytest
import yaml

from memvault.runtime.settings import defaults
from tests.architecture.repository import ROOT, SERVICES, package

DEPLOY = ROOT / "deploy"
SERVERS = {"nats", "redis", "qdrant"}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    return loaded


def test_all_six_services_and_their_servers_are_there(compose: dict[str, Any]) -> None:
    assert set(compose["services"]) == {*SERVICES, *SERVERS, "otel-collector"}


@pytest.mark.parametrize("service", SERVICES)
def test_each_service_builds_its_own_package_and_listens_where_the_others_look(
    service: str, compose: dict[str, Any]
) -> None:
    spec = compose["services"][service]
    assert spec["build"]["args"]["SERVICE"] == service
    assert (package(service) / "__main__.py").is_file()
    key = f"MEMVAULT__ADDRESSES__{service.upper()}"
    host, port = spec["environment"][key].split(":")
    assert host == "0.0.0.0"  # noqa: S104 - inside its own container
    assert compose["x-environment"][key] == f"{service}:{port}"
    assert spec["healthcheck"]["test"][-1] == f"127.0.0.1:{port}"


def test_every_variable_is_a_setting(compose: dict[str, Any]) -> None:
    known = defaults("reference")
    for service in SERVICES:
        for name in compose["services"][service]["environment"]:
            assert name.startswith("MEMVAULT__")
            table: Any = known
            for part in name.removeprefix("MEMVAULT__").lower().split("__"):
                assert part in table, f"{name}: no such setting"
                table = table[part]


def test_whatever_is_depended_on_or_mounted_exists(compose: dict[str, Any]) -> None:
    for spec in compose["services"].values():
        assert set(spec.get("depends_on", {})) <= set(compose["services"])
        for volume in spec.get("volumes", ()):
            source = volume.split(":")[0]
            assert (DEPLOY / source).is_file() if source.startswith(".") else source in compose["volumes"]


def test_only_this_machine_can_reach_what_is_published(compose: dict[str, Any]) -> None:
    ports = [port for spec in compose["services"].values() for port in spec.get("ports", ())]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_the_dockerfile_copies_only_what_exists_and_runs_without_root() -> None:
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    for source in re.findall(r"^COPY (?!--from)(\S+)", text, re.MULTILINE):
        assert (ROOT / source).exists()
    assert re.search(r"^USER (?!root)\w+$", text, re.MULTILINE)
    assert "--require-hashes" in text


def test_the_collectors_pipelines_use_what_is_declared() -> None:
    config = yaml.safe_load((DEPLOY / "otel-collector.yaml").read_text(encoding="utf-8"))
    for pipeline in config["service"]["pipelines"].values():
        for kind, names in pipeline.items():
            assert set(names) <= set(config[kind])
