"""Classes of errors: those of a setup, by position, before the shipped ones (sql/taskqueue/ENDS.md)."""

import random
import re
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from broker import world
from tests.calls import Calls, Connection

Row = dict[str, Any]
Element = dict[str, Any]
CLASSES = {"infrastructure", "payload", "input", "memory", "time", "lost"}


def error(source: str, code: int | None = None, text: str = "") -> Element:
    """One element of an error, as agents report it."""
    return {"source": source, "code": code, "text": text} if code is not None else {"source": source, "text": text}


def set_classes(q: Calls, *rows: Row) -> None:
    q.call("set_error_classes", Jsonb(rows))


def class_of(q: Calls, *elements: Element) -> str | None:
    found = q.call("error_class_of", Jsonb(elements))
    assert found is None or isinstance(found, str)
    return found


def fits(row: Row, element: Element) -> bool:
    """The model: whether a row of a setup fits an element."""
    code = element.get("code")
    low, high = row.get("code_from"), row.get("code_to")
    return (
        row.get("source") in (None, element["source"])
        and (low is None or (code is not None and low <= code))
        and (high is None or (code is not None and code <= high))
        and (row.get("pattern") is None or re.search(row["pattern"], element["text"]) is not None)
    )


def expected(rows: list[Row], shipped: list[Row], elements: list[Element]) -> str | None:
    """The model: the class of an error."""
    for element in elements:
        for row in sorted(rows, key=lambda row: int(row["position"])):
            if fits(row, element):
                return str(row["class"])
        for row in shipped:
            if row["source"] == element["source"] and (
                row["code_from"] <= element.get("code", -(10**9)) <= row["code_to"]
                if row["text"] is None
                else re.fullmatch(".*".join(map(re.escape, row["text"].split("%"))), element["text"])
            ):
                if row["class"] is not None:
                    return str(row["class"])
                break
    return None


def shipped_rows(q: Calls) -> list[Row]:
    names = ("source", "code_from", "code_to", "text", "class", "meaning")
    return [
        dict(zip(names, row, strict=True)) for row in q.rows(f"select {', '.join(names)} from taskqueue.shipped_error")
    ]


def test_a_range_of_codes_holds_both_of_its_ends(q: Calls) -> None:
    set_classes(q, {"position": 1, "source": "own", "code_from": 5, "code_to": 7, "class": "a"},
                {"position": 2, "source": "own", "code_from": 100, "class": "above"},
                {"position": 3, "source": "own", "code_to": -100, "class": "below"})  # fmt: skip
    assert [class_of(q, error("own", code)) for code in (4, 5, 7, 8)] == [None, "a", "a", None]
    assert [class_of(q, error("own", code)) for code in (99, 100, 2**31 - 1)] == [None, "above", "above"]
    assert [class_of(q, error("own", code)) for code in (-99, -100, -(2**31))] == [None, "below", "below"]
    assert class_of(q, error("own")) is None
    assert class_of(q, error("other", 5)) is None
    whole = '[{"position": 1.0, "code_from": 5.0, "code_to": 5e0, "class": "a"}]'
    q.call("set_error_classes", whole)
    assert q.value("""select taskqueue.error_class_of(%s, '[{"source": "own", "code": 5.0}]')""", q.setup) == "a"


def test_the_lowest_position_decides(q: Calls) -> None:
    set_classes(q, {"position": 20, "source": "pilot", "class": "late"},
                {"position": -3, "source": "pilot", "code_from": 1305, "code_to": 1305, "class": "early"})  # fmt: skip
    assert class_of(q, error("pilot", 1305)) == "early"
    assert class_of(q, error("pilot", 1306)) == class_of(q, error("pilot")) == "late"


def test_the_first_element_that_has_a_class_decides(q: Calls) -> None:
    set_classes(q, {"position": 1, "pattern": "disk", "class": "disk"})
    silent, known, own = error("pilot", 1144), error("pilot", 1305), error("x", 1, "the disk failed")
    assert class_of(q, silent, known, own) == "payload"
    assert class_of(q, silent, own, known) == "disk"
    assert class_of(q, silent) is None
    assert class_of(q) is None


def test_a_class_of_the_setup_comes_before_the_shipped_one(q: Calls) -> None:
    assert class_of(q, error("payload", 137)) is None
    assert class_of(q, error("pilot", 1212)) == "memory"
    set_classes(q, {"position": 1, "source": "payload", "code_from": 137, "code_to": 137, "class": "memory"},
                {"position": 2, "source": "pilot", "code_from": 1212, "code_to": 1212, "class": "unknown"})  # fmt: skip
    assert class_of(q, error("payload", 137)) == "memory"
    assert class_of(q, error("pilot", 1212)) == "unknown"
    assert class_of(Calls(q.connection, "other"), error("pilot", 1212)) == "memory"


@pytest.mark.parametrize(
    ("element", "word"),
    [
        (error("pilot", 1098), "infrastructure"), (error("pilot", 1305), "payload"), (error("pilot", 1331), "input"),
        (error("pilot", 1235), "memory"), (error("pilot", 1213), "time"), (error("pilot", 1201), "lost"),
        (error("pilot", 1205), None), (error("pilot", 9999), None), (error("pilot"), None),
        (error("jobdispatcher", 100), "lost"), (error("taskbuffer", 100), None), (error("ddm", 200), "infrastructure"),
        (error("brokerage", 100), "infrastructure"), (error("sup", 4211), "memory"),
        (error("sup", 3639), "infrastructure"), (error("exe", 0), None), (error("exe", 65), "payload"),
        (error("exe", 74), "input"), (error("exe", 127), "infrastructure"),
        (error("payload", 0), None), (error("payload", 1), "payload"), (error("payload", 139), "payload"),
        (error("payload", -11), "payload"), (error("payload", 137), None), (error("payload", -9), None),
        (error("payload", 152), "time"), (error("payload", 256), None),
        (error("dirac", text="Application Finished With Errors"), "payload"),
        (error("dirac", text="application finished with errors"), None),
        (error("dirac", text="Stalling for more than 37800 sec"), "lost"),
        (error("dirac", text="Failed Downloading InputSandbox LFN(s)"), "input"), (error("dirac", 1), None),
        (error("none", 1, "Payload failed"), None),
    ],
)  # fmt: skip
def test_shipped_classes(q: Calls, element: Element, word: str | None) -> None:
    assert class_of(q, element) == word


def test_every_shipped_error_has_one_meaning_and_a_known_class(q: Calls) -> None:
    rows = shipped_rows(q)
    assert {row["source"] for row in rows} == {
        "pilot", "exe", "sup", "ddm", "brokerage", "jobdispatcher", "taskbuffer", "dirac", "payload",
    }  # fmt: skip
    assert {row["class"] for row in rows} == {*CLASSES, None}
    assert [row for row in rows if not row["meaning"] or (row["text"] is None) == (row["code_from"] is None)] == []
    assert q.rows("""
        select a.*, b.*
          from (select *, row_number() over () as n from taskqueue.shipped_error) a
          join (select *, row_number() over () as n from taskqueue.shipped_error) b using (source)
         where a.n < b.n and (a.code_from <= b.code_to and b.code_from <= a.code_to or a.text = b.text)
    """) == []  # fmt: skip
    meaning = "select meaning from taskqueue.shipped_error_of(%s, %s, %s)"
    assert q.value(meaning, "pilot", 1235, "") == "the payload used more memory than allowed"
    assert (
        q.value(meaning, "dirac", None, "Stalling for more than 5 sec") == "the job sent no sign of life for too long"
    )
    assert q.rows(meaning, "pilot", 1, "") == []


def test_a_failed_end_keeps_the_class_of_its_error(q: Calls) -> None:
    set_classes(q, {"position": 1, "source": "payload", "code_from": 137, "code_to": 137, "class": "node-memory"})
    errors = [[error("payload", 137)], [error("pilot", 1144), error("pilot", 1305)], [error("pilot", 1144)], []]
    for job_id, elements in enumerate(errors, 1):
        q.insert(job_id)
        match = q.take()
        q.call("finish_job", match.job_id, match.attempt, "failed", Jsonb(elements))
    assert q.rows(
        "select job_id, error_class from taskqueue.history where setup = %s and event = 'failed' order by 1", q.setup
    ) == [(1, "node-memory"), (2, "payload"), (3, "unknown"), (4, "unknown")]  # fmt: skip


RIGHT: Row = {"position": 1, "source": "pilot", "code_from": 1, "code_to": 2, "pattern": "a.*b", "class": "x"}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"position": None}, ["number 2", "position is null"]),
        ({"position": 1}, ["at position 1", "given twice"]),
        ({"position": 1.5}, ["position is 1.5"]),
        ({"class": "x" * 31}, ["position 2", "class", "x" * 31]),
        ({"class": "Node"}, ["class", '"Node"']),
        ({"class": ""}, ["class", '""']),
        ({"class": None}, ["class", "null"]),
        ({"class": 7}, ["class is 7"]),
        ({"source": "Pilot"}, ["source", '"Pilot"']),
        ({"source": "p" * 33}, ["source", "p" * 33]),
        ({"code_from": 3}, ["code_from is 3", "code_to 2"]),
        ({"code_to": 2**31}, ["code_to is 2147483648"]),
        ({"source": None, "code_from": None, "code_to": None, "pattern": None}, ["neither source"]),
        ({"colour": "red"}, ["colour"]),
        ({"pattern": ""}, ["pattern"]),
        ({"pattern": "a" * 201}, ["pattern", "200 characters"]),
        ({"pattern": "a(b"}, ["pattern", '"a(b"', "not a regular expression"]),
        ({"pattern": r"(a)\1"}, ["pattern", "back-references"]),
        ({"pattern": "a\nb"}, ["pattern", "control"]),
        ({"pattern": "(a|b) {2}"}, ["pattern", "repetition of a group"]),
        ({"pattern": "a{3}" * 4}, ["pattern", "too complex"]),
    ],
)
def test_a_wrong_class_is_refused_and_nothing_is_stored(q: Calls, change: Row, words: list[str]) -> None:
    set_classes(q, {**RIGHT, "class": "old"})
    before = q.stored()
    q.refuses(lambda: set_classes(q, RIGHT, {**RIGHT, "position": 2, **change}), "PB001", *words)
    assert q.stored() == before


@pytest.mark.parametrize("rows", [None, {}, [1], "x"])
def test_classes_that_are_no_array_of_objects_are_refused(q: Calls, rows: Any) -> None:
    q.refuses(lambda: q.call("set_error_classes", Jsonb(rows)), "PB001", "error class")


def test_too_many_classes_are_refused(q: Calls) -> None:
    many = [{**RIGHT, "position": n, "pattern": None} for n in range(1001)]
    set_classes(q, *many[:1000])
    q.refuses(lambda: set_classes(q, *many), "PB001", "1001 error classes")
    set_classes(q, *({**row, "pattern": "a"} for row in many[:100]), *many[100:200])
    q.refuses(lambda: set_classes(q, *({**row, "pattern": "a"} for row in many[:101])), "PB001", "101 of them")


@pytest.mark.slow
def test_a_pattern_that_takes_long_is_refused_with_its_time(q: Calls) -> None:
    """The slowest form that a search found among those that the guard allows."""
    pattern = (
        r"((a|b)*(((\+w|(ba|).)|a)|(\y\y)y.2|(.*((.a*|(a(|a))\w1,3.*(}.*]|a).)|(a|\\wya))|((((a|b.*)*.*|b.*)*.*ab]"
        r"(.a*(a?a|(|).*)|(aa)(^{aa))||a.\w)|((a?aa|())[+a?{2b(]|(a|b)*(\y|(|(a\w|\w|b)*.))|))))+.*)*"
    )
    assert len(pattern) <= 200
    assert q.value("select resource.pattern_problem(%s)", pattern) is None
    q.refuses(lambda: set_classes(q, {"position": 1, "pattern": pattern, "class": "x"}), "PB001", "which takes", " ms")


def test_a_new_list_replaces_the_old_one_and_notes_the_differences(q: Calls) -> None:
    set_classes(q, RIGHT, {**RIGHT, "position": 2}, {**RIGHT, "position": 3})
    [(last,)] = q.rows("select max(change_id) from monitor.change")
    set_classes(q, {**RIGHT, "position": 3, "source": None, "class": "y"}, RIGHT)
    assert q.rows(
        "select object, name, before ->> 'class', after from monitor.change where change_id > %s order by change_id",
        last,
    ) == [
        ("error class", "2", "x", None),
        ("error class", "3", "x", {"source": None, "class": "y"}),
    ]  # fmt: skip
    assert q.rows("select position, source, class from monitor.error_class where setup = %s order by 1", q.setup) == [
        (1, "pilot", "x"), (3, None, "y"),
    ]  # fmt: skip
    set_classes(q)
    assert q.rows("select from monitor.error_class") == []


def test_a_dump_holds_the_classes_and_a_load_replaces_them(q: Calls) -> None:
    rows = [{"position": 5, "source": "pilot", "code_from": 1098, "class": "node"}, {**RIGHT, "position": 7}]
    set_classes(q, *rows)
    assert q.call("dump_configuration")["error_classes"] == rows
    world.load(q.connection, [{"setup": q.setup, "error_classes": [RIGHT]}])
    assert q.call("dump_configuration")["error_classes"] == [RIGHT]
    world.load(q.connection, [{"setup": q.setup, "cpu_buckets": [500]}])
    assert q.call("dump_configuration")["error_classes"] == [RIGHT]
    world.load(q.connection, [{"setup": q.setup, "error_classes": []}])
    assert q.call("dump_configuration")["error_classes"] == []


def test_a_removed_setup_takes_its_classes_along(q: Calls) -> None:
    set_classes(q, RIGHT)
    q.call("remove_setup")
    assert q.rows("select from taskqueue.error_class") == []


@pytest.mark.slow
def test_random_classes_are_those_of_the_model(db: Connection) -> None:
    q = Calls(db)
    rng = random.Random(4711)
    shipped = shipped_rows(q)
    sources = [*sorted({row["source"] for row in shipped}), "own"]
    codes = sorted(
        {row[key] + n for row in shipped for key in ("code_from", "code_to") if row[key] for n in (-1, 0, 1)}
    )
    texts = ["", "no space", "Space left", *(row["text"].replace("%", "12") for row in shipped if row["text"])]
    patterns = ["space", "^no", "[Ss]pace|data", "Input", "(Job|Application).*(F|f)", r"\d+ sec$"]

    def maybe(value: Any, chance: float = 0.5) -> Any:
        return value if rng.random() < chance else None

    for _ in range(60):
        rows: list[Row] = []
        for position in rng.sample(range(-50, 50), rng.randint(0, 12)):
            low, high = sorted(rng.choices(codes, k=2))
            row = {
                "position": position, "source": maybe(rng.choice(sources), 0.7), "code_from": maybe(low),
                "code_to": maybe(high), "pattern": maybe(rng.choice(patterns)), "class": rng.choice("abcde"),
            }  # fmt: skip
            if any(row[key] is not None for key in ("source", "code_from", "code_to", "pattern")):
                rows.append(row)
        set_classes(q, *rows)
        for _ in range(50):
            elements = [
                error(rng.choice(sources), maybe(rng.choice(codes), 0.8), rng.choice(texts))
                for _ in range(rng.randint(1, 4))
            ]
            assert class_of(q, *elements) == expected(rows, shipped, elements), (rows, elements)
