"""A layer over processes on two hosts that are network namespaces: each has an
address and a name of its own, and all that goes between them goes over TCP."""

import os
import subprocess
import sys

import numpy as np

work, small = sys.argv[1:]
os.makedirs(work, exist_ok=True)
os.chdir(work)
number = os.getpid() % 10000
NET = f"10.{200 + number % 50}.{number % 250}"
BRIDGE = f"sabr{number}"
HOSTS = {f"{NET}.{2 + i}": f"sahost{number}{chr(ord('a') + i)}" for i in range(2)}


def do(*words, check=True):
    return subprocess.run(words, check=check, text=True, capture_output=not check)


def remove():
    for name in HOSTS.values():
        do("ip", "netns", "del", name, check=False)
    do("ip", "link", "del", BRIDGE, check=False)


def make():
    do("ip", "link", "add", BRIDGE, "type", "bridge")
    do("ip", "address", "add", f"{NET}.1/24", "dev", BRIDGE)
    do("ip", "link", "set", BRIDGE, "up")
    for i, (address, name) in enumerate(HOSTS.items()):
        here, there = f"sav{number}{i}", f"saw{number}{i}"
        do("ip", "netns", "add", name)
        do("ip", "link", "add", here, "type", "veth", "peer", "name", there)
        do("ip", "link", "set", here, "master", BRIDGE, "up")
        do("ip", "link", "set", there, "netns", name)
        inside = ("ip", "-n", name)
        do(*inside, "address", "add", f"{address}/24", "dev", there)
        do(*inside, "link", "set", there, "up")
        do(*inside, "link", "set", "lo", "up")
    # What the launcher calls instead of ssh: HOST COMMAND...
    with open("agent.sh", "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nhost=$1\nshift\ncase $host in\n")
        for address, name in HOSTS.items():
            file.write(f"{address}) name={name} ;;\n")
        file.write('esac\nexec ip netns exec "$name" unshare --uts '
                   'sh -c "hostname $name; $*"\n')
    os.chmod("agent.sh", 0o755)


def run():
    local = subprocess.run(["sparseattn-run", small, "--ranks", "4", "--outputs", "local.npz"],
                           text=True, capture_output=True, check=True)
    launch = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", "4", "--map-by", "node",
              "--host", ",".join(f"{address}:2" for address in HOSTS),
              "--mca", "plm_rsh_agent", os.path.abspath("agent.sh"), "--mca", "btl", "self,tcp",
              "--mca", "btl_tcp_if_include", f"{NET}.0/24",
              "--mca", "oob_tcp_if_include", f"{NET}.0/24", "-x", "PATH", "-x", "XDG_CACHE_HOME"]
    names = subprocess.run([*launch, "hostname"], text=True, capture_output=True, check=True,
                           timeout=100).stdout.split()
    if sorted(names) != sorted(2 * list(HOSTS.values())):
        sys.exit(f"failed: got processes on {names}, expected two on each host")
    hosts = subprocess.run(
        [*launch, "sparseattn-run", small, "--ranks", "4", "--transport", "mpi", "--check=full",
         "--outputs", os.path.abspath("hosts.npz")],
        text=True, capture_output=True, check=False, timeout=300)
    if hosts.returncode:
        sys.exit(f"failed: {hosts.stdout}{hosts.stderr}")
    for name in ("out", "lse"):
        if not np.array_equal(np.load("local.npz")[name], np.load("hosts.npz")[name]):
            sys.exit(f"failed: {name} differs")
    lines = [line for line in hosts.stdout.splitlines() if line.startswith("loads")]
    if lines != [line for line in local.stdout.splitlines() if line.startswith("loads")]:
        sys.exit(f"failed: {hosts.stdout}")
    print("same bits over two hosts")


try:
    make()
    run()
finally:
    remove()
