"""Random jobs and nodes of DiracX' specification in both versions, and their comparison by its sentences in plain
Python, apart from the model of clauses."""

from random import Random
from typing import Any

from tests.core.oracle.clauses import evaluate, parsed, version

Document = dict[str, Any]

SITES, TAGS = ("LCG.CERN.cern", "LCG.RAL.uk"), ("os:el9", "os:alma9", "cvmfs:lhcb")
EXPRESSIONS = ("", "", "cvmfs:lhcb", "os:el9 | os:alma9", "cvmfs:lhcb & ~os:el9", "~(os:el9 & cvmfs:lhcb)")


def _chance(rng: Random, document: Document, probability: float = 0.5) -> Document:
    """The document, or nothing."""
    return document if rng.random() < probability else {}


def _range(rng: Random, values: tuple[Any, ...], *, is_open: bool = True) -> Document:
    low, high = sorted(rng.choices(values, k=2))
    return {"min": low, "max": None if is_open and rng.random() < 0.5 else high}


def _memory(rng: Random) -> Document:
    overhead, per_core = rng.choice((0, 512, 2048)), rng.choice((0, 256, 1024))
    request = {"overhead": overhead, "per-core": per_core}
    return {"request": request, "limit": {"overhead": overhead + rng.choice((0, 1024)), "per-core": per_core * 2}}


def first_job(rng: Random) -> Document:
    """A job of v0.1."""
    specs = [_first_spec(rng) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.3:  # several sites, one specification
        specs = [{**specs[0], "site": site} for site in SITES]
    return {"owner": "someone", "group": "lhcb_mc", "type": "User", "matching_specs": specs}


def _first_spec(rng: Random) -> Document:
    gpu = {
        "count": _range(rng, (0, 1, 2, 4), is_open=False), "ram-mb": rng.choice((1, 16384)),
        "vendor": rng.choice(("nvidia", "amd")), "compute-capability": _range(rng, ("7.5", "8.0", "9.0")),
        **_chance(rng, {"driver-version": rng.choice(("510.47.03", "535.104"))}),
    }  # fmt: skip
    return {
        **_chance(rng, {"site": rng.choice(SITES)}),
        "system": {
            "name": "Linux", **_chance(rng, {"glibc": rng.choice((2.17, 2.28))}, 0.3),
            **_chance(rng, {"user-namespaces": rng.random() < 0.7}, 0.3),
        },
        "wall-time": rng.choice((3600, 86400)), "cpu-work": rng.choice((1000, 200000)),
        "cpu": {
            "num-cores": _range(rng, (1, 2, 4, 8), is_open=False), **_chance(rng, {"ram-mb": _memory(rng)}),
            "architecture": {"name": "x86_64", "microarchitecture-level": _range(rng, (1, 2, 3, 4))},
        },
        **_chance(rng, {"gpu": gpu}), **_chance(rng, {"io": {"scratch-mb": 5000, "scratch-iops": 10}}, 0.3),
        "tags": rng.choice(EXPRESSIONS),
    }  # fmt: skip


def first_node(rng: Random) -> Document:
    """A node of v0.1."""
    gpu: Document = {"count": rng.choice((0, 0, 1, 2, 8))}
    if gpu["count"]:
        gpu |= {
            "ram-mb": rng.choice((8192, 40960)), "vendor": rng.choice(("nvidia", "nvidia", "amd")),
            "compute-capability": rng.choice((7.5, 8.0, 9.0)), "driver-version": rng.choice(("510.47.03", "535.2")),
        }  # fmt: skip
    return {
        "site": rng.choice(SITES), "wall-time": rng.choice((3600, 86400, 172800)),
        "system": {"name": "Linux", "glibc": rng.choice((2.17, 2.34)), "user-namespaces": rng.random() < 0.5},
        "cpu-work": rng.choice((1000, 150000, 600000)),
        "cpu": {
            "num-cores": rng.choice((1, 4, 8)), "ram-mb": rng.choice((1024, 4096, 16384)),
            "architecture": {"name": "x86_64", "microarchitecture-level": rng.choice((1, 2, 3, 4))},
        },
        "gpu": gpu, **_chance(rng, {"io": {"scratch-mb": rng.choice((100, 9000)), "scratch-iops": 1}}),
        "tags": rng.sample(TAGS, rng.randint(0, 3)),
    }  # fmt: skip


def first_fits(job: Document, node: Document) -> bool:
    """Whether one specification of a job of v0.1 fits a node."""
    return any(_first_spec_fits(spec, node) for spec in job["matching_specs"])


def _first_spec_fits(spec: Document, node: Document) -> bool:
    cpu, cores = node["cpu"], spec["cpu"]["num-cores"]["min"]
    level = spec["cpu"]["architecture"]["microarchitecture-level"]
    system = spec["system"]
    return all((
        spec.get("site") in (None, node["site"]),
        version(str(system.get("glibc", 0))) <= version(str(node["system"]["glibc"])),
        not system.get("user-namespaces") or node["system"]["user-namespaces"],
        spec["wall-time"] <= node["wall-time"] and spec["cpu-work"] <= node["cpu-work"],
        cores <= cpu["num-cores"],
        all(one["overhead"] + one["per-core"] * cores <= cpu["ram-mb"]
            for one in spec["cpu"].get("ram-mb", {}).values()),
        level["min"] <= cpu["architecture"]["microarchitecture-level"] <= (level["max"] or 99),
        "gpu" not in spec or _first_gpu_fits(spec["gpu"], node["gpu"]),
        "io" not in spec or "io" not in node or spec["io"]["scratch-mb"] <= node["io"]["scratch-mb"],
        not spec["tags"] or evaluate(parsed(spec["tags"]), node["tags"]),
    ))  # fmt: skip


def _first_gpu_fits(wanted: Document, gpu: Document) -> bool:
    if not wanted["count"]["min"] <= gpu["count"] <= wanted["count"]["max"]:
        return False
    capability = wanted["compute-capability"]
    return not gpu["count"] or (
        wanted["ram-mb"] <= gpu["ram-mb"]
        and wanted["vendor"] == gpu["vendor"]
        and version(capability["min"]) <= version(str(gpu["compute-capability"]))
        and version(capability["max"] or "99") >= version(str(gpu["compute-capability"]))
        and version(wanted.get("driver-version", "0")) <= version(gpu["driver-version"])
    )


def second_job(rng: Random) -> Document:
    """A job of v0.2, whose numbers of cores are few."""
    gpu = {
        "count": _range(rng, (0, 1, 2, 4), is_open=False), "vendor": "nvidia", "arch": rng.choice(("sm_75", "sm_90")),
        **_chance(rng, {"vram_mb_per_gpu": 16384}), **_chance(rng, {"min_runtime_version": "12.0"}),
    }  # fmt: skip
    memory = {one: {key.replace("-", "_"): n for key, n in part.items()} for one, part in _memory(rng).items()}
    time: Document = {}
    while not time:
        time = _chance(rng, {"wall_time": rng.choice((3600, 86400))}) | _chance(
            rng, {"cpu_work_db12": rng.choice((36000, 300000, 2000000))}
        )
    arch: Document = rng.choice(({"level": "x86-64-v2"}, {"required_features": ["avx", "fma"]}))
    requirements = {
        **time,
        "cpu": {
            **_chance(rng, {"num_cores": _range(rng, (1, 2, 3, 5, 8), is_open=False)}),
            **_chance(rng, {"ram_mb": memory}), "architecture": {"name": "x86_64", **arch},
        },
        **_chance(rng, {"gpu": gpu}), **_chance(rng, {"io": {"scratch_mb": 5000}}, 0.3),
        "tags": rng.choice(EXPRESSIONS),
    }  # fmt: skip
    return {"requirements": requirements, **rng.choice(({}, {"sites": [SITES[0]]}, {"banned_sites": [SITES[0]]}))}


def second_node(rng: Random) -> Document:
    """A node of v0.2."""
    gpu: Document = {"count": rng.choice((0, 0, 1, 2, 8))}
    if gpu["count"]:
        gpu |= {
            "vendor": "nvidia", "arch": rng.choice(("sm_75", "sm_80", "sm_90")), "runtime_version": "12.4",
            "vram_mb_per_gpu": rng.choice((8192, 40960)),
        }  # fmt: skip
    level_2 = ["cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"]
    return {
        "site": rng.choice(SITES), "system": {"name": "Linux"}, "wall_time": rng.choice((3600, 86400, 86400)),
        "cpu_power_db12": rng.choice((5, 11.5, 25)),
        "cpu": {
            "num_nodes": 1, "num_cores": rng.choice((1, 4, 8, 64)),
            **_chance(rng, {"ram_mb": rng.choice((1024, 4096, 65536))}, 0.8),
            "architecture": {
                "name": "x86_64", "features": rng.choice(([], level_2, *[[*level_2, "avx", "fma"]] * 3))},
        },
        "gpu": gpu, **_chance(rng, {"io": {"scratch_mb": rng.choice((100, 9000))}}),
        "tags": rng.sample(TAGS, rng.randint(0, 3)),
    }  # fmt: skip


def second_fits(job: Document, node: Document) -> bool:
    """Whether a job of v0.2 fits a node: the matcher gives it as many cores as the memory allows."""
    wanted, cpu = job["requirements"], node["cpu"]
    arch, features = wanted["cpu"]["architecture"], set(cpu["architecture"]["features"])
    needed = {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"} if "level" in arch else {"avx", "fma"}
    count = wanted["cpu"].get("num_cores", {"min": 1, "max": 1})
    request = wanted["cpu"].get("ram_mb", {}).get("request", {"overhead": 0, "per_core": 0})
    ram = cpu.get("ram_mb", float("inf"))
    allowed = [n for n in range(count["min"], count["max"] + 1)
               if n <= cpu["num_cores"] and request["overhead"] + request["per_core"] * n <= ram]  # fmt: skip
    power = node["wall_time"] * node["cpu_power_db12"]
    return bool(allowed) and all((
        node["site"] in job.get("sites", SITES) and node["site"] not in job.get("banned_sites", []),
        wanted.get("wall_time", 0) <= node["wall_time"],
        wanted.get("cpu_work_db12", 0) <= power * max(allowed),
        needed <= features,
        _second_gpu_fits(wanted.get("gpu"), node["gpu"]),
        wanted.get("io", {}).get("scratch_mb", 0) <= node.get("io", {}).get("scratch_mb", float("inf")),
        not wanted["tags"] or evaluate(parsed(wanted["tags"]), node["tags"]),
    ))  # fmt: skip


def _second_gpu_fits(wanted: Document | None, gpu: Document) -> bool:
    if wanted is None:
        return not gpu["count"]  # a node with GPUs is refused to a job that names none
    if not wanted["count"]["min"] <= gpu["count"] <= wanted["count"]["max"]:
        return False
    return not gpu["count"] or (
        int(wanted["arch"][3:]) <= int(gpu["arch"][3:])
        and wanted.get("vram_mb_per_gpu", 0) <= gpu["vram_mb_per_gpu"]
        and version(wanted.get("min_runtime_version", "0")) <= version(gpu["runtime_version"])
    )
