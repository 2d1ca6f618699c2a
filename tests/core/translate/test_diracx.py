"""Documents of DiracX as requirements and descriptions: the examples of its matching prototype, decided by the model of
matching and by the database, and faults.

diracx.json holds the 25 jobs and 7 nodes of the public repository devlink42/poc-dirac-job-matchmaking (June 2026;
owners replaced), and the nodes that each job may run on: `v0.1` by the evaluator there, `v0.2` by the text of April
2026.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from broker.errors import BadRequest
from broker.json_text import Written
from broker.translate import (
    description_of_node,
    requirements_of_document,
    translated_description,
    translated_requirements,
)
from tests.calls import Calls, Connection
from tests.core.oracle.matching import canonical, fits
from tests.core.oracle.offers import Rules
from tests.core.translate import documents
from tests.core.translate.attributes import DIRACX

Maker = Callable[[Random], dict[str, Any]]

EXAMPLES = json.loads((Path(__file__).parent / "diracx.json").read_text(encoding="utf-8"))
JOBS, NODES, ANSWERS = EXAMPLES["jobs"], EXAMPLES["nodes"], EXAMPLES["answers"]
BUCKETS = [500, 5000, 50000, 300000]


def newer_job(job: dict[str, Any]) -> dict[str, Any]:
    """A job of v0.1 in the form of v0.2, which has one specification, the first, and the sites of those that differ by
    the site alone. What v0.2 has no field for is lost: glibc, user namespaces, upper bounds of levels, drivers."""
    first, *others = job["matching_specs"]
    without_site = {key: value for key, value in first.items() if key != "site"}
    same = [first, *(one for one in others if {**without_site, "site": one.get("site")} == one)]
    cpu, gpu = first["cpu"], first.get("gpu")
    arch = cpu["architecture"]
    requirements = {
        "system": {"name": first["system"]["name"]},
        "wall_time": first["wall-time"],
        "cpu_work_db12": first["cpu-work"],
        "cpu": {
            "num_cores": cpu["num-cores"],
            "ram_mb": cpu.get("ram-mb"),
            "architecture": {"name": arch["name"], "required_features": None},
        },
        "io": {"scratch_mb": first.get("io", {}).get("scratch-mb")},
        "tags": first["tags"],
    }
    least = arch["microarchitecture-level"]["min"]
    requirements["cpu"]["architecture"]["level"] = f"x86-64-v{min(least, 9)}"
    if gpu:
        requirements["gpu"] = {
            "vendor": gpu["vendor"],
            "arch": f"sm_{gpu['compute-capability']['min']:.1f}".replace(".", ""),
            "vram_mb_per_gpu": gpu["ram-mb"],
            "count": gpu["count"],
        }
    sites = [one["site"] for one in same if one.get("site")]
    return {"job_type": job["type"], "owner": job["owner"], "group": job["group"], "requirements": requirements,
            "sites": sites}  # fmt: skip


def newer_node(node: dict[str, Any]) -> dict[str, Any]:
    """A node of v0.1 in the form of v0.2; its CPU work is that of one core."""
    cpu, gpu = node["cpu"], node["gpu"]
    arch = cpu["architecture"]
    result = {key: node[key] for key in ("site", "tags")}
    result["system"] = {"name": node["system"]["name"]}
    result |= {"wall_time": node["wall-time"], "cpu_power_db12": node["cpu-work"] / node["wall-time"]}
    result["cpu"] = {
        "num_nodes": 1,
        "num_cores": cpu["num-cores"],
        "ram_mb": cpu["ram-mb"],
        "architecture": {"name": arch["name"], "level": f"x86-64-v{arch['microarchitecture-level']}"},
    }
    result["io"] = {"scratch_mb": node.get("io", {}).get("scratch-mb")}
    result["gpu"] = {"count": gpu["count"]}
    if gpu["count"]:
        result["gpu"] |= {
            "vendor": gpu["vendor"],
            "arch": f"sm_{gpu['compute-capability']:.1f}".replace(".", ""),
            "vram_mb_per_gpu": gpu["ram-mb"],
        }
    return result


def fitting(job: dict[str, Any], nodes: dict[str, Any], rules: Rules) -> list[str]:
    """The nodes that the model of matching accepts for a job."""
    queue = canonical(requirements_of_document(job), BUCKETS, rules.attributes)
    return [name for name, node in nodes.items() if fits(queue, description_of_node(node), rules)]


@pytest.mark.parametrize("name", JOBS)
def test_each_job_of_the_first_version_fits_the_nodes_that_it_should(name: str) -> None:
    assert fitting(JOBS[name], NODES, Rules(attributes=DIRACX)) == ANSWERS[name]["v0.1"]


@pytest.mark.parametrize("name", JOBS)
def test_each_job_of_the_second_version_fits_the_nodes_that_it_should(name: str) -> None:
    rules = Rules(attributes=DIRACX, keeps_gpus=True)
    nodes = {name: newer_node(node) for name, node in NODES.items()}
    assert fitting(newer_job(JOBS[name]), nodes, rules) == ANSWERS[name]["v0.2"]


@pytest.fixture
def q(rolled_back: Connection) -> Calls:
    """The calls of the schema in a setup with the preset of attributes."""
    calls = Calls(rolled_back)
    calls.call("set_attributes", Jsonb("diracx"))
    return calls


def test_the_preset_has_the_attributes_of_the_model(q: Calls) -> None:
    rows = q.rows("select name, type, absent, exclusive from taskqueue.attribute where setup = %s", q.setup)
    assert {name: (kind, absent, exclusive) for name, kind, absent, exclusive in rows} == {
        name: (one["type"], one["absent"], one.get("exclusive", True)) for name, one in DIRACX.items()
    }


@pytest.mark.slow
@pytest.mark.parametrize("edition", ["v0.1", "v0.2"])
def test_the_database_decides_each_pair_of_the_examples(q: Calls, edition: str) -> None:
    """By explanations, by the listing for pilots, and by draws until a node gets nothing."""
    newer = edition == "v0.2"
    q.settings(keep_gpus=newer)
    jobs = dict(enumerate(JOBS, 1))
    for number, name in jobs.items():
        wanted = requirements_of_document(newer_job(JOBS[name]) if newer else JOBS[name])
        q.insert(number, 1, **{"OwnerDN": None, **wanted})
    told = 0
    for name, node in NODES.items():
        described = description_of_node(newer_node(node) if newer else node)
        expected = {number for number, job in jobs.items() if name in ANSWERS[job][edition]}
        explained = {number for number in jobs if all(q.explain(number, **described).values())}
        queues = q.queues(**described)
        listed = {number for number in jobs if q.queue_of(number) in queues}
        drawn = {}
        while match := q.match(**described):
            drawn[match.job_id] = match.attempt
        for number, attempt in drawn.items():
            q.call("release_job", number, attempt)
        assert (explained, listed, set(drawn)) == (expected, expected, expected), name
        told += len(jobs)
    assert told == 175


EXAMPLES_AT_RANDOM = int(os.environ.get("BROKER_TEST_EXAMPLES", "12"))  # more by hand


def one_core(**requirements: Any) -> dict[str, Any]:
    """A job of v0.2 with an hour of wall time, and other requirements."""
    return {"requirements": {"wall_time": 3600, **requirements}}


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (one_core(), {"Attributes": {"system": "Linux", "wall": {"min": 3600}}, "MaxNumberOfProcessors": 1}),
        (
            one_core(
                cpu={"architecture": {"name": "aarch64", "profile": "armv9.0-a", "required_features": ["sve2", "mte"]}},
                tags="arch:any",
            ),
            {
                "Attributes": {
                    "system": "Linux", "wall": {"min": 3600}, "arch": "aarch64", "profile": {"min": "9.0"},
                },
                "TagExpression": "arch:any",
                "Clauses": [{"Attributes": {"features": ["mte"]}}, {"Attributes": {"features": ["sve2"]}}],
                "MaxNumberOfProcessors": 1,
            },
        ),
        (
            one_core(
                cpu={"num_cores": {"min": 2}, "ram_mb": {"request": {"overhead": 500, "per_core": 250}}},
                wall_time=None,
                cpu_work_db12=8000,
            ),
            {
                "Attributes": {"system": "Linux"},
                "Alternatives": [
                    {"Attributes": {"work.per_core": {"min": 4000}}},
                    *(
                        {
                            "Attributes": {
                                "work.per_core": {"min": 8000 / cores}, "cores": {"min": cores},
                                "ram": {"min": 500 + 250 * cores},
                            }
                        }
                        for cores in (4, 8, 16, 32, 64, 128, 256, 512, 1024)
                    ),
                ],
                "MinRAM": 1000, "MinNumberOfProcessors": 2, "RAMPerProcessor": 250,
            },
        ),
        (
            one_core(gpu={"count": {"min": 0, "max": 65535}}, tags="gpu:opportunistic-cpu-ok"),
            {
                "Attributes": {"system": "Linux", "wall": {"min": 3600}, "gpu.count": {"min": 0, "max": 65535}},
                "TagExpression": "gpu:opportunistic-cpu-ok", "MaxNumberOfProcessors": 1,
            },
        ),
        (
            {**one_core(), "owner": "alice", "group": "lhcb_user", "job_type": "User", "banned_sites": ["B"],
             "eligibility": {"A": {"disk": 5}, "C": {"disk": 3}}},
            {
                "Owner": "alice", "OwnerGroup": "lhcb_user", "JobTypes": ["User"], "Sites": ["A", "C"],
                "BannedSites": ["B"], "Attributes": {"system": "Linux", "wall": {"min": 3600}},
                "MaxNumberOfProcessors": 1,
            },
        ),
    ],
    ids=["least", "architecture", "range", "any number of GPUs", "stored"],
)  # fmt: skip
def test_fields_of_the_second_version_become_keys(job: dict[str, Any], expected: dict[str, Any]) -> None:
    assert requirements_of_document(job) == {"CPUTime": 0, **expected}


def test_alternatives_keep_what_differs_and_sites_are_joined() -> None:
    assert {key: value for key, value in requirements_of_document(JOBS["job_10_ram_tests"]).items()
            if key not in ("Owner", "OwnerGroup", "JobTypes", "CPUTime", "Attributes")} == {
        "Sites": ["LCG.GRIDKA.de"],
        "Alternatives": [
            {"Attributes": {"cores": {"min": 4}, "ram": {"min": 6144}},
             "TagExpression": "cvmfs:lhcb & cvmfs:lhcbdev & os:el9"},
            {"TagExpression": "cvmfs:lhcb"},
        ],
        "MinRAM": 5120, "MinNumberOfProcessors": 2, "MaxNumberOfProcessors": 4, "RAMPerProcessor": 512,
    }  # fmt: skip
    first = JOBS["job_01_mcsimulation_any_site"]["matching_specs"][0]
    other = {**first, "tags": "os:el9"}
    job = {"matching_specs": [{**first, "site": "A"}, {**first, "site": "B"}, {**other, "site": "B"}]}
    assert requirements_of_document(job)["Alternatives"] == [
        {"TagExpression": "cvmfs:lhcb & ~test", "Sites": ["A", "B"]},
        {"TagExpression": "os:el9", "Sites": ["B"]},
    ]
    anywhere = {"matching_specs": [first, {**first, "site": "A"}]}
    assert not {"Alternatives", "Sites"} & requirements_of_document(anywhere).keys()


def test_a_node_without_flags_offers_no_feature_and_no_level() -> None:
    node = newer_node(NODES["node_01_cern_typical"])
    node["cpu"]["architecture"] = {"name": "x86_64", "features": []}
    assert not {"features", "level"} & description_of_node(node)["Attributes"].keys()


def test_a_node_of_the_second_version_offers_the_level_of_its_flags() -> None:
    flags = "cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3 abm avx avx2 bmi1 bmi2 f16c fma movbe".split()
    node = {
        "site": "A", "system": {"name": "Linux"}, "wall_time": 100, "cpu_power_db12": 11.5,
        "cpu": {"num_nodes": 1, "num_cores": 2000, "architecture": {"name": "x86_64", "features": flags}},
        "gpu": {"count": 0, "vendor": "nvidia"},
    }  # fmt: skip
    assert description_of_node(node) == {
        "Site": "A", "CPUTime": 1150, "NumberOfProcessors": 1024,
        "Attributes": {
            "system": "Linux", "wall": 100, "cores": 2000, "arch": "x86_64", "features": flags, "gpu.count": 0,
            "level": 3, "work.per_core": 1150,
        },
    }  # fmt: skip


SPEC: dict[str, Any] = JOBS["job_06_gpu"]["matching_specs"][0]


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ([], "the document is [], not an object"),
        ({}, "requirements is missing"),
        ({"matching_specs": []}, "matching_specs is [], not a list of specifications"),
        ({"matching_specs": [SPEC, {**SPEC, "wall-time": -1}]}, "matching_specs[1].wall-time is -1, not a number"),
        ({"matching_specs": [{**SPEC, "wall-time": "1h"}]}, 'matching_specs[0].wall-time is "1h", not a number'),
        ({"matching_specs": [{**SPEC, "system": None}]}, "matching_specs[0].system.name is missing"),
        ({"matching_specs": [{**SPEC, "wall-time": None, "cpu-work": None}]}, "wall-time and the CPU work are missing"),
        ({"matching_specs": [{**SPEC, "tags": ["a"]}]}, 'tags is ["a"], not an expression over tags'),
        ({"matching_specs": [{**SPEC, "cpu": {"num-cores": {}, "num_cores": {}}}]}, "num_cores is given twice"),
        ({"matching_specs": [{**SPEC, "cpu-work": 1e300}]}, "cpu-work is 1e+300, not a number from 0 to 10^15"),
        ({"matching_specs": [{**SPEC, "gpus": {}}]}, "matching_specs[0].gpus is not a known field"),
        ({"matching_specs": [{**SPEC, "gpu": {"vendor": "nvidia"}}]}, "matching_specs[0].gpu.count is missing"),
        (one_core(cpu={"num_cores": {"min": 8, "max": 2}}), "cpu.num_cores: min is 8, above max, which is 2"),
        ({"matching_specs": [{**SPEC, "cpu": {**SPEC["cpu"], "num-cores": {"min": 8, "max": 2}}}]},
         "[0].cpu.num-cores: min is 8, above max, which is 2"),
        (one_core(cpu={"architecture": {"level": "v3"}}), 'architecture.level is "v3", not a level such as x86-64-v3'),
        (one_core(cpu={"architecture": {"level": "x86-64-v3", "required_features": ["fma"]}}), "are both given"),
        (one_core(gpu={"count": {"min": 1}, "vendor": "amd", "arch": "gfx90a"}), 'arch is "gfx90a", not an archi'),
        (one_core(gpu={"count": {"min": 1.5}}), "gpu.count.min is 1.5, not an integer from 0 to 10^15"),
        ({**one_core(), "sites": ["A"], "banned_sites": ["B"]}, "sites and banned_sites are both given"),
        ({**one_core(), "eligibility": {}}, "eligibility is {}, not an object with a site at least"),
    ],
)  # fmt: skip
def test_a_fault_of_a_job_is_refused_with_its_place(job: Any, message: str) -> None:
    with pytest.raises(BadRequest) as refused:
        requirements_of_document(job)
    assert message in f"{refused.value.message}: {refused.value.hint}"


@pytest.mark.parametrize(
    ("number", "glibc"),
    [(2.30, "2.3"), (Written("2.30"), "2.30"), (Written("12.0"), "12.0"), (8, "8"), ("2.30-1.el9", "2.30")],
)
def test_a_version_is_its_text_the_digits_of_its_number_or_the_shortest_number(number: Any, glibc: str) -> None:
    described = description_of_node({**NODES["node_01_cern_typical"], "system": {"name": "Linux", "glibc": number}})
    assert described["Attributes"]["glibc"] == glibc


@pytest.mark.parametrize("number", [1e22, Written("2.3e1"), -2.3, True])
def test_a_number_that_is_no_version_is_refused(number: Any) -> None:
    with pytest.raises(BadRequest, match="not a version such as"):
        description_of_node({**NODES["node_01_cern_typical"], "system": {"name": "Linux", "glibc": number}})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"site": None}, "site is missing"),
        ({"cpu-work": None}, "cpu-work is missing"),
        ({"cpu": {}}, "cpu.num-cores is missing"),
        ({"wall-tim": 5}, "wall-tim is not a known field: The nearest is wall-time."),
        ({"version": "0.9"}, 'version is "0.9", not 0.1 or 0.2'),
        ({"system": {"name": "Linux", "glibc": "new"}}, 'system.glibc is "new", not a version such as 2.28'),
        ({"gpu": {"count": True}}, "gpu.count is true, not a number from 0 to 10^15"),
        ({"tags": "a & b"}, 'tags is "a & b", not a list of texts'),
    ],
)
def test_a_fault_of_a_node_is_refused_with_its_place(change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadRequest) as refused:
        description_of_node({**NODES["node_01_cern_typical"], **change})
    assert message in f"{refused.value.message}: {refused.value.hint}"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"owner": None}, "owner is missing: None"),
        ({"group": None}, "group is missing: None"),
        ({"matching_specs": None, "matching_spec": [SPEC]}, "matching_spec is not a known field: The nearest is"),
        ({"version": "0.3.0"}, 'version is "0.3.0", not 0.1 or 0.2: None'),
        ({"version": "0.12"}, 'version is "0.12", not 0.1 or 0.2: None'),
    ],
)
def test_a_job_that_is_given_as_requirements_is_refused_in_the_words_of_its_document(
    change: dict[str, Any], message: str
) -> None:
    job = {key: value for key, value in {**JOBS["job_06_gpu"], "owner": "a", **change}.items() if value is not None}
    with pytest.raises(BadRequest) as refused:
        translated_requirements(job)
    assert message in f"{refused.value.message}: {refused.value.hint}"


def test_documents_are_known_by_their_fields() -> None:
    own = {"Owner": "a", "OwnerGroup": "b", "CPUTime": 5, "Requirement": 1}
    assert translated_requirements(own) is own
    described = {"CPUTime": 5, "cpu": {}}
    assert translated_description(described) is described
    for known in ("0.1", "0.1.7", "0.2.0", 0.2):
        assert translated_requirements({**JOBS["job_06_gpu"], "owner": "a", "version": known})["Owner"] == "a"
    for node in NODES.values():
        without_id = {key: value for key, value in node.items() if key != "node_id"}
        assert translated_description(without_id) == translated_description({"node-id": "n", **without_id}) != node


@pytest.mark.parametrize(
    ("make_job", "make_node", "fits_by_text", "keeps_gpus"),
    [
        (documents.first_job, documents.first_node, documents.first_fits, False),
        (documents.second_job, documents.second_node, documents.second_fits, True),
    ],
    ids=["first", "second"],
)
def test_random_documents_fit_as_the_text_says(
    make_job: Maker, make_node: Maker, fits_by_text: Callable[[Any, Any], bool], keeps_gpus: bool
) -> None:
    rng = Random(20260423)
    rules = Rules(attributes=DIRACX, keeps_gpus=keeps_gpus)
    expected = 0
    for _ in range(EXAMPLES_AT_RANDOM):
        job = make_job(rng)
        wanted = {"OwnerDN": "someone", "OwnerGroup": "lhcb_mc", **requirements_of_document(job)}
        for node in (make_node(rng) for _ in range(10)):
            answer = fits(wanted, description_of_node(node), rules)
            assert answer is fits_by_text(job, node), (job, node, wanted)
            expected += answer
    assert expected > EXAMPLES_AT_RANDOM / 8
