"""CLAUSES.md, Meaning: which resources get a job with clauses."""

from functools import partial
from random import Random
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls, requirements

ATTRIBUTES: dict[str, Any] = {
    "arch": "text", "glibc": "version", "userns": "flag", "scratch": "number",
    "gpu.count": {"type": "number", "absent": {"value": 0}}, "work": {"type": "number", "absent": "passes"},
    "models": {"type": "text", "exclusive": False},
}  # fmt: skip


@pytest.fixture
def c(q: Calls) -> Calls:
    q.call("set_attributes", Jsonb(ATTRIBUTES))
    return q


Offered = dict[str, Any]
CASES: list[tuple[dict[str, Any], list[Offered], list[Offered]]] = [
    ({"arch": "x86_64"}, [{"arch": "x86_64"}], [{}, {"arch": "aarch64"}]),
    ({"arch": ["x86_64", "aarch64"]}, [{"arch": "aarch64"}], [{"arch": "ppc"}]),
    ({"glibc": {"min": "2.28"}}, [{"glibc": "2.28"}, {"glibc": "2.34-60.el9"}, {"glibc": "2.34"}, {"glibc": "2.100"}],
     [{}, {"glibc": "2.3"}, {"glibc": "2"}]),
    ({"glibc": {"above": "2.28", "below": "3"}}, [{"glibc": "2.28.1"}], [{"glibc": "2.28.0"}, {"glibc": "3.0"}]),
    ({"userns": True}, [{"userns": True}, {"userns": "true"}], [{}, {"userns": False}]),
    ({"userns": False}, [{"userns": False}], [{}, {"userns": True}]),
    ({"gpu.count": {"min": 1, "max": 2}}, [{"gpu.count": 1}, {"gpu.count": "2"}], [{}, {"gpu.count": 3}]),
    ({"gpu.count": {"max": 0}}, [{}, {"gpu.count": 0}], [{"gpu.count": 1}]),
    ({"work": {"min": 1000}}, [{}, {"work": 1000}], [{"work": 999.9}]),
    ({"models": "A100"}, [{"models": "A100"}, {"models": ["H100", "A100"]}], [{}, {"models": "H100"}, {"models": []}]),
    ({"scratch": {"min": 20480}}, [{"scratch": 20480}, {"scratch": 1e9}], [{"scratch": 20479.999}, {}]),
]  # fmt: skip


@pytest.mark.parametrize(("wanted", "good", "bad"), CASES, ids=lambda value: str(value)[:60])
@pytest.mark.parametrize("first", ["the job", "the resource"])
def test_an_attribute_decides(
    c: Calls, wanted: dict[str, Any], good: list[Offered], bad: list[Offered], first: str
) -> None:
    """By matches of new and known descriptions, by the listing for pilots and by the explanation."""
    if first == "the resource":
        assert [c.match(Attributes=offered) for offered in good + bad] == [None] * len(good + bad)
    c.insert(1, Attributes=wanted)
    for offered in bad:
        for _ in range(2):
            assert c.match(Attributes=offered) is None, offered
        assert c.queues(Attributes=offered) == {}
        assert c.explain(1, Attributes=offered)["Clauses"] is False
    for offered in good:
        assert list(c.queues(Attributes=offered).values()) == [1]
        assert all(c.explain(1, Attributes=offered).values())
        for _ in range(2):
            found = c.match(Attributes=offered)
            assert found is not None, offered
            c.call("release_job", 1, found.attempt)


def test_a_known_description_serves_all_numbers_between_two_bounds(c: Calls) -> None:
    """Before a bound is listed, a clause with it is tested with the number that was sent."""
    known = "select count(*) from taskqueue.parsed_description"
    for number in range(100, 200):
        assert c.match(Attributes={"scratch": number}) is None
    assert c.value(known) == 1
    c.insert(1, Attributes={"scratch": {"min": 150}})
    assert c.match(Attributes={"scratch": 149}) is None
    found = c.match(Attributes={"scratch": 150})
    assert found is not None
    c.call("release_job", 1, found.attempt)
    c.rows("select * from taskqueue.maintain(%s)", c.setup)
    for scratch in (100.0, 149.0, 149.5):
        assert c.match(Attributes={"scratch": scratch}) is None
    for scratch in (150.0, 151.0, 199.5):
        found = c.match(Attributes={"scratch": scratch})
        assert found is not None
        c.call("release_job", 1, found.attempt)
    assert c.value(f"{known} where resource -> 'Bounds' -> 0 <> '1'") == 3
    assert c.call_rows("check_matching") == []


def test_what_few_match_is_not_kept_for_other_numbers(c: Calls) -> None:
    """A private pilot keeps the definitions that match; those with a new bound are tested with each number."""
    for scratch in (100, 200):
        assert c.match(Attributes={"scratch": scratch}, OwnerGroup="users") is None
    c.insert(1, Attributes={"scratch": {"min": 150}})
    for _ in range(3):
        assert c.match(Attributes={"scratch": 100}, OwnerGroup="users") is None
        found = c.match(Attributes={"scratch": 200}, OwnerGroup="users")
        assert found is not None
        c.call("release_job", 1, found.attempt)


def test_a_new_description_keeps_nothing_that_depends_on_an_unlisted_bound(c: Calls) -> None:
    c.insert(1, Attributes={"scratch": {"min": 150}})
    for _ in range(3):
        found = c.match(Attributes={"scratch": 200}, OwnerGroup="users")
        assert found is not None
        c.call("release_job", 1, found.attempt)
        assert c.match(Attributes={"scratch": 100}, OwnerGroup="users") is None


def test_a_key_of_a_known_description_cannot_be_sent(c: Calls) -> None:
    assert c.match(Attributes={"scratch": 5, "work": 5}) is None
    [(key,)] = c.rows("select resource from taskqueue.parsed_description")
    for forged in (key, {**key, "Attributes": {"scratch": 5}}, {"Attributes": {"scratch": 5}, "Bounds": 1}):
        c.refuses(partial(c.match, **forged), "PB001")
    for rounded in ([0], [None, None]):
        c.refuses(partial(c.match, Attributes={"scratch": rounded, "work": 5}), "PB001")


@pytest.mark.parametrize("number", ["1e301", "0." + 500 * "1"], ids=["too large", "too long"])
def test_a_number_that_is_refused_is_refused_beside_known_ones(c: Calls, number: str) -> None:
    assert c.match(Attributes={"scratch": 5}) is None
    sent = f'select taskqueue.match_job(\'default\', \'{{"CPUTime": 500, "Attributes": {{"scratch": {number}}}}}\')'
    assert c.refusal(lambda: c.rows(sent))[0] == "PB001"


def test_a_bound_beside_a_text_is_listed(c: Calls) -> None:
    """Each part of a clause counts: a clause of a text and of a number has a bound, too."""
    c.insert(1, Alternatives=[{"Attributes": {"arch": "x86_64"}}, {"Attributes": {"scratch": {"min": 150}}}])
    for _ in range(3):
        assert c.match(Attributes={"scratch": 100}) is None
        found = c.match(Attributes={"scratch": 200})
        assert found is not None
        c.call("release_job", 1, found.attempt)
        c.maintain()


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"Attributes": {"scrach": 5}}, 'Attributes names the attribute "scrach", which the setup does not have'),
        ({"Attributes": {"scratch": "much"}}, 'attribute scratch is "much", which is not a number'),
        ({"Attributes": {"scratch": True}}, "attribute scratch is true, which is not a number"),
        ({"Attributes": {"glibc": "el9"}}, 'attribute glibc is "el9", which is not a version'),
        ({"Attributes": {"userns": 1}}, "attribute userns is 1, which is not a flag"),
        ({"Attributes": {"arch": ["a", "b"]}}, 'attribute arch is ["a", "b"], a list of 2 values'),
        ({"Attributes": [1]}, "Attributes is [1], which is not an object"),
    ],
)
def test_a_wrong_attribute_of_a_resource_is_refused(c: Calls, sent: dict[str, Any], message: str) -> None:
    for _ in range(2):
        assert c.refusal(partial(c.match, **sent)) == ("PB001", message)


def test_processors_and_memory_of_a_range(q: Calls) -> None:
    q.insert(1, MinNumberOfProcessors=4, MaxNumberOfProcessors=8, MinRAM=4096, RAMPerProcessor=512)
    q.insert(2, Tags=["4Processors"], MaxNumberOfProcessors=8, MinRAM=4096, RAMPerProcessor=512)
    [(stored,)] = q.rows("select requirements from taskqueue.definition")
    assert {**stored, "MinNumberOfProcessors": 4} == stored | {"MinNumberOfProcessors": 4}
    assert stored["Tags"] == ["4Processors"]
    assert stored["MaxNumberOfProcessors"] == 8
    assert q.match(NumberOfProcessors=3, MaxRAM=99999) is None
    assert q.match(NumberOfProcessors=4, MaxRAM=4095) is None
    assert q.match(NumberOfProcessors=16, MaxRAM=4096) is not None
    assert q.call_rows("check_matching") == []
    q.insert(3, RAMPerProcessor=512, MinNumberOfProcessors=2)
    assert q.value("select requirements -> 'MinRAM' from taskqueue.definition where '2Processors' = any (tags)") == 1024
    for wrong in ({"MinNumberOfProcessors": 8, "MaxNumberOfProcessors": 4}, {"MinNumberOfProcessors": 0},
                  {"MinRAM": 100, "RAMPerProcessor": 200}):  # fmt: skip
        assert q.refusal(partial(q.insert, 4, **wrong))[0] == "PB001"


def test_with_keep_gpus_a_job_without_a_gpu_gets_no_worker_node_with_one(c: Calls) -> None:
    """The setting rewrites the jobs that wait and are leased; TaskQueues that become equal are one."""
    c.insert(1)
    c.insert(2, Attributes={"gpu.count": {"max": 0}})
    c.insert(3, Attributes={"gpu.count": {"min": 1}}, OwnerDN="bob")
    c.insert(4, Attributes={"scratch": {"min": 5}}, OwnerDN="carol")
    leased = c.match(JobID=1)
    assert leased is not None
    c.settings(keep_gpus=True)
    assert c.value("select count(*) from taskqueue.definition") == 3
    assert c.call_rows("check_matching") == []
    assert sorted(c.queues(Attributes={"gpu.count": 1, "scratch": 9}).values()) == [1]
    c.call("release_job", 1, leased.attempt)
    assert sorted(c.queues(Attributes={"gpu.count": 0, "scratch": 9}).values()) == [1, 2]
    c.insert(5)
    assert sorted(c.queues().values()) == [3]
    assert c.explain(5, Attributes={"gpu.count": 1})["Clauses"] is False
    c.settings(keep_gpus=False)
    assert c.call_rows("check_matching") == []
    assert sorted(c.queues(Attributes={"gpu.count": 1, "scratch": 9}).values()) == [1, 1, 3]


@pytest.mark.parametrize(
    ("wanted", "offered", "words"),
    [
        ({"arch": "x86_64"}, {"arch": "X86_64"}, "fails arch x86_64 (offers arch X86_64 (differs only in case))"),
        ({"arch": ["Arm", "x"]}, {"arch": "ARM"}, "fails arch Arm or arch x (offers arch ARM (differs only in case))"),
        ({"models": "a100"}, {"models": ["A100", "T4"]},
         "fails models a100 (offers models A100, T4 (differs only in case))"),
        ({"models": "a100"}, {"models": []}, "fails models a100 (offers models none)"),
        ({"arch": "x86_64"}, {"arch": "aarch64"}, "fails arch x86_64 (offers arch aarch64)"),
        ({"arch": "x86_64"}, {}, "fails arch x86_64 (offers arch: nothing)"),
        ({"arch": "x86_64"}, {"arch": "x86_64"}, "all of them"),
        ({"userns": True}, {"userns": False}, "fails userns true (offers userns false)"),
    ],
)  # fmt: skip
def test_an_explanation_says_that_a_text_differs_only_in_case(
    c: Calls, wanted: dict[str, Any], offered: Offered, words: str
) -> None:
    """Matching compares texts exactly."""
    c.insert(1, Attributes=wanted)
    rows = c.call_rows("explain_match", 1, Jsonb({"CPUTime": 500, "Attributes": offered}))
    assert [row[2] for row in rows if row[0] == "Clauses"] == [words]


def test_keep_gpus_needs_the_attribute(q: Calls) -> None:
    state, message = q.refusal(partial(q.settings, keep_gpus=True))
    assert (state, message[:17]) == ("PB001", "keep_gpus is true")


def test_keep_gpus_keeps_the_attribute(c: Calls) -> None:
    c.settings(keep_gpus=True)
    state, message = c.refusal(partial(c.call, "set_attributes", Jsonb({})))
    assert (state, message[:17]) == ("PB001", "keep_gpus is true")
    c.insert(1)
    assert c.match() is not None


Json = dict[str, Any]
RANGE: Json = {"Tags": ["4Processors"], "MaxNumberOfProcessors": 8, "MinRAM": 4096, "RAMPerProcessor": 512}


@pytest.mark.parametrize(
    ("wanted", "resource", "given"),
    [
        (RANGE, {"NumberOfProcessors": 6, "MaxRAM": 99999}, 6),
        (RANGE, {"NumberOfProcessors": 64, "MaxRAM": 99999}, 8),
        (RANGE, {"NumberOfProcessors": 64, "MaxRAM": 5631}, 6),
        (RANGE, {"NumberOfProcessors": 64, "MaxRAM": 5632}, 7),
        (RANGE, {"NumberOfProcessors": 64}, 8),
        (RANGE, {"MaxRAM": 99999, "Tag": "any"}, 4),
        (RANGE, {"NumberOfProcessors": 64, "MaxRAM": 5}, 4),
        (RANGE, [{"NumberOfProcessors": 7}, {"NumberOfProcessors": 6}], 6),
        (RANGE, [{"NumberOfProcessors": 7}, {"NumberOfProcessors": "many", "MaxRAM": []}, 5, None], 4),
        ({"MaxNumberOfProcessors": 8, "RAMPerProcessor": 0}, {"NumberOfProcessors": 3, "MaxRAM": 1}, 3),
        ({"MaxNumberOfProcessors": 1}, {"NumberOfProcessors": 3}, 1),
        ({"Tags": ["4Processors"]}, {"NumberOfProcessors": 3}, None),
        ({}, {}, None),
    ],
)  # fmt: skip
def test_a_match_gives_the_processors_of_its_range(q: Calls, wanted: Json, resource: Any, given: int | None) -> None:
    found = q.value("select taskqueue.processors_given(%s, %s)", Jsonb(wanted), Jsonb(resource))
    assert found == given


def test_the_processors_given_are_the_most_that_memory_allows(q: Calls) -> None:
    rng = Random(7)
    for _ in range(100):
        least, more, each, ram = (rng.randint(low, high) for low, high in ((1, 9), (0, 9), (1, 900), (0, 9000)))
        wanted = {
            "MinNumberOfProcessors": least, "MaxNumberOfProcessors": least + more, "RAMPerProcessor": each,
            "MinRAM": each * least + rng.choice((0, 500)),
        }  # fmt: skip
        canonical = q.call("canonical_requirements", Jsonb(requirements(**wanted)))
        offered = {"NumberOfProcessors": rng.randint(1, 20), "MaxRAM": ram}
        fitting = [
            n for n in range(least + 1, least + more + 1)
            if n <= offered["NumberOfProcessors"] and wanted["MinRAM"] + each * (n - least) <= ram
        ]  # fmt: skip
        found = q.value("select taskqueue.processors_given(%s, %s)", Jsonb(canonical), Jsonb(offered))
        assert found == max([least, *fitting]), (wanted, offered)


def test_keep_gpus_needs_an_attribute_that_may_be_absent(q: Calls) -> None:
    """Otherwise no job would match a resource that does not name its GPUs."""
    q.call("set_attributes", Jsonb({"gpu.count": "number"}))
    state, message = q.refusal(partial(q.settings, keep_gpus=True))
    assert (state, message[-18:]) == ("PB001", "that may be absent")


def test_the_memory_of_a_range_has_a_bound(q: Calls) -> None:
    state, message = q.refusal(partial(q.insert, 1, MinNumberOfProcessors=4, RAMPerProcessor=1e300))
    assert (state, message[:15]) == ("PB001", "RAMPerProcessor")
