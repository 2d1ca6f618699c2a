"""Jobs and nodes of DiracX' matching specification as requirements and resource descriptions.

Source: the specification in the repository devlink42/poc-dirac-job-matchmaking: v0.1 (main, June 2026; its evaluator
where the text is silent) and v0.2 (branch schema-design-0.2, April 2026). A job of v0.1 has `matching_specs`, one of
which must fit; a job of v0.2 has `requirements`. Fields that neither version compares take no part here: scratch-iops,
lan-mbitps, num-nodes, and in v0.2 the limit of memory, which the pilot enforces.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from broker.errors import BadRequest
from broker.translate.document import Part, count, flag, number, text, texts, version, wrong
from broker.world.shape import nearest

Attributes = dict[str, Any]

_MOST_PROCESSORS = 1024  # of NumberOfProcessors
_MOST_EXACT = 8  # numbers of cores that are tried one by one
_LEVELS = (  # the x86-64 psABI's, by the flags of /proc/cpuinfo
    {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"},
    {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"},
    {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"},
)


@dataclass(frozen=True)
class _Case:
    """One way to run a job: its site (or any), its expression over tags, its attributes, the numbers of cores and the
    memory (MB) at the least of them, and the memory for each core."""

    site: str | None = None
    tags: str | None = None
    attributes: Attributes = field(default_factory=dict)
    cores: int = 1
    most_cores: int | None = None
    ram: int = 0
    ram_per_core: int = 0


def _is_document(given: Any) -> bool:
    """Whether a value is a job of DiracX by itself, or an object of several jobs by name, where a job with an id and
    requirements is expected."""

    def is_job(one: Any) -> bool:
        return isinstance(one, dict) and (
            "matching_specs" in one or ("requirements" in one and not one.keys().isdisjoint(("owner", "job_type")))
        )

    return is_job(given) or (isinstance(given, dict) and bool(given) and all(map(is_job, given.values())))


def require_no_document(given: Any) -> None:
    """Raises BadRequest for a document, which has no id of a job."""
    if _is_document(given):
        hint = 'give {"job_id": 1, "requirements": DOCUMENT}, with ids of your own choice'
        raise BadRequest("this is a document of DiracX without the id of a job", hint)


def translated_requirements(given: Any) -> Any:
    """The requirements of a job of DiracX, known by its `matching_specs` or `requirements`; any other value as it is.
    Raises BadRequest, naming the field, also without an owner or a group."""
    names = _names(given)
    if names.isdisjoint(_OF_JOB):
        for name in () if names.isdisjoint(("owner", "group", "version")) else names:
            if meant := nearest(name, _OF_JOB, 0.8):
                raise BadRequest(f"{name} is not a known field", f"The nearest is {meant}.")
        return given
    found = requirements_of_document(given)
    for name, key in (("owner", "Owner"), ("group", "OwnerGroup")):
        if key not in found:
            raise BadRequest(f"{name} is missing")
    return found


def translated_description(given: Any) -> Any:
    """The resource description of a node of DiracX, known by its `node_id` or `cpu` without the key CPUTime; any other
    value as it is. Raises BadRequest, naming the field."""
    names = _names(given)
    is_node = not names.isdisjoint(("node_id", "cpu")) and "CPUTime" not in names
    return description_of_node(given) if is_node else given


_OF_JOB = ("matching_specs", "requirements")


def _names(given: Any) -> set[str]:
    """The names of the fields of a document, with _ between their words; none if the value is no object."""
    return {str(name).replace("-", "_") for name in given} if isinstance(given, dict) else set()


def requirements_of_document(document: Any) -> dict[str, Any]:
    """The requirements of a job of DiracX, v0.1 or v0.2. CPUTime is 0, since the document's work is an attribute; Owner
    and OwnerGroup are left out if the document has none. Raises BadRequest, naming the field."""
    job = Part("", document)
    job.take("version", _known_version)
    job.skip("job_id", "submit_time", "status", "optimizer_notes")
    named = {
        "Owner": job.take("owner", text), "OwnerGroup": job.take("group", text), "CPUTime": 0,
        "JobTypes": job.take("type", text) or job.take("job_type", text),
    }  # fmt: skip
    specs = job.take("matching_specs", _list)
    if specs is not None:
        cases = [case for place, one in specs for case in _spec(Part(place, one, job.joint))]
    else:
        named |= _scope(job)
        cases = list(_requirements(job.need("requirements", Part)))
    job.end()
    if isinstance(named["JobTypes"], str):
        named["JobTypes"] = [named["JobTypes"]]
    return {key: value for key, value in named.items() if value is not None} | _joined(cases)


def description_of_node(document: Any) -> dict[str, Any]:
    """The resource description of a node of DiracX, v0.1 or v0.2. CPUTime is the node's CPU work: the whole in v0.1,
    that of one core in v0.2. Raises BadRequest, naming the field."""
    node = Part("", document)
    node.take("version", _known_version)
    node.skip("node_id")
    site, wall, work = node.need("site", text), node.need("wall_time", number), node.take("cpu_work", number)
    power = node.take("cpu_power_db12", number)
    tags = node.take("tags", texts, [])
    system, cpu, io = node.part("system"), node.part("cpu"), node.part("io")
    arch = cpu.part("architecture")
    cores, ram = cpu.need("num_cores", count), cpu.take("ram_mb", number)
    attributes = {
        "system": system.need("name", text), "glibc": system.take("glibc", version),
        "userns": system.take("user_namespaces", flag), "wall": wall, "cores": cores, "ram": ram,
        "arch": arch.need("name", text), "scratch": io.take("scratch_mb", number),
        "features": arch.take("features", texts), "profile": arch.take("profile", _profile),
        **_gpus_of(node.part("gpu")),
    }  # fmt: skip
    level = arch.take("microarchitecture_level", number) or arch.take("level", _level)
    if level is None and attributes["arch"] == "x86_64" and attributes["features"]:
        level = _level_of(set(attributes["features"]))
    attributes["level"] = level
    if power is None:
        work = attributes["work"] = node.need("cpu_work", number) if work is None else work
        tags = [*tags, f"diracx:site:{site}"]
    else:
        work = attributes["work.per_core"] = _shortest(wall * power)
    cpu.skip("num_nodes")
    io.skip("scratch_iops", "lan_mbitps")
    for part in (system, arch, cpu, io, node):
        part.end()
    result = {
        "Site": site, "CPUTime": int(work), "MaxRAM": ram, "NumberOfProcessors": min(cores, _MOST_PROCESSORS),
        "Tag": tags, "Attributes": {name: value for name, value in attributes.items() if value not in (None, [])},
    }  # fmt: skip
    return {key: value for key, value in result.items() if value not in (None, [])}


def _known_version(place: str, value: Any) -> str:
    found = version(place, value)
    return found if re.match(r"0\.[12](\.|$)", found) else wrong(place, value, "0.1 or 0.2")


# A job of v0.1


def _spec(spec: Part) -> Iterable[_Case]:
    site, tags = spec.take("site", text), spec.take("tags", _expression)
    system, cpu, io = spec.part("system"), spec.part("cpu"), spec.part("io")
    arch, memory = cpu.part("architecture"), cpu.part("ram_mb")
    least, most = _cores(cpu)
    attributes = {
        "system": system.need("name", text), "glibc": _least(system.take("glibc", version)),
        "userns": system.take("user_namespaces", flag) or None, "wall": _least(spec.take("wall_time", number)),
        "work": _least(spec.take("cpu_work", number)), "arch": arch.need("name", text),
        "level": arch.bounds("microarchitecture_level", number) or None,
        "scratch": _least(io.take("scratch_mb", number)),
    }  # fmt: skip
    _need_time(spec, attributes["wall"], attributes["work"])
    request, limit = (_memory(memory, name) for name in ("request", "limit"))
    larger = max(request, limit, key=lambda one: one[0] + one[1] * least)  # the evaluator compares both
    io.skip("scratch_iops", "lan_mbitps")
    gpus = spec.take("gpu", _gpus_v1, [{}])
    for part in (system, arch, memory, cpu, io, spec):
        part.end()
    for gpu in gpus:
        wanted = {name: value for name, value in {**attributes, **gpu}.items() if value is not None}
        yield _Case(site, tags, wanted, least, most, larger[0] + larger[1] * least, larger[1])


def _gpus_v1(place: str, value: Any) -> list[Attributes]:
    gpu = Part(place, value)
    wanted = {
        "gpu.ram": _least(gpu.take("ram_mb", number)), "gpu.vendor": gpu.take("vendor", _lower),
        "gpu.compute_capability": gpu.bounds("compute_capability", version) or None,
        "gpu.driver": _least(gpu.take("driver_version", version)),
    }  # fmt: skip
    return _gpus(gpu, wanted)


# A job of v0.2


def _scope(job: Part) -> dict[str, Any]:
    """The keys Sites and BannedSites, from the sites that the optimizer found eligible or that the user names."""
    sites, banned = job.take("sites", texts, []), job.take("banned_sites", texts, [])
    if sites and banned:
        raise BadRequest("sites and banned_sites are both given", "Give one of them.")
    eligible = job.take("eligibility", _eligible)
    found = {"Sites": sorted(eligible or sites), "BannedSites": sorted(banned)}
    return {key: value for key, value in found.items() if value}


def _eligible(place: str, value: Any) -> list[str]:
    if not isinstance(value, dict) or not value:
        wrong(place, value, "an object with a site at least")
    return list(value)


def _requirements(job: Part) -> Iterable[_Case]:
    system, cpu, io = job.part("system"), job.part("cpu"), job.part("io")
    arch, memory = cpu.part("architecture"), cpu.part("ram_mb")
    least, most = _cores(cpu)
    wall, work = job.take("wall_time", number), job.take("cpu_work_db12", number)
    _need_time(job, wall, work)
    common = _Case(
        tags=job.take("tags", _expression),
        attributes={
            "system": system.take("name", text, "Linux"), "wall": _least(wall),
            "scratch": _least(io.take("scratch_mb", number)), **_architecture(arch),
        },
        cores=least, most_cores=most,
    )  # fmt: skip
    overhead, per_core = _memory(memory, "request")
    _memory(memory, "limit")
    gpus = job.take("gpu", _gpus_v2, [{}])
    for part in (system, arch, memory, cpu, io, job):
        part.end()
    for gpu in gpus:
        for cores in [least] if work is None else _numbers(least, most):
            speed = None if work is None else _least(_shortest(round(work / cores, 6)))
            wanted = {**common.attributes, **gpu, "work.per_core": speed}
            yield replace(
                common, attributes={name: value for name, value in wanted.items() if value is not None},
                cores=cores, ram=overhead + per_core * cores, ram_per_core=per_core,
            )  # fmt: skip


def _numbers(least: int, most: int | None) -> list[int]:
    """Numbers of cores that a job may get: all of a few, else doubles of the least. Its work has to be done by one of
    them; a node whose number lies between two of them counts as the lower one."""
    last = max(least, _MOST_PROCESSORS if most is None else most)
    if last - least < _MOST_EXACT:
        return list(range(least, last + 1))
    doubled = [least]
    while doubled[-1] * 2 < last:
        doubled.append(doubled[-1] * 2)
    return [*doubled, last]


def _architecture(arch: Part) -> Attributes:
    """The attributes of an architecture. Each feature must be there, so a feature is a clause of its own."""
    name = arch.take("name", text)
    level, profile = arch.take("level", _level), arch.take("profile", _profile)
    features = arch.take("required_features", texts, [])
    expanded = arch.take("expanded_features", texts)
    arch.skip("archspec_version")
    if level is not None and features:
        raise BadRequest(f"{arch.place('level')} and {arch.place('required_features')} are both given")
    if expanded is not None and profile is not None:
        profile, features = None, sorted({*features, *expanded})
    found = {"arch": name, "level": _least(level), "profile": _least(profile)}
    return found | {_FEATURES: sorted(set(features)) or None}


_FEATURES = "all features"  # not a name of an attribute; `_joined` makes clauses of it


def _gpus_v2(place: str, value: Any) -> list[Attributes]:
    gpu = Part(place, value)
    wanted = {
        "gpu.ram": _least(gpu.take("vram_mb_per_gpu", number)), "gpu.vendor": gpu.take("vendor", _lower),
        "gpu.compute_capability": _least(gpu.take("arch", _capability)),
        "gpu.runtime": _least(gpu.take("min_runtime_version", version)),
    }  # fmt: skip
    return _gpus(gpu, wanted)


# Parts of both versions


def _gpus(gpu: Part, wanted: Attributes) -> list[Attributes]:
    """The ways to meet a wish for GPUs. Where none suffices, the other conditions count only for nodes with GPUs."""
    number_of = _range(gpu, "count")
    if not number_of:
        raise BadRequest(f"{gpu.place('count')} is missing")
    gpu.end()
    if number_of.get("max") == 0:
        return [{"gpu.count": {"max": 0}}]
    given = {name: value for name, value in wanted.items() if value is not None}
    if number_of.get("min") or not given:
        return [{"gpu.count": number_of, **given}]
    return [{"gpu.count": {"max": 0}}, {"gpu.count": {**number_of, "min": 1}, **given}]


def _gpus_of(gpu: Part) -> Attributes:
    """The GPUs of a node."""
    found = {
        "gpu.count": gpu.take("count", count, 0), "gpu.vendor": gpu.take("vendor", _lower),
        "gpu.ram": gpu.take("ram_mb", number) or gpu.take("vram_mb_per_gpu", number),
        "gpu.compute_capability": gpu.take("compute_capability", version) or gpu.take("arch", _capability),
        "gpu.driver": gpu.take("driver_version", version), "gpu.runtime": gpu.take("runtime_version", version),
    }  # fmt: skip
    gpu.end()
    return found if found["gpu.count"] else {"gpu.count": 0}


def _memory(memory: Part, name: str) -> tuple[int, int]:
    part = memory.part(name)
    found = part.take("overhead", count, 0), part.take("per_core", count, 0)
    part.end()
    return found


def _need_time(part: Part, *times: Any) -> None:
    if all(time is None for time in times):
        raise BadRequest(f"{part.place('wall_time')} and the CPU work are missing", "Give one of them at least.")


def _cores(cpu: Part) -> tuple[int, int | None]:
    """The least number of cores and the most, None if there is no bound; one core by default."""
    found = _range(cpu, "num_cores") or {"min": 1, "max": 1}
    return max(1, found.get("min", 1)), found.get("max")


def _range(part: Part, name: str) -> dict[str, int]:
    found = part.bounds(name, count)
    if found.get("max", math.inf) < found.get("min", 0):
        raise BadRequest(f"{part.place(name)}: min is {found['min']}, above max, which is {found['max']}")
    return found


def _shortest(value: float) -> float:
    return int(value) if value == int(value) else value


def _least(value: Any) -> dict[str, Any] | None:
    return None if value is None else {"min": value}


def _list(place: str, value: Any) -> list[tuple[str, Any]]:
    if not isinstance(value, list) or not value:
        wrong(place, value, "a list of specifications")
    return [(f"{place}[{index}]", one) for index, one in enumerate(value)]


def _expression(place: str, value: Any) -> str | None:
    if not isinstance(value, str):
        wrong(place, value, "an expression over tags")
    return value if value.strip() else None


def _lower(place: str, value: Any) -> str:
    return text(place, value).lower()


def _level(place: str, value: Any) -> int:
    found = re.fullmatch(r"x86-64-v([1-9])", text(place, value))
    return int(found[1]) if found else wrong(place, value, "a level such as x86-64-v3")


def _level_of(features: set[str]) -> int:
    level = 1
    for needed in _LEVELS:
        if not needed <= features:
            break
        level += 1
    return level


def _profile(place: str, value: Any) -> str:
    found = re.fullmatch(r"armv([0-9]+\.[0-9]+)-a", text(place, value))
    return found[1] if found else wrong(place, value, "a profile such as armv9.0-a")


def _capability(place: str, value: Any) -> str:
    found = re.fullmatch(r"sm_([0-9]+)([0-9])", text(place, value))
    return f"{found[1]}.{found[2]}" if found else wrong(place, value, "an architecture such as sm_89")


# All cases as one requirement


def _joined(cases: list[_Case]) -> dict[str, Any]:
    """The common parts of all cases as keys, the others as Alternatives."""
    cores, ram = min(case.cores for case in cases), min(case.ram for case in cases)
    parts = [_part(case, cores, ram) for case in cases]
    common = {key: value for key, value in parts[0].items() if all(part.get(key) == value for part in parts)}
    result = _keys(common)
    by_rest: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for part in parts:
        rest = {key: value for key, value in part.items() if key not in common}
        site = rest.pop("site", None)
        _, sites = by_rest.setdefault(repr(sorted(rest.items())), (rest, []))
        sites.append(site or "")
    alternatives = [
        _keys(rest) | ({} if "" in sites else {"Sites": list(dict.fromkeys(sites))}) for rest, sites in by_rest.values()
    ]
    if len(alternatives) == 1:
        result |= alternatives[0]
    elif {} not in alternatives:
        result["Alternatives"] = alternatives
    most, per_core = {case.most_cores for case in cases}, {case.ram_per_core for case in cases}
    numbers = {
        "MinRAM": ram, "MinNumberOfProcessors": cores if cores > 1 else 0,
        "MaxNumberOfProcessors": most.pop() if len(most) == 1 else None,
        "RAMPerProcessor": per_core.pop() if len(per_core) == 1 else None,
    }  # fmt: skip
    return result | {key: value for key, value in numbers.items() if value}


def _part(case: _Case, cores: int, ram: int) -> dict[str, Any]:
    """The wishes of a case beyond the fewest cores and the least memory of all cases."""
    part = {f"@{name}": value for name, value in case.attributes.items()}
    if case.cores > cores:
        part["@cores"] = {"min": case.cores}
    if case.ram > ram:
        part["@ram"] = {"min": case.ram}
    if case.tags:
        part["tags"] = case.tags
    if case.site:
        part["site"] = case.site
    return part


def _keys(part: dict[str, Any]) -> dict[str, Any]:
    attributes = {name[1:]: value for name, value in part.items() if name.startswith("@")}
    features = attributes.pop(_FEATURES, [])
    result: dict[str, Any] = {"Attributes": attributes} if attributes else {}
    if "tags" in part:
        result["TagExpression"] = part["tags"]
    if "site" in part:
        result["Sites"] = [part["site"]]
    if features:
        result["Clauses"] = [{"Attributes": {"features": [one]}} for one in features]
    return result
