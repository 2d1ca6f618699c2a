"""Rows of PanDA's table CONFIG, the gdpconfig, in the forms in which its databases and their tools write them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from broker import errors
from broker.world import exports
from tests.calls import Connection

COLUMNS = ("APP", "COMPONENT", "KEY", "VALUE", "TYPE", "VO", "DESCR", "VALUE_JSON")


def row(name: str, value: Any = "7", kind: str = "int", vo: str | None = None, **other: Any) -> dict[str, Any]:
    """A row of component:KEY, or of app/component:KEY, with the columns in capitals as Oracle writes them."""
    app, _, named = name.rpartition("/")
    component, key = named.split(":")
    given = dict(zip(COLUMNS, (app or "jedi", component, key, value, kind, vo, "a text", None), strict=True))
    return given | other


CAP = "jobbroker:NQUEUED_SAT_CAP"
RATIO = "pandaserver/rebroker:FAST_REBRO_THRESHOLD_NQNR_RATIO"
ROWS = [row(CAP, "300"), row(RATIO, "2.5", "float"), row("jobbroker:NW_ACTIVE", "True", "bool")]
READ = {CAP: 300, RATIO.partition("/")[2]: 2.5, "jobbroker:NW_ACTIVE": True}


def lower(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key.lower(): entry for key, entry in one.items()} for one in rows]


def held(db: Connection, setup: str = "default") -> dict[str, Any]:
    query = "select component || ':' || key, value from resource.config where setup = %s"
    return dict(db.execute(query, [setup]).fetchall())


FORMS: list[Callable[[list[dict[str, Any]]], Any]] = [
    lambda rows: rows,
    lower,
    lambda rows: {"items": rows, "hasMore": False, "limit": 25, "offset": 0, "count": 3, "links": []},
    lambda rows: {"results": [{"columns": [{"name": "APP"}], "items": lower(rows)}]},
    lambda rows: {"success": True, "message": "", "data": rows},
]


@pytest.mark.parametrize("form", FORMS)
def test_rows_are_taken_in_every_form(db: Connection, form: Callable[[list[dict[str, Any]]], Any]) -> None:
    assert exports.load(db, "gdpconfig", form(ROWS)).rows == 3
    assert held(db) == READ


@pytest.mark.parametrize(("suffix", "null"), [(".csv", ""), (".csv", "NULL"), (".tsv", "\\N")])
def test_rows_of_a_table_are_read(db: Connection, tmp_path: Path, suffix: str, null: str) -> None:
    file = tmp_path / f"config{suffix}"
    between = "," if suffix == ".csv" else "\t"
    lines = [COLUMNS, *([null if entry is None else entry for entry in one.values()] for one in ROWS)]
    file.write_text("\n".join(map(between.join, lines)))
    exports.load(db, "gdpconfig", exports.read(file, Path.read_text))
    assert held(db) == READ


@pytest.mark.parametrize(
    ("kind", "value", "found"),
    [
        ("int", " 12 ", 12), ("INTEGER", "12", 12), ("int", 12, 12), ("float", "1e3", 1000), ("Float", 0.5, 0.5),
        ("str", "12", 12), ("string", "1.5", 1.5), ("json", 12, 12), ("json", "1.5", 1.5), ("int", "0", 0),
    ],
)  # fmt: skip
def test_a_value_is_read_by_its_type(db: Connection, kind: str, value: Any, found: Any) -> None:
    column = "VALUE_JSON" if kind == "json" else "VALUE"
    exports.load(db, "gdpconfig", [row(CAP, None, kind, **{column: value})])
    assert held(db) == {CAP: found}


TRUTHS = [("true", True), ("TRUE", True), ("false", False), ("False", False)]


@pytest.mark.parametrize("kind", ["bool", "boolean", "str", "Bool"])
@pytest.mark.parametrize(("value", "found"), TRUTHS)
def test_true_and_false_are_read_in_every_spelling(db: Connection, kind: str, value: str, found: bool) -> None:
    exports.load(db, "gdpconfig", [row("core:WORK_SHORTAGE", value, kind)])
    assert held(db) == {"core:WORK_SHORTAGE": found}


@pytest.mark.parametrize(
    ("wrong", "named", "reason"),
    [
        (row(CAP, "12.5"), CAP, 'value is "12.5", not an integer'),
        (row(CAP, None), CAP, "value is null, not an integer"),
        (row(CAP, "much", "float"), CAP, 'value is "much", not a number'),
        (row(CAP, "nan", "float"), CAP, 'value is "nan", not a number'),
        (row(CAP, "1e999", "float"), CAP, "not a number"),
        (row(CAP, "many", "str"), CAP, 'configuration NQUEUED_SAT_CAP is "many", not a number'),
        (row(CAP, "", "str"), CAP, 'value is "", not a text'),
        (row(CAP, "true", "bool"), CAP, "not a number"),
        (row(CAP, "-5"), CAP, "not 0 or more"),
        (row("jobbroker:NW_ACTIVE", "yes", "bool"), "jobbroker:NW_ACTIVE", 'value is "yes", not true or false'),
        (row("jobbroker:NW_ACTIVE", "1"), "jobbroker:NW_ACTIVE", "not a boolean"),
        (row(CAP, "5", "double"), CAP, 'type is "double", not one of str, int, float, bool and json'),
        (row(CAP, TYPE=None), CAP, "type is null"),
        (row(CAP, "5", "json"), CAP, "value_json is null"),
        (row(CAP, None, "json", VALUE_JSON='{"a": 1'), CAP, "value_json is"),
        (row(CAP, None, "json", VALUE_JSON={"a": 1}), CAP, "not a number"),
    ],
)
def test_a_bad_row_is_left_out_and_named(db: Connection, wrong: Any, named: str, reason: str) -> None:
    good = [one for one in ROWS[1:] if f"{one['COMPONENT']}:{one['KEY']}" != named]
    imported = exports.load(db, "gdpconfig", [wrong, *good])
    assert imported.lacking[0].startswith(f"left out, cannot be read: {named}: ")
    assert reason in imported.lacking[0]
    assert held(db).keys() == READ.keys() - {CAP, named}


def test_keys_with_a_share_a_label_or_a_group_are_known(db: Connection) -> None:
    named = [
        "jobbroker:NQUEUELIMITSITE_MC Default", "jobbroker:MIN_WEIGHT_managed_MC 16", "watchdog:PENDING_TIMEOUT_user",
        "taskbrokerage:DISK_THRESHOLD_Heavy Ion", "pandaserver/rebroker:FAST_REBRO_THRESHOLD_NQUEUE_Data:Derivations",
        "pandaserver/rebroker:ANALY_TIMEOUT_proj-evind", "pandaserver/watcher:HEARTBEAT_TIMEOUT_pull_ups",
        "pandaserver/prio_mgr:CAP_RUNNING_USER_JOBS", "anal_jobbroker:TW_DONE_JOB_STAT",
    ]  # fmt: skip
    rows = [
        dict(zip(COLUMNS, (app or "jedi", *rest.split(":", 1), "5", "int", None, "", None), strict=True))
        for app, _, rest in (name.rpartition("/") for name in named)
    ]
    assert exports.load(db, "gdpconfig", rows).rows == len(named)
    assert held(db) == dict.fromkeys((name.rpartition("/")[2] for name in named), 5)


def test_keys_that_no_rule_reads_are_left_out_and_counted(db: Connection) -> None:
    """PanDA finds a key by its application and its component, too; what is not kept is not judged."""
    unread = [
        row("jobgen:NFILES_test", "x"), row("pilot/pilot:RUNDIR", None, "?"), row(CAP.replace("jobbroker", "core")),
        row(f"pandaserver/{CAP}"), row("anal_jobbroker:NQUEUED_SAT_CAP"),
    ]  # fmt: skip
    imported = exports.load(db, "gdpconfig", [*unread, *ROWS])
    assert imported.lacking == [
        "5 rows left out, no rule reads: jedi jobgen:NFILES_test, pilot pilot:RUNDIR, jedi core:NQUEUED_SAT_CAP, ..."
    ]
    assert held(db) == READ
    with pytest.raises(errors.BadRequest, match="nothing was read from it: 1 row left out, no rule reads: jedi jobgen"):
        exports.load(db, "gdpconfig", unread[:1])


@pytest.mark.parametrize(
    "nameless", [row(CAP, COMPONENT=None), row(CAP, COMPONENT=""), row(CAP, KEY=None), row(CAP, APP=None), 7, None, {}]
)
def test_rows_that_panda_cannot_find_are_left_out_and_named(db: Connection, nameless: Any) -> None:
    imported = exports.load(db, "gdpconfig", [*ROWS, nameless, nameless])
    said = "2 rows left out, without an app, a component or a key, so that PanDA finds none: gdpconfig[3], gdpconfig[4]"
    assert imported.lacking == [said]
    assert held(db) == READ


@pytest.mark.parametrize(
    ("vos", "setup", "tenant", "chosen"),
    [
        (["atlas", "wlcg"], "default", None, "atlas"),
        (["atlas", "wlcg"], "wlcg", None, "wlcg"),
        (["atlas", "wlcg"], "atlas", "wlcg", "wlcg"),
        (["wlcg"], "default", None, "wlcg"),
        (["wlcg", "epic"], "default", "epic", "epic"),
        ([], "default", None, None),
    ],
)
def test_the_rows_of_one_vo_count_before_those_of_every_vo(
    db: Connection, vos: list[str], setup: str, tenant: str | None, chosen: str | None
) -> None:
    every_first = [row(CAP, "1", vo=""), *ROWS[1:]]
    rows = [row(CAP, str(number), vo=vo) for number, vo in enumerate(vos, 2)]
    for given in ([*every_first, *rows], [*rows, *every_first]):
        imported = exports.load(db, "gdpconfig", given, setup, tenant=tenant)
        assert held(db, setup) == READ | {CAP: vos.index(chosen) + 2 if chosen else 1}
        left_out = [CAP] * len(vos)
        assert imported.lacking == (
            [f"{len(vos)} {'rows' if len(vos) > 1 else 'row'} left out, of another VO than {chosen}, or for every VO"
             f" where {chosen} has its own: {', '.join(left_out)}"] if vos else []
        )  # fmt: skip


@pytest.mark.parametrize("odd", [5, ["atlas"], {"a": 1}])
def test_a_vo_that_is_no_text_is_another_one(db: Connection, odd: Any) -> None:
    imported = exports.load(db, "gdpconfig", [row(CAP, vo=odd), row(CAP, "9", vo="atlas"), *ROWS[1:]])
    assert imported.lacking[0].startswith("1 row left out, of another VO than atlas")
    assert held(db) == READ | {CAP: 9}


def test_a_vo_that_cannot_be_chosen_is_refused(db: Connection) -> None:
    rows = [row(CAP, vo="epic"), row(CAP, vo="wlcg")]
    with pytest.raises(errors.BadRequest, match="rows of several VOs: epic, wlcg") as caught:
        exports.load(db, "gdpconfig", rows)
    assert "--tenant" in str(caught.value.hint)
    with pytest.raises(errors.BadRequest, match="no rows of VO atlas") as caught:
        exports.load(db, "gdpconfig", rows, tenant="atlas")
    assert caught.value.hint == "it has those of epic, wlcg"
    with pytest.raises(errors.BadRequest, match=f"{CAP} is given twice"):
        exports.load(db, "gdpconfig", [row(CAP), row(CAP, "9")])


def test_a_key_that_is_gone_is_gone_here_and_other_setups_keep_theirs(db: Connection) -> None:
    for setup in ("default", "other"):
        exports.load(db, "gdpconfig", ROWS, setup)
    db.execute("select resource.set_config('default', 'jobbroker:NW_THRESHOLD', '2')")
    imported = exports.load(db, "gdpconfig", ROWS[1:])
    assert imported.lacking == [f"1 no longer in the export and removed, such as {CAP}"]
    assert held(db) == {key: READ[key] for key in READ if key != CAP} | {"jobbroker:NW_THRESHOLD": 2}
    assert held(db, "other") == READ
    imported = exports.load(db, "gdpconfig", [row(RATIO, "x"), ROWS[2]])
    assert imported.lacking[1] == f"1 stale, as last loaded: {RATIO.partition('/')[2]}"
    assert held(db)[RATIO.partition("/")[2]] == 2.5
