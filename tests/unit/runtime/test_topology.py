import socket
from pathlib import Path

import pytest

from memvault.runtime.folder import Folder
from memvault.runtime.settings import SettingsError
from memvault.runtime.topology import SERVICES, Plan, PortTakenError, plan


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    monkeypatch.setenv("MEMVAULT__HTTP__ADDRESS", "127.0.0.1:0")
    monkeypatch.setenv("MEMVAULT__ADDRESSES__GATEWAY", "127.0.0.1:0")
    made = Folder(tmp_path)
    made.prepare()
    return made


def names(made: Plan) -> list[str]:
    return [spec.name for spec in made.specs]


def test_by_default_two_embedded_servers_and_six_services_run_each_at_its_own_port(folder: Folder):
    made = plan(folder, "six")
    assert names(made) == ["nats", "valkey", *SERVICES]
    ports = [spec.address for spec in made.specs] + [made.http]
    assert len(set(ports)) == len(ports) == 9
    assert all(not address.endswith(":0") for address in ports)


def test_every_process_is_told_every_address(folder: Folder):
    made = plan(folder, "six")
    told = next(spec for spec in made.specs if spec.name == "search").environment
    for spec in made.specs[2:]:
        assert told[f"MEMVAULT__ADDRESSES__{spec.name.upper()}"] == spec.address
    assert told["MEMVAULT__STORES__NATS"] == made.nats == f"nats://{made.specs[0].address}"
    assert told["MEMVAULT__STORES__REDIS"] == made.redis == f"redis://{made.specs[1].address}/0"
    assert told["MEMVAULT__HTTP__ADDRESS"] == made.http
    assert told["MEMVAULT_HOME"] == str(folder.root)


def test_with_addresses_of_stores_nothing_embedded_starts(folder: Folder, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMVAULT__STORES__NATS", "nats://bus:4222")
    monkeypatch.setenv("MEMVAULT__STORES__REDIS", "redis://cache:6379/0")
    made = plan(folder, "six")
    assert names(made) == list(SERVICES)
    assert (made.nats, made.redis) == ("nats://bus:4222", "redis://cache:6379/0")


def test_in_one_process_there_is_one_process_beside_the_servers(folder: Folder):
    made = plan(folder, "one")
    assert names(made) == ["nats", "valkey", "laptop"]
    assert made.specs[-1].address == made.grpc


def test_services_start_together_once_the_servers_are_there(folder: Folder):
    for spec in plan(folder, "six").specs:
        assert spec.after == (("nats", "valkey") if spec.name in SERVICES else ())


def test_a_service_is_listed_after_all_that_it_asks(folder: Folder):
    order = {spec.name: position for position, spec in enumerate(plan(folder, "six").specs)}
    asks = {spec.name: spec.asks for spec in plan(folder, "six").specs}
    assert asks["gateway"] == ("search", "router")
    assert all(order[asked] < order[name] for name, peers in asks.items() for asked in peers)


def test_a_taken_public_port_is_told_with_the_variable_to_set(folder: Folder, monkeypatch: pytest.MonkeyPatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        monkeypatch.setenv("MEMVAULT__ADDRESSES__GATEWAY", address)
        with pytest.raises(PortTakenError, match=f"{address} cannot be used .*MEMVAULT__ADDRESSES__GATEWAY"):
            plan(folder, "six")


@pytest.mark.parametrize("address", ["here", "127.0.0.1", "127.0.0.1:99999", ":1", "a b:1"])
def test_what_is_no_address_is_refused_with_an_example(folder: Folder, monkeypatch: pytest.MonkeyPatch, address: str):
    monkeypatch.setenv("MEMVAULT__HTTP__ADDRESS", address)
    with pytest.raises(SettingsError, match="write host:port"):
        plan(folder, "six")
