"""Published software of queues."""

import random
from collections.abc import Sequence

from broker.laboratory.grid.drawing import Row, weighted
from broker.laboratory.grid.sites import Queue

RELEASES = (
    ("Athena-24.0.41", "x86_64-el9-gcc13-opt"),
    ("Athena-23.0.53", "x86_64-centos7-gcc11-opt"),
    ("AthGeneration-23.6.19", "x86_64-centos7-gcc11-opt"),
    ("AthDerivation-21.2.6.0", "x86_64-slc6-gcc62-opt@centos7"),
    ("AtlasOffline-21.0.77", "x86_64-slc6-gcc62-opt"),
    ("Athena-main-2026-10-12T2101", "x86_64-el9-gcc13-opt"),
    ("Athena-24.0.41", "x86_64-(el9|centos9)-gcc.*"),
    ("Athena-24.0.41", "x86_64-el9-gcc13-opt#x86_64-intel"),
)
RELEASE_WEIGHTS = (40, 20, 10, 6, 12, 4, 3, 5)
_PLATFORMS = [
    "x86_64-centos7-gcc11-opt", "x86_64-centos7-gcc8-opt", "x86_64-el9-gcc13-opt", "x86_64-slc6-gcc49-opt",
    "x86_64-slc6-gcc62-opt",
]  # fmt: skip
CONTAINER = "/cvmfs/unpacked.synthetic/syn/analysis:1.2"


def make_software(rng: random.Random, queues: Sequence[Queue]) -> dict[str, Row]:
    """Published software of nearly all queues with releases AUTO, and the containers that every queue knows."""
    published = {
        queue.name: _published(rng, queue.kind)
        for queue in queues
        if "AUTO" in queue.row["releases"] and rng.random() >= 0.03
    }
    container: Row = {"container_name": "syn-analysis", "cmtconfig": None, "project": None, "release": None}
    every: Row = {
        "cmtconfigs": [], "containers": [], "cvmfs": [], "architectures": [],
        "tags": [container | {"sources": [CONTAINER]}],
    }  # fmt: skip
    return {"ALL": every, **published}


def _published(rng: random.Random, kind: str) -> Row:
    software: Row = {
        "cmtconfigs": list(_PLATFORMS), "containers": ["any", "/cvmfs"], "cvmfs": ["atlas", "nightlies"],
        "architectures": _architectures(rng, kind), "tags": [],
    }  # fmt: skip
    if kind == "ARM":
        return software | {"cmtconfigs": ["aarch64-el9-gcc13-opt", "aarch64-centos7-gcc11-opt"]}
    way = weighted(rng, {"all": 75, "no containers": 13, "tags alone": 30 if kind == "HPC" else 4})
    if way == "no containers":
        return software | {"containers": [], "cvmfs": ["atlas"], "cmtconfigs": rng.sample(_PLATFORMS, 3)}
    if way == "tags alone":
        return software | {"containers": ["/cvmfs"], "cvmfs": [], "tags": [_tag(*RELEASES[0]), _tag(*RELEASES[1])]}
    return software


def _tag(trans_home: str, platform: str) -> Row:
    project, release = trans_home.split("-")
    return {"cmtconfig": platform, "project": project, "release": release, "container_name": "", "sources": []}


def _architectures(rng: random.Random, kind: str) -> list[Row]:
    if kind == "ARM":
        return [{"type": "cpu", "arch": ["aarch64", "excl"], "instr": ["any"], "vendor": ["any"]}]
    vendors = rng.choice((["intel", "amd"], ["intel"], ["amd"], ["any"]))
    processor: Row = {"type": "cpu", "arch": ["x86_64"], "instr": ["avx2"], "vendor": vendors}
    if rng.random() < 0.02:
        processor["vendor"] = ["amd", "excl"]
    if kind == "GPU":
        return [processor, {"type": "gpu", "vendor": ["nvidia", "excl"], "model": ["a100", "v100"]}]
    return [processor]


def worker_gpus(queues: Sequence[Queue]) -> dict[str, list[Row]]:
    """The GPUs of the workers at GPU queues; vram in MB."""
    card: Row = {
        "vendor": "nvidia", "model": "a100", "vram": 40_960, "architecture": "ampere", "framework_version": "12.4",
        "driver_version": "550.54",
    }  # fmt: skip
    return {queue.name: [dict(card)] for queue in queues if queue.kind == "GPU"}
