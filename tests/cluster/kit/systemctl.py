"""A stand-in for systemctl. `enable --now` starts the programs of unit files, `reload nginx` starts nginx.

The variable MACHINE holds the folder that replaces the root of a machine, the port of the service, and the programs.
"""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

MACHINE = json.loads(os.environ["MACHINE"])
ROOT = Path(MACHINE["root"])


def moved(text: str) -> str:
    """A text with the paths of this machine."""
    text = text.replace("/opt/pgbroker/bin/broker", f"{MACHINE['program']}/broker")
    return re.sub(r"/etc/", f"{ROOT}/etc/", text)


def start(name: str) -> None:
    """Start the service of a unit as systemd does: only with its own environment."""
    text = (ROOT / "etc/systemd/system" / f"{name}.service").read_text()
    service = dict(re.findall(r"^(\w+)=(.*)$", text, re.MULTILINE))
    lines = Path(moved(service["EnvironmentFile"])).read_text().splitlines()
    environment = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    environment |= dict(word.split("=", 1) for word in moved(service["Environment"]).split())
    options = environment["SERVE_OPTIONS"].replace("--workers 4", "--workers 1")  # each worker takes a second to start
    environment["SERVE_OPTIONS"] = f"{options} --bind 127.0.0.1:{MACHINE['port']}"
    words = [
        part
        for word in shlex.split(moved(service["ExecStart"]))
        for part in (environment[word[1:]].split() if word.startswith("$") else [word])
    ]
    run(name, words, environment)


def run(name: str, words: list[str], environment: dict[str, str]) -> None:
    """Start a program and write its process id into a file."""
    folder = ROOT / "started"
    folder.mkdir(exist_ok=True)
    log = (ROOT / f"{name}.log").open("w")
    process = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    (folder / name).write_text(str(process.pid))


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["enable", "--now", *names]:
            for name in names:
                if name.endswith(".timer"):
                    assert (ROOT / "etc/systemd/system" / name).exists()
                else:
                    start(name)
        case ["reload", "nginx"]:
            run("nginx", ["nginx"], dict(os.environ))
        case ["daemon-reload"] | ["restart", _]:
            pass
        case other:
            sys.exit(f"systemctl {' '.join(other)}: not known here")
