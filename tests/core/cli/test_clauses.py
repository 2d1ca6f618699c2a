"""Clauses on the command line: attributes of resources and setups, words, and the place of a syntax error."""

import json
import re
from pathlib import Path

import pytest
from psycopg.types.json import Jsonb

from broker import world
from tests.calls import Calls, Connection, requirements
from tests.commands import AsRole, Cli
from tests.core.cli.test_narrow import plain

ATTRIBUTES = {
    "arch": "text", "glibc": "version", "gpu.count": {"type": "number", "absent": {"value": 0}}, "userns": "flag",
    "software": {"type": "text", "exclusive": False},
}  # fmt: skip
HOSTILE = "</td><script>alert(1)</script> [red]x[/red] \\& " + "n" * 150
MANY = {
    "TagExpression": f'(os:el9 | os:alma9) & (a | b) & (~c | d) & (e | f) & (g | "{HOSTILE}")',
    "Attributes": {"arch": ["x86_64", "aarch64"], "glibc": {"min": "2.28"}, "gpu.count": {"min": 1, "max": 4}},
}  # fmt: skip
WORDS = [
    "arch aarch64 or arch x86_64", "glibc at least 2.28", "gpu.count 1 to 4", "a or b", "d or not c", "e or f",
    "os:alma9 or os:el9",
]  # fmt: skip
FITTING = ["--site", "NORTH", "--cpu-time", "1000", "--attribute", "glibc=2.34-60.el9", "--attribute", "gpu.count=2",
           "--attribute", "arch=x86_64", *"--tag a --tag e --tag f --tag g --tag os:el9".split()]  # fmt: skip
POOR = ["--site", "NORTH", "--cpu-time", "1000", "--attribute", "glibc=2.17"]


@pytest.fixture
def q(db: Connection) -> Calls:
    calls = Calls(db)
    calls.call("set_attributes", Jsonb(ATTRIBUTES))
    return calls


def narrow(cli: Cli, *arguments: object) -> str:
    """The output on a terminal of 80 columns, in one line; no line is longer, and no name acts."""
    shown = plain(cli(*arguments).out)
    assert [line for line in shown.splitlines() if len(line) > 80] == []
    return " ".join(re.sub("[│┃]", " ", shown).split())


def test_a_resource_offers_the_attributes_of_the_options(cli: Cli, q: Calls) -> None:
    q.insert(1, Attributes={"glibc": {"min": "2.28"}, "gpu.count": {"min": 1}, "software": "b", "userns": True})
    offers = ["--cpu-time", 1000, "--attribute", "glibc=2.34-60.el9", "--attribute", "userns=true",
              "--attribute", "software=a", "--attribute", "software=b"]  # fmt: skip
    none = cli("match", *offers)
    assert (none.code, "no match" in none.out) == (4, True)
    rows = cli("explain", 1, *offers, "--json").json
    assert [row["offered"] for row in rows if not row["holds"]] == ["fails gpu.count at least 1 (offers gpu.count 0)"]
    with_gpu = [*offers, "--attribute", "gpu.count=2"]
    assert len(cli("task-queues", *with_gpu, "--json").json) == 1
    assert len(cli("task-queues", *offers, "--json").json) == 0
    assert cli("explain", *with_gpu, "--json").json[0]["failing"] == []
    taken = cli("match", *offers, "--resource", '{"Attributes": {"gpu.count": 3, "glibc": "2.0"}}', "--json").json
    assert [one["job_id"] for one in taken] == [1], "an option wins over the same name in --resource"


def test_wrong_attributes_are_refused_by_each_command(cli: Cli, q: Calls) -> None:
    q.insert(1)
    for command in (["match"], ["explain"], ["explain", "1"], ["task-queues"]):
        for given, words in (
            (["glibc"], "glibc is not NAME=VALUE"), (["=2"], "=2 is not NAME=VALUE"), (["a="], "a= is not NAME=VALUE"),
            (["glib=2.28"], "The nearest is glibc"), (["gpu.count=two"], "gpu.count"),
            (["arch=a", "arch=b"], "2 values"),
        ):  # fmt: skip
            refused = cli(*command, "--cpu-time", 1000, *(word for text in given for word in ("--attribute", text)))
            assert refused.code in (1, 2)
            assert words in " ".join(re.sub("[│╭╮╰╯─]", " ", refused.err).split())


def test_attributes_of_another_shape_are_refused_beside_an_option(cli: Cli, q: Calls) -> None:
    for of in ("[1]", '"x"', "1"):
        refused = cli("match", "--resource", f'{{"CPUTime": 500, "Attributes": {of}}}', "--attribute", "glibc=2")
        refused.refuses("Attributes", "not an object")
    of_null = cli("match", "--resource", '{"CPUTime": 500, "Attributes": null}', "--attribute", "glibc=2")
    assert of_null.code == 4


def test_attributes_of_a_setup_come_from_a_file_a_world_a_preset_or_standard_input(
    cli: Cli, db: Connection, q: Calls, tmp_path: Path
) -> None:
    listed = cli("setup", "attributes", "--json").json
    assert {row["name"]: row["type"] for row in listed} == {
        name: given if isinstance(given, str) else given["type"] for name, given in ATTRIBUTES.items()  # type: ignore[index]
    }  # fmt: skip
    assert [(row["absent"], row["exclusive"]) for row in listed if row["name"] in ("gpu.count", "software")] == [
        ("0", True), ("fails", False),
    ]  # fmt: skip
    for number, given in enumerate(({"glibc": "version"}, {"setup": "other", "attributes": {"glibc": "version"}})):
        (tmp_path / f"{number}.json").write_text(json.dumps(given))
        cli("setup", "attributes", "preset:diracx")
        assert [row["name"] for row in cli("setup", "attributes", tmp_path / f"{number}.json", "--json").json] == [
            "glibc"
        ]
    assert len(cli("setup", "attributes", "preset:diracx", "--json").json) > 10
    assert "Attributes of setup default: none" in cli("setup", "attributes", "-", stdin="{}").out
    dumped = list(world.dump(db, "default"))
    assert json.loads("".join(dumped))["attributes"] == {}


def test_wrong_attributes_of_a_setup_are_refused(cli: Cli, q: Calls, as_role: AsRole, tmp_path: Path) -> None:
    before = q.stored()
    for given, words in (("[1]", "not an object"), ('{"a": "integer"}', "attribute a"), ("{", "not JSON")):
        cli("setup", "attributes", "-", stdin=given).refuses(words)
    cli("setup", "attributes", "preset:cms").refuses('"cms"', '"diracx"')
    cli("setup", "attributes", tmp_path / "none.json").refuses("cannot read")
    cli("setup", "attributes", "--setup", "nowhere").refuses("nowhere")
    assert q.stored() == before
    as_role("broker_viewer")
    assert len(cli("setup", "attributes", "--json").json) == len(ATTRIBUTES)
    cli("setup", "attributes", "preset:diracx").refuses("42501")


def test_offered_attributes_are_a_list(cli: Cli, q: Calls) -> None:
    cli("match", *FITTING)
    cli("match", *POOR)
    rows = cli("attributes", "--site", "NORTH", "--attribute", "glibc", "--json").json
    assert [(row["kinds"], row["lowest"], row["highest"], row["values"]) for row in rows] == [(2, "2.17", "2.34", None)]
    shown = cli("attributes").out
    assert "x86_64" in shown and "gpu.count" in shown
    cli("attributes", "--attribute", "glib").refuses("--attribute is glib", "the nearest is glibc")


@pytest.mark.parametrize("role", ["broker_agent", "broker_operator"])
def test_a_match_shows_clauses_in_words(cli: Cli, q: Calls, as_role: AsRole, terminal: None, role: str) -> None:
    q.insert(1, **MANY)
    if role == "broker_agent":
        q.connection.execute("select resource.set_identity('default', 'broker_agent')")
    as_role(role)
    shown = narrow(cli, "match", *FITTING)
    assert all(words in shown for words in WORDS)
    assert "{" not in shown and "[red]x[/red]" in shown


def test_lists_and_explanations_show_clauses_in_words(cli: Cli, q: Calls, terminal: None) -> None:
    q.insert(1, **MANY)
    q.insert(2)
    cli("match", *POOR, "--resource", '{"JobID": 7}')
    queues = narrow(cli, "task-queues")
    assert all(words in queues for words in WORDS) and "{" not in queues
    assert "clauses" not in narrow(cli, "task-queues", *POOR), "none of these TaskQueues has clauses"
    for command in (["explain", 1, *POOR], ["explain", *POOR], ["explain", 1], ["job", 1]):
        shown = narrow(cli, *command)
        assert "Clauses" in shown and "[red]x[/red]" in shown and "nnn..." not in shown
        assert all(words in shown for words in WORDS), command


def test_an_explanation_names_the_clauses_that_no_resource_meets(cli: Cli, q: Calls) -> None:
    q.insert(1, TagExpression="(a | b) & (c | d)", Attributes={"glibc": {"min": "2.28"}})
    cli("match", *POOR, "--tag", "a")
    [row] = [row for row in cli("explain", 1, "--json").json if row["condition"] == "Clauses"]
    assert row["remark"] == "no resource seen lately meets glibc at least 2.28; c or d"
    cli("match", "--site", "NORTH", "--cpu-time", 1000, "--attribute", "glibc=2.40", "--tag", "c")
    [row] = [row for row in cli("explain", 1, "--json").json if row["condition"] == "Clauses"]
    assert row["remark"] == "no resource seen lately meets all of these clauses"


def test_long_explanations_show_eight_clauses(cli: Cli, q: Calls) -> None:
    q.insert(1, TagExpression=" & ".join(f"(a{number} | b{number})" for number in range(10, 22)))
    shown = cli("--wide", "explain", 1, *POOR).out
    assert "a17 or b17; and 4 more" in shown and "a18" not in shown
    assert "a21 or b21" in cli("--wide", "task-queues").out


FAULTS = (
    ("os:el9 & & x", "os:el9 & & x", 9), ("os:el9 &", "os:el9 &", 7), ("(a | b", "(a | b", 0),
    ('a & "b', 'a & "b', 4), ('b "a at character 9"', 'b "a at character 9"', 2),
    ("\u732b\u732b & & x", "\u732b\u732b & & x", 7),  # two columns each
    ("a\n& & x", "a\\n& & x", 5),
    ("a & " * 50 + "& b", "..." + ("a & " * 50)[-35:] + "& b", 38),
    ("a & & " + "b & " * 50 + "b", "a & & " + ("b & " * 50)[:33] + "...", 4),
)  # fmt: skip
"""Expressions, the line that shows them, and the column of their fault."""


def test_a_syntax_error_is_shown_with_its_place(cli: Cli, q: Calls) -> None:
    for expression, line, place in FAULTS:
        for keys in ({"TagExpression": expression}, {"Alternatives": [{}, {"TagExpression": expression}]}):
            queue = {"requirements": requirements(**keys), "jobs": [[1, 1]]}
            for command in ("submit", "load"):
                refused = cli(command, "-", stdin=json.dumps({"task_queues": [queue]}))
                error, shown, mark, hint, *_ = refused.err.splitlines()
                assert error.startswith("error: ") and "TagExpression: " in error and error.endswith("[PB001]")
                assert (shown, mark) == (f"  {line}", f"  {' ' * place}^")
                assert hint.startswith("hint: ")


def test_a_syntax_error_in_json_has_the_expression_as_detail(cli: Cli, q: Calls) -> None:
    refused = cli(
        "submit", "-", "--json", stdin=json.dumps({"job_id": 1, "requirements": requirements(TagExpression="a & & b")})
    )
    assert json.loads(refused.err)["detail"] == "a & & b"
