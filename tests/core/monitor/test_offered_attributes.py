"""monitor.attribute and monitor.offered_attribute: the configured attributes, and those that resources offered."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.calls import Calls

CONFIGURED = {
    "arch": "text", "glibc": "version", "gpu.count": {"type": "number", "absent": {"value": 0}}, "userns": "flag",
    "software": {"type": "text", "exclusive": False}, "work": {"type": "number", "absent": "passes"},
}  # fmt: skip


NOON = datetime(2026, 3, 28, 12, tzinfo=UTC)


@pytest.fixture
def asked(q: Calls) -> Calls:
    q.call("set_attributes", Jsonb(CONFIGURED))
    for site, attributes in (
        ("NORTH", {"gpu.count": 2, "glibc": "2.4", "arch": "x86_64", "software": ["b", "a"], "userns": True}),
        ("NORTH", {"gpu.count": 10, "glibc": "2.34-60.el9", "arch": "aarch64", "software": "c"}),
        (["NORTH", "SOUTH"], {"gpu.count": "0", "glibc": "0.0"}),
        (None, {"arch": "x86_64", "work": None}),
        (None, None),
        ("SOUTH", {}),
    ):
        q.match(Site=site, Attributes=attributes)
    return q


def offered(q: Calls, columns: str) -> list[Any]:
    return q.rows(f"select {columns} from monitor.offered_attribute where setup = %s order by site, attribute", q.setup)


def test_each_attribute_of_a_site_has_its_kinds_and_values(asked: Calls) -> None:
    assert offered(asked, 'site, attribute, type, kinds, lowest, highest, "values"') == [
        ("", "arch", "text", 1, None, None, "x86_64"),
        ("NORTH", "arch", "text", 2, None, None, "aarch64, x86_64"),
        ("NORTH", "glibc", "version", 3, "0", "2.34", None),
        ("NORTH", "gpu.count", "number", 3, "0", "10", None),
        ("NORTH", "software", "text", 2, None, None, "a, b, c"),
        ("NORTH", "userns", "flag", 1, None, None, "true"),
        ("SOUTH", "glibc", "version", 1, "0", "0", None),
        ("SOUTH", "gpu.count", "number", 1, "0", "0", None),
    ]  # fmt: skip


def test_an_attribute_that_is_not_configured_any_more_is_left_out(asked: Calls) -> None:
    asked.call("set_attributes", Jsonb({"arch": "number", "glibc": "text"}))
    assert offered(asked, 'site, attribute, "values"') == [
        ("NORTH", "glibc", "0.0, 2.34-60.el9, 2.4"), ("SOUTH", "glibc", "0.0"),
    ]  # fmt: skip


def test_at_most_twenty_values_are_shown(q: Calls) -> None:
    q.call("set_attributes", Jsonb({"software": {"type": "text", "exclusive": False}}))
    q.match(Site="NORTH", Attributes={"software": [f"s{number}" for number in range(100, 130)]})
    assert offered(q, '"values"') == [(", ".join(f"s{number}" for number in range(100, 120)),)]


def test_configured_attributes_have_their_absence_as_a_word_or_a_value(asked: Calls) -> None:
    names = "select name, type, absent, exclusive from monitor.attribute where setup = %s order by 1"
    assert asked.rows(names, asked.setup) == [
        ("arch", "text", "fails", True), ("glibc", "version", "fails", True), ("gpu.count", "number", "0", True),
        ("software", "text", "fails", False), ("userns", "flag", "fails", True), ("work", "number", "passes", True),
    ]  # fmt: skip


@pytest.mark.parametrize("role", ["broker_viewer", "broker_operator"])
def test_viewers_may_read_both_views(asked: Calls, role: str) -> None:
    asked.connection.execute(f"set local role {role}".encode())
    assert len(offered(asked, "site")) == 8
    assert len(asked.rows("select from monitor.attribute")) == 6


def test_gpus_that_brokerage_reads_have_the_time_when_a_pilot_offered_them(q: Calls) -> None:
    q.call("set_attributes", Jsonb({**CONFIGURED, "gpu.vendor": "text", "gpu.ram": "number"}))
    q.connection.execute("insert into resource.queue (setup, queue) values (%s, 'PQ')", [q.setup])
    q.set_clock(NOON)
    for site in ("PQ", "NORTH"):
        q.match(Site=site, Attributes={"gpu.count": 1, "gpu.vendor": "nvidia", "gpu.ram": 40000, "arch": "x86_64"})
    assert {noted for _, noted in offered(q, "attribute, noted_at")} == {None}, "no maintenance yet"
    q.set_clock(NOON + timedelta(minutes=1))
    q.maintain()
    assert offered(q, "site, attribute, noted_at") == [
        *(("NORTH", name, None) for name in ("arch", "gpu.count", "gpu.ram", "gpu.vendor")),
        ("PQ", "arch", None), ("PQ", "gpu.count", None), ("PQ", "gpu.ram", NOON), ("PQ", "gpu.vendor", NOON),
    ]  # fmt: skip
