"""Runs `memvault.runtime.house` with real embedded servers and tiny stand-ins for the services.

Usage: python house_of_stand_ins.py HOME [name of a stand-in that cannot start]
"""

import asyncio
import sys
import textwrap
from pathlib import Path

from memvault.runtime import house
from memvault.runtime.folder import Folder
from memvault.runtime.supervisor import Launch, ProcessSpec
from memvault.runtime.topology import Mode, Plan, plan

STAND_IN = textwrap.dedent(
    """
    import os, signal, socket, sys
    from pathlib import Path
    name, port, home, broken = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
    if name == broken:
        sys.exit("cannot open the index: it was made by another encoder")
    print(f"{name} is here with nats at {os.environ['MEMVAULT__STORES__NATS']}")
    def stop(*_):
        with (home / "order").open("a") as order:
            order.write(name + "\\n")
        sys.exit()
    signal.signal(signal.SIGTERM, stop)
    with socket.create_server(("127.0.0.1", port)) as server:
        while True:
            peer, _ = server.accept()
            with peer:
                peer.sendall(os.environ["MEMVAULT_INSTANCE_ID"].encode())
    """
)


async def greets(launch: Launch) -> bool:
    host, _, port = launch.address.rpartition(":")
    try:
        reader, writer = await asyncio.open_connection(host, int(port))
        told = await asyncio.wait_for(reader.read(), 2)
        writer.close()
    except (OSError, TimeoutError):
        return False
    return told.decode() == launch.instance_id


def with_stand_ins(folder: Folder, mode: Mode) -> Plan:
    made = plan(folder, mode)
    broken = sys.argv[2] if len(sys.argv) > 2 else ""
    specs = [
        spec
        if spec.name in {"nats", "valkey"}
        else ProcessSpec(
            spec.name,
            (sys.executable, "-S", "-c", STAND_IN, spec.name, spec.address.rpartition(":")[2], sys.argv[1], broken),
            spec.address,
            greets,
            spec.after,
            spec.environment,
            spec.asks,
        )
        for spec in made.specs
    ]
    return Plan(tuple(specs), made.http, made.grpc, made.nats, made.redis)


if __name__ == "__main__":
    sys.exit(house.run(Folder(Path(sys.argv[1])), "six", sys.stderr, with_stand_ins))
