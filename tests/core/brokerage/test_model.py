"""The model of production job brokerage: its parts, and its rules in random worlds.

The worlds worked out by hand are in tests/core/cases; test_cases.py compares them with the model and the SQL engine.
"""

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.cases.production import NUCLEUS, QUEUE, TWO, inputs, world
from tests.core.cases.production_software import CENTOS
from tests.core.oracle import job_panda2026
from tests.core.oracle.job_documented import (
    RULE_IDS,
    TASK_DEFAULTS,
    Case,
    Missing,
    all_queues,
    broker_job,
    differences,
    read_architecture,
)
from tests.core.oracle.job_worlds import TASK, THEMES, random_world, worlds

Row = dict[str, Any]


def case_of(given: Row) -> Case:
    return Case(given, TASK_DEFAULTS | given["tasks"][0], all_queues(given))


@pytest.mark.parametrize(("queue", "expected"), [
    ({"corecount": 8, "maxrss": 16000}, {
        "SCORE": (1, 0, 2000), "SCORE_HIMEM": (1, 2001, 2000),  # never matches
        "SCORE_VHIMEM": (1, 3001, 2000), "MCORE": (8, 0, 16000), "MCORE_HIMEM": (8, 16001, 16000),
        "MCORE_VHIMEM": (8, 24001, 16000)}),
    ({"corecount": 4, "maxrss": 0, "minrss": 4000}, {
        "SCORE": (1, 4000, 2000), "SCORE_HIMEM": (1, 2001, 3000), "SCORE_VHIMEM": (1, 3001, 0),  # no limit
        "MCORE": (4, 4000, 8000), "MCORE_HIMEM": (4, 8001, 12000), "MCORE_VHIMEM": (4, 12001, 0)}),
    ({"corecount": None, "maxrss": 2500}, {
        "SCORE": (1, 0, 2000), "SCORE_HIMEM": (1, 2001, 2500), "SCORE_VHIMEM": (1, 3001, 2500)}),
])  # fmt: skip
def test_unified_queues_become_pseudo_queues(queue: Row, expected: dict[str, tuple[int, int, int]]) -> None:
    found: list[Any] = all_queues(world(queue | {"capability": "ucore"}))
    assert {one.name: (one.own_cores, one.minrss, one.maxrss) for one in found} == {
        f"Q/{name}": values for name, values in expected.items()
    }


def test_pseudo_datasets_are_no_input_but_have_events() -> None:
    datasets = inputs(TWO)
    datasets["data0"]["type"] = "pseudo_input"
    case = case_of(world(task={"input": ["data0"]}, datasets=datasets))
    assert (case.missing(case.queues[0]), case.input_size) == (Missing(0, Fraction(0)), Fraction(0))
    assert case.events_per_job == 100


def test_job_size_is_the_largest_of_consecutive_groups() -> None:
    datasets = inputs(
        [("a1", 2**20, 1), ("a2", 0, 2), ("a3", 3 * 2**20, 4)],
        [("b1", 10, 9), ("b2", 20, 9), ("b3", 40, 9), ("b4", 80, 9), ("b5", 160, 9)],
    )
    case = case_of(world(task={"input": list(datasets), "split": {"nFilesPerJob": 2}}, datasets=datasets))
    assert case.events_per_job == 4  # 1 + 2 or 4
    assert case.input_mb_per_job == 3  # 1 + 1 (no size) or 3
    assert case.input_bytes_per_job == 3 * 2**20 + 40  # the last two b have no partner


def test_the_parts_of_an_architecture_may_be_in_any_order() -> None:
    wanted = read_architecture(f"{CENTOS}&nvidia-kt100#x86_64-intel@el9+image")
    assert wanted.platform == CENTOS
    assert wanted.base == "el9+image"
    assert wanted.cpus == [{"arch": "x86_64", "vendor": "intel", "instr": "*"}]
    assert wanted.gpu == {"vendor": "nvidia", "model": "kt100"}


def test_the_model_of_panda2026_reads_architectures_as_panda_does() -> None:
    """One pair of parentheses is removed; without # the first word of the whole text is the CPU."""
    read = job_panda2026.read_architecture
    assert [cpu["arch"] for cpu in read("p#(x86_64|aarch64)").cpus] == ["x86_64", "aarch64"]
    assert read("x86_64-el9&nvidia").cpus == [{"arch": "x86_64", "vendor": "*", "instr": "*"}]
    expected = {"vendor": "nvidia", "model": "A100", "vram": ">=10", "version": "==12"}
    assert read("&nvidia-A100:vram>=10:cuda=12").gpu == expected
    assert read("#x86_64").platform == ""


@pytest.mark.slow
def test_random_worlds_reach_every_rule_from_both_sides() -> None:
    rejects: Counter[str] = Counter()
    passes: Counter[str] = Counter()
    tags: Counter[str] = Counter()
    lists: Counter[str] = Counter()
    for number in range(1200):
        answer = broker_job(random_world(number), TASK)
        for row in answer["rejected"]:
            rejects[row["rule"]] += 1
            tags[row["criteria"]] += 1
            passes.update(RULE_IDS[: RULE_IDS.index(row["rule"])])
        for _ in answer["candidates"]:
            passes.update(RULE_IDS)
        lists.update({row["rule"] for row in answer["not_candidates"]})
    assert {rule: rejects[rule] for rule in RULE_IDS if rejects[rule] < 5} == {}
    assert {rule: passes[rule] for rule in RULE_IDS if passes[rule] < 500} == {}
    assert set(lists) == {"prod-initial-all", "prod-initial-preassigned", "preassigned-merge"}
    expected = """
        -status -failedthere -link_unusable -links_full -opportunistic -inactive -zeroshare -io -diskIO -cpucore
        -max_cpucore -cache -regexpcmtconfig -lowmemory -highmemory -remoteio -disk -read_lan_blacklist
        -write_lan_blacklist -scout_walltime -min_walltime -shortwalltime -longwalltime -network -es -eshigh -es_ucore
        -nones -transferring -t1weight -full_chain -not_full_chain -nopilot -lowNetworkWeight -cap -low_weight
    """
    assert set(expected.split()) == set(tags)


@settings(max_examples=60, derandomize=True, database=None, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(list(THEMES)).flatmap(worlds))
def test_every_queue_of_a_world_has_one_place_in_the_answer(given: Row) -> None:
    answer = broker_job(given, TASK)
    listed = [row["queue"] for key in ("candidates", "rejected") for row in answer[key]]
    left_out = [row["queue"] for row in answer["not_candidates"]]
    assert len(set(listed)) == len(listed)
    assert {name.split("/")[0] for name in listed} | set(left_out) == set(given["queues"])
    assert answer["status"] == ("candidates" if answer["candidates"] else "pending")
    found = [row["weight"] for row in answer["candidates"]]
    assert found == sorted(found, reverse=True)


def test_differences_are_distinguished_from_noise() -> None:
    queues = {"A": QUEUE, "B": QUEUE, "C": QUEUE | {"status": "test"}, "D": NUCLEUS | QUEUE | {"storage_site": "NUC"}}
    expected = broker_job(world(queues=queues), 1)
    assert [row["queue"] for row in expected["candidates"]] == ["D", "A", "B"]
    assert differences(expected, broker_job(world(queues=queues), 1)) == []

    noisy = broker_job(world(queues=queues), 1)
    best, one, other = noisy["candidates"]
    noisy["candidates"] = [best | {"weight": 0.25 + 1e-15}, other | {"rank": 2}, one | {"rank": 3}]
    assert differences(expected, noisy) == []  # A and B weigh the same

    wrong = broker_job(world(queues=queues), 1)
    wrong["candidates"] = [one | {"rank": 1}, best | {"rank": 2}, other | {"weight": 0.2}]
    wrong["rejected"] = [{"queue": "C", "rule": "no-pilot", "criteria": "-nopilot"}]
    assert differences(expected, wrong) == [
        "rejected: C: ('no-pilot', '-nopilot'), expected ('queue-status', '-status')",
        "candidates: A in place 1, expected D",
        "candidates: D in place 2, expected A",
        "candidates: B: weight 0.2, expected 0.165",
    ]
    pending = broker_job(world({"status": "test"}), 1)
    assert differences(pending, pending | {"status": "failed"}) == ["status: failed, expected pending"]
