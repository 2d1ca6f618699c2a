"""Documents of DiracX' matching specification on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from broker.cli.shared import codes
from tests.calls import Calls, Connection
from tests.commands import Cli
from tests.core.translate.test_diracx import JOBS, NODES, newer_job, newer_node

FIRST = JOBS["job_07_sprucing_niche"]
NODE = NODES["node_01_cern_typical"]
RANGE = {**newer_job(FIRST), "sites": []}


@pytest.fixture
def calls(db: Connection) -> Calls:
    made = Calls(db)
    made.call("set_attributes", Jsonb("diracx"))
    return made


def document(**fields: Any) -> str:
    """A job of v0.1 with other fields in its specification."""
    return json.dumps(
        {"job_id": 7, "requirements": {**FIRST, "matching_specs": [{**FIRST["matching_specs"][0], **fields}]}}
    )


@pytest.mark.slow
@pytest.mark.parametrize("newer", [False, True], ids=["v0.1", "v0.2"])
def test_jobs_and_nodes_of_diracx_are_taken_as_they_are(cli: Cli, calls: Calls, newer: bool) -> None:
    job, node = (RANGE, newer_node(NODE)) if newer else (FIRST, NODE)
    described = json.dumps({"node_id": "n", **node})
    lines = [json.dumps({"job_id": 1, "requirements": job}), json.dumps({"requirements": job, "jobs": [[2], [3]]})]
    assert cli("submit", "-", stdin="\n".join(lines)).out == "3 jobs submitted to setup default\n"
    assert [row["jobs"] for row in cli("task-queues", "--resource", described, "--json").json] == [3]
    assert "false" not in cli("explain", 1, "--resource", described, "--json").out
    assert "processors 2 " in " ".join(cli("match", "--resource", described).out.split())
    [match] = cli("match", "--resource", described, "--json").json
    assert match["processors"] == 2
    many = cli("agent", "match-many", "-", "--json", stdin=json.dumps({"resources": [json.loads(described)]})).json
    assert [one["processors"] for one in many[0]["jobs"]] == [2]


def test_a_version_of_a_document_keeps_the_digits_of_its_number(cli: Cli, calls: Calls, tmp_path: Path) -> None:
    """2.30 is above 2.28, and 2.3 is not. As a list, as lines, and as the argument of an option."""
    wanted = {**FIRST, "matching_specs": [{**FIRST["matching_specs"][0], "system": {"name": "Linux", "glibc": 2.25}}]}
    nodes = {
        glibc: json.dumps({"node_id": "n", **NODE, "system": {"name": "Linux", "glibc": 9.25}}).replace("9.25", glibc)
        for glibc in ("2.3", "2.30", "2.300")
    }
    for number, glibc in enumerate(("2.3", "2.30", "2.300", "2"), 1):
        text = json.dumps([{"job_id": number, "requirements": wanted}]).replace("2.25", glibc)
        cli("submit", "-", stdin=text if number % 2 else text[1:-1])
    asked = [row["requirements"]["Clauses"] for row in cli("task-queues", "--json").json]
    least = {
        clause["Attributes"]["glibc"][0]["min"] for of in asked for clause in of if "glibc" in clause["Attributes"]
    }
    assert least == {"2.3", "2.30", "2.300", "2"}
    for place, node in enumerate(nodes.values(), 2):
        assert sum(row["jobs"] for row in cli("task-queues", "--resource", node, "--json").json) == place
    lines = "\n".join(f'{{"resources": [{node}], "n": 9}}' for node in nodes.values())
    many = cli("agent", "match-many", "-", "--json", stdin=lines).json
    assert [sorted(job["job_id"] for job in one["jobs"]) for one in many] == [[1, 4], [2], [3]]
    (tmp_path / "jobs.json").write_text('{"job_id": 9, "requirements": {"OwnerDN": "a", "OwnerGroup": "g", '
                                        '"CPUTime": 5, "Attributes": {"glibc": {"min": 2.30}}}}')  # fmt: skip
    cli("submit", tmp_path / "jobs.json").refuses("not of the type version", "A version is a text")
    cli("match", "--resource", '{"CPUTime": 5, "Attributes": {"glibc": 2.30}}').refuses("glibc", "not a version")
    assert cli("match", "--cpu-time", 5, "--attribute", "glibc=2.30").code == codes.NO_MATCH


def test_a_fault_of_a_document_names_element_and_place(cli: Cli, calls: Calls, tmp_path: Path) -> None:
    file = tmp_path / "jobs.json"
    good, bad = document(), document(**{"wall-time": -1})
    for text, element in ((f"{good}\n\n{bad}", "line 3"), (f"[{good}, {bad}]", "element 2")):
        file.write_text(text)
        place = "matching_specs[0].wall-time is -1, not a number"
        cli("submit", file).refuses(f"error: {element}, job 7: {place}", "nothing is stored")
    assert calls.value("select count(*) from monitor.job") == 0
    node = {"node_id": "n", "cpu": {}, "site": "A", "wall-time": 5}
    cli("match", "--resource", json.dumps(node)).refuses("error: --resource: cpu.num-cores is missing")
    many = json.dumps({"resources": [{"CPUTime": 5}, node]})
    cli("agent", "match-many", "-", stdin=many).refuses("error: -, line 1, resources[1]: cpu.num-cores is missing")


def test_a_document_without_the_id_of_a_job_is_told_how_to_be_given(cli: Cli, calls: Calls, tmp_path: Path) -> None:
    file = tmp_path / "jobs.json"
    newer = {**RANGE, "owner": "alice"}
    for value, place in ((JOBS, "element 1"), (FIRST, "line 1"), (newer, "line 1"), ([FIRST], "element 1")):
        indent = 1 if value is JOBS else None
        file.write_text(json.dumps(value, indent=indent))
        refused = cli("submit", file)
        refused.refuses(f"error: {place}: this is a document of DiracX without the id of a job")
        refused.refuses('give {"job_id": 1, "requirements": DOCUMENT}', "nothing is stored")
    lines = (json.dumps({"job_id": number, "requirements": one}) for number, one in enumerate(JOBS.values(), 1))
    assert cli("submit", "-", stdin="\n".join(lines)).out == f"{len(JOBS)} jobs submitted to setup default\n"


@pytest.mark.slow
def test_a_resource_may_be_in_a_file(cli: Cli, calls: Calls, tmp_path: Path) -> None:
    calls.insert(1, CPUTime=100)
    file = tmp_path / "node.json"
    file.write_text('{"CPUTime": 86400}')
    for command in (["explain"], ["explain", 1], ["task-queues"], ["match"]):
        cli(*command, "--resource", f"@{file}", "--json")
    assert [row["state"] for row in cli("leases", "--json").json] == ["matched"]
    assert cli("match", "--resource", "@-", stdin='{"CPUTime": 86400}').code == codes.NO_MATCH
    for text, fault in (("{", "is not JSON"), ("[1]", "is not a JSON object: [1]")):
        file.write_text(text)
        cli("match", "--resource", f"@{file}").refuses(f"error: --resource @{file} {fault}")
    file.write_text(json.dumps({"node_id": "n", "cpu": {}, "site": "A", "wall-time": 5}))
    cli("match", "--resource", f"@{file}").refuses(f"error: --resource @{file}: cpu.num-cores is missing")
    cli("match", "--resource", f"@{tmp_path}/none.json").refuses(f"cannot read {tmp_path}/none.json")
