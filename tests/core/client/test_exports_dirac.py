"""DIRAC's TaskQueueDB as a folder of tables, dumped in any way: the TaskQueues and jobs that a setup gets."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from broker import errors
from broker.world import exports
from tests.calls import Connection
from tests.exports import held

# Two TaskQueues with jobs and one without, of invented owners. Values are texts, as every dump of MySQL has them.
TABLES: dict[str, list[dict[str, Any]]] = {
    "tq_TaskQueues": [
        {
            "TQId": "1", "Owner": "ada", "OwnerGroup": "prod", "VO": "v", "CPUTime": "3000", "Priority": "1",
            "Enabled": "1",
        },
        {
            "TQId": "2", "Owner": "bob", "OwnerGroup": "user", "VO": "v", "CPUTime": "500", "Priority": "1",
            "Enabled": "0",
        },
        {
            "TQId": "3", "Owner": "bob", "OwnerGroup": "user", "VO": "v", "CPUTime": "500", "Priority": "1",
            "Enabled": "1",
        },
    ],
    "tq_Jobs": [{"TQId": "1", "JobId": "101", "Priority": "1", "RealPriority": "1"},
                {"TQId": "1", "JobId": "102", "Priority": "5", "RealPriority": "5"},
                {"TQId": "2", "JobId": "103", "Priority": "1", "RealPriority": "1"}],
    "tq_TQToSites": [{"TQId": "1", "Value": "NORTH"}, {"TQId": "1", "Value": "SOUTH"}],
    "tq_TQToGridCEs": [],
    "tq_TQToBannedSites": [{"TQId": "2", "Value": "SOUTH"}],
    "tq_TQToPlatforms": [{"TQId": "1", "Value": "x86_64-el9"}],
    "tq_TQToJobTypes": [{"TQId": "1", "Value": "Simulation"}],
    "tq_TQToTags": [{"TQId": "1", "Value": "8Processors"}],
    "tq_RAM_requirements": [{"TQId": "1", "MinRAM": "2000", "MaxRAM": "0"}],
}  # fmt: skip
COLUMNS = {name: list(rows[0]) if rows else ["TQId", "Value"] for name, rows in TABLES.items()}


def as_json(folder: Path) -> None:
    for name, rows in TABLES.items():
        (folder / f"{name}.json").write_text(json.dumps(rows))


def as_csv(folder: Path) -> None:
    for name, rows in TABLES.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS[name], quoting=csv.QUOTE_ALL)
            writer.writeheader()
            writer.writerows(rows)


def as_batch(folder: Path) -> None:
    for name, rows in TABLES.items():
        lines = [COLUMNS[name], *(list(row.values()) for row in rows)]
        (folder / f"{name}.tsv").write_text("".join("\t".join(line) + "\n" for line in lines))


def as_tab(folder: Path) -> None:
    for name, rows in TABLES.items():
        columns = "".join(f"  `{column}` varchar(64) NOT NULL,\n" for column in COLUMNS[name])
        (folder / f"{name}.sql").write_text(f"CREATE TABLE `{name}` (\n{columns}  PRIMARY KEY (`TQId`)\n);\n")
        (folder / f"{name}.txt").write_text("".join("\t".join(row.values()) + "\n" for row in rows))


@pytest.mark.parametrize("write", [as_json, as_csv, as_batch, as_tab])
def test_a_folder_of_tables_is_loaded(db: Connection, tmp_path: Path, write: Callable[[Path], None]) -> None:
    write(tmp_path)
    imported = exports.load(db, "dirac", exports.read(tmp_path, lambda path: path.read_text(), folder=True))
    assert imported.rows == 3
    assert imported.lacking == [
        "1 of 3 TaskQueues have no jobs, and are left out",
        "TaskQueueDB has no shares of groups: load them, if not done, as the section groups of a world",
        "CPU times of jobs changed: 2 raised to the next CPU bucket",
    ]
    found = held(db)["task_queues"]
    found.sort(key=lambda queue: queue["jobs"])
    assert [(queue["enabled"], queue["jobs"]) for queue in found] == [(True, [[101, 1], [102, 5]]), (False, [[103, 1]])]
    assert found[0]["requirements"] == {
        "OwnerDN": "ada",
        "OwnerGroup": "prod",
        "CPUTime": 5000,
        "Sites": ["NORTH", "SOUTH"],
        "Platforms": ["x86_64-el9"],
        "JobTypes": ["Simulation"],
        "Tags": ["8Processors"],
        "MinRAM": 2000,
    }
    assert found[1]["requirements"]["BannedSites"] == ["SOUTH"]


def test_cpu_times_that_change_are_counted(db: Connection) -> None:
    rows = [
        row | {"CPUTime": time} for row, time in zip(TABLES["tq_TaskQueues"], ("86400", "1080000", "1"), strict=True)
    ]
    lacking = exports.load(db, "dirac", TABLES | {"tq_TaskQueues": rows}).lacking
    said = "CPU times of jobs changed: 2 raised to the next CPU bucket, 1 cut to the highest CPU bucket"
    assert lacking[-1] == said


def test_the_file_of_an_empty_table_may_be_empty(db: Connection, tmp_path: Path) -> None:
    as_batch(tmp_path)
    (tmp_path / "tq_TQToGridCEs.tsv").write_text("")
    assert exports.load(db, "dirac", exports.read(tmp_path, lambda path: path.read_text(), folder=True)).rows == 3


@pytest.mark.parametrize(
    ("column", "tenants"), [("Setup", ("Exp-Production", "Exp-Certification")), ("VO", ("lhcb", "gridpp"))]
)
def test_tenants_of_a_dump_stay_apart(db: Connection, column: str, tenants: tuple[str, str]) -> None:
    rows = [row | {column: tenants[row["TQId"] == "2"]} for row in TABLES["tq_TaskQueues"]]
    tables = TABLES | {"tq_TaskQueues": rows}
    with pytest.raises(errors.BadRequest, match="several tenants: ") as caught:
        exports.load(db, "dirac", tables)
    assert all(tenant in str(caught.value) for tenant in tenants)
    with pytest.raises(errors.BadRequest, match="no TaskQueues of other"):
        exports.load(db, "dirac", tables, tenant="other")
    exports.load(db, "dirac", tables, "first", tenant=tenants[0])
    exports.load(db, "dirac", tables, "second", tenant=tenants[1])
    jobs = {setup: [queue["jobs"] for queue in held(db, setup)["task_queues"]] for setup in ("first", "second")}
    assert jobs == {"first": [[[101, 1], [102, 5]]], "second": [[[103, 1]]]}


@pytest.mark.parametrize(
    ("tables", "named"),
    [
        ({name: rows for name, rows in TABLES.items() if name != "tq_TQToBannedSites"}, "no table tq_TQToBannedSites"),
        ({**TABLES, "tq_Jobs": [{"TQId": "9", "JobId": "1"}]}, "TaskQueue 9 is not in tq_TaskQueues"),
        ({**TABLES, "tq_Jobs": [{"JobId": "1"}]}, r"tq_Jobs\[0\]\.TQId is null"),
        ({**TABLES, "tq_TQToTags": [{"TQId": "1", "Value": None}]}, r"tq_TQToTags\[0\]\.Value is null"),
        ({**TABLES, "tq_Jobs": TABLES["tq_Jobs"] + TABLES["tq_Jobs"][:1]}, "101"),
    ],
)
def test_incomplete_tables_are_refused(db: Connection, tables: Any, named: str) -> None:
    with pytest.raises(Exception, match=named):
        exports.load(db, "dirac", tables)
    assert db.execute("select count(*) from taskqueue.job").fetchone() == (0,)


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("other.csv", "a\n", "has no tables tq_"),
        ("tq_Jobs.csv", "TQId,JobId\n1\n", "row 1 has 1 columns of 2"),
        ("tq_Jobs.json", "{}", "is {}, not an array"),
        ("tq_Jobs.json", "[", "tq_Jobs.json is not JSON"),
    ],
)
def test_files_that_are_no_tables_are_refused(tmp_path: Path, name: str, text: str, named: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(errors.BadRequest, match=named):
        exports.read(tmp_path, lambda path: path.read_text(), folder=True)


ODD = [r"/CN=Jos\xC3\xA9", r"\new\table", "a\tb", "a\nb", "\\", "\\\\\t", "\\\n"]


@pytest.mark.parametrize(("suffix", "escapes"), [
    (".tsv", {"\\": r"\\", "\t": r"\t", "\n": r"\n"}),  # mysql --batch
    (".txt", {"\\": r"\\", "\t": "\\\t", "\n": "\\\n"}),  # mysqldump --tab
])  # fmt: skip
def test_a_value_is_read_as_it_was_before_mysql_escaped_it(
    tmp_path: Path, suffix: str, escapes: dict[str, str]
) -> None:
    written = ["".join(escapes.get(one, one) for one in value) for value in ODD]
    head = "TQId\tOwner\n"
    if suffix == ".txt":
        head = ""
        (tmp_path / "tq_TaskQueues.sql").write_text("  `TQId` int,\n  `Owner` varchar(64),\n")
    text = head + "".join(f"{number}\t{value}\n" for number, value in enumerate(written)) + "99\t\\N\n"
    (tmp_path / f"tq_TaskQueues{suffix}").write_text(text)
    tables = exports.read(tmp_path, lambda path: path.read_text(), folder=True)
    assert [row["Owner"] for row in tables["tq_TaskQueues"]] == [*ODD, None]
