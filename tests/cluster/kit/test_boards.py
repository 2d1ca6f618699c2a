"""The boards of Grafana: the service has every metric and label of their queries, and every SQL query runs."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from broker.cluster.commands.kit import KIT
from broker.operate import loops
from tests.calls import Calls
from tests.cluster.kit.files import check
from tests.cluster.kit.queries import BOARDS, plain, targets
from tests.service.conftest import BASE, SETUP, Db, Running, Token, bearer, program

Labels = dict[str, set[str]]

_METRIC = re.compile(r"(pgbroker_\w+)(?:\{([^}]*)\})?")
_MATCHER = re.compile(r'(\w+)(?:=~|!~|!=|=)"')
_BY = re.compile(r"by \(([^)]*)\)")
_LEGEND = re.compile(r"\{\{(\w+)\}\}")


@pytest.fixture
def exposed(service: Running, filled: Calls, db: Db, token: Token) -> Labels:
    """The metrics of the service, each with the names of its labels."""
    assert filled
    db.execute(
        "insert into instance.instance (setup, instance_id, type, state, cpu, used_cpu, ram, price, requested_at)"
        " values (%s, 99, 'large', 'running', 8, 4, 100, 0.5, now())",
        [SETUP],
    )
    db.execute("select taskqueue.set_limit(%s, 'running', 'NORTH', null, 'JobType', 'none', 0)", [SETUP])
    db.execute("select taskqueue.set_limit(%s, 'running', 'NORTH', null, 'OwnerGroup', 'users', 9)", [SETUP])
    db.execute("delete from history.sample")
    assert loops.sample(db, SETUP)
    match = httpx.post(service.url + BASE + "/match", json={"resources": [{"CPUTime": 86400}]},
                       headers=bearer(token("agent")))  # fmt: skip
    assert match.status_code == 200
    text = httpx.get(service.url + "/metrics", timeout=60).text
    families = text_string_to_metric_families(text)
    return {sample.name: set(sample.labels) for family in families for sample in family.samples}


def wrong(query: str, legend: str, known: Labels) -> Iterator[str]:
    """The metrics and labels of a query that do not exist."""
    asked = _METRIC.findall(query)
    if not asked:
        yield "no metric of pgbroker"
    grouped = {label.strip() for found in _BY.findall(query) for label in found.split(",")}
    shown = set(_LEGEND.findall(legend))
    for name, matchers in asked:
        if name not in known:
            yield f"there is no {name}"
            continue
        used = set(_MATCHER.findall(matchers)) | grouped | shown
        yield from (f"{name} has no label {label}" for label in sorted(used - known[name]))
        if "setup" in known[name] and "setup" not in _MATCHER.findall(matchers):
            yield f"{name} of all setups"
    if _BY.search(query) and not shown <= grouped:
        yield f"the legend shows {sorted(shown - grouped)}, which the sum does not keep"


def test_every_query_of_prometheus_finds_its_metrics_and_labels(exposed: Labels) -> None:
    queries = targets("expr")
    assert len(queries) > 40
    found = [(place, text) for place, one in queries for text in wrong(one["expr"], one["legendFormat"], exposed)]
    assert found == []
    variables = [variable["query"]["query"] for board in BOARDS.values() for variable in board["templating"]["list"]]
    for variable in variables:
        name, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable).groups()  # type: ignore[union-attr]
        assert label in exposed[name]


@pytest.mark.parametrize(
    ("query", "legend", "words"),
    [
        ("sum(pgbroker_nothing)", "", "there is no pgbroker_nothing"),
        ('sum(pgbroker_leases{setup="$setup", place="x"})', "", "pgbroker_leases has no label place"),
        ('sum by (place) (pgbroker_leases{setup="$setup"})', "", "pgbroker_leases has no label place"),
        ('sum by (state) (pgbroker_leases{setup="$setup"})', "{{owner_group}}", "which the sum does not keep"),
        ("sum(pgbroker_leases)", "", "of all setups"),
        ("up", "", "no metric"),
    ],
)
def test_a_wrong_query_of_a_board_is_noticed(query: str, legend: str, words: str) -> None:
    known = {"pgbroker_leases": {"setup", "owner_group", "state"}}
    assert any(words in text for text in wrong(query, legend, known))


def test_prometheus_can_parse_every_query(tmp_path: Path) -> None:
    queries = [plain(one["expr"]) for _, one in targets("expr")]
    rules = [{"record": f"query:{number}", "expr": query} for number, query in enumerate(queries)]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "boards", "rules": rules}]}))
    check(program("promtool"), "check", "rules", file)


def test_every_sql_query_runs_for_a_viewer(filled: Calls, db: Db) -> None:
    """Each query over time has rows; the tables may be empty."""
    assert filled
    db.execute("set role broker_viewer")
    queries = targets("rawSql")
    assert len(queries) == 8
    for place, one in queries:
        text = one["rawSql"].replace("${setup:sqlstring}", f"'{SETUP}'")
        text = re.sub(
            r"\$__time(From|To)\(\)", lambda found: {"From": "now() - interval '1 day'", "To": "now()"}[found[1]], text
        )
        assert "$" not in text, place
        cursor = db.execute(text.encode())
        assert cursor.description
        names = [column.name for column in cursor.description]
        if one["format"] == "time_series":
            assert names == ["time", "metric", "value"], place
            assert cursor.fetchall(), place


def test_boards_have_described_panels_that_do_not_overlap() -> None:
    assert sorted(BOARDS) == ["brokerage", "database", "operations"]
    provisioned = yaml.safe_load((KIT / "grafana/provisioning/datasources/pgbroker.yaml").read_text())["datasources"]
    sources = {(one["type"], one["uid"]) for one in provisioned}
    for name, board in BOARDS.items():
        assert board["uid"] == f"pgbroker-{name}"
        panels = board["panels"]
        assert len({panel["id"] for panel in panels}) == len({panel["title"] for panel in panels}) == len(panels)
        assert all(panel["description"] for panel in panels)
        assert {(panel["datasource"]["type"], panel["datasource"]["uid"]) for panel in panels} <= sources
        cells = [
            (x, y)
            for place in (panel["gridPos"] for panel in panels)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        ]
        assert len(cells) == len(set(cells)) and max(x for x, _ in cells) < 24, name
