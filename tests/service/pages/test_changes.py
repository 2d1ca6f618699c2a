"""Changes on pages: confirmed with before and after, refused if somebody was faster, recorded with their author."""

import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from typing import Any
from urllib.parse import parse_qs

import httpx
import psycopg
import pytest

from broker import world
from broker.service.login.cookies import csrf
from broker.service.pages import actions
from broker.service.pages.changes import CHANGES
from broker.service.pages.details import quarantine_key
from tests.calls import Calls
from tests.service.conftest import Db, Running
from tests.service.pages.conftest import BASE, HOSTILE, Person, hidden
from tests.service.pages.test_actions import said
from tests.service.pages.test_pages import Read

Changers = Callable[[str], "Changer"]
RULE = "production_job/top-10/acme"
LIMIT = "select limit_id from monitor.site_limit where setup = 'default' and site = 'NORTH'"
SETTING = "select value from monitor.setting where setup = 'default' and schema || '.' || name = %s"
KEY = "select value #>> '{}' from resource.config where setup = 'default' and key = %s"
PARAMETERS = (
    "select parameters from brokerage.rule_in_force"
    " where profile = 'acme' and rule = 'top-10' and algorithm = 'production_job'"
)


class Changer(Person):
    """A browser that follows the pages of a change."""

    def ask(self, do: str, of: object, **typed: str) -> httpx.Response:
        return self.client.get(f"{BASE}/act", params={"do": do, "of": str(of), **typed})

    def asked(self, do: str, of: object, **typed: str) -> dict[str, str]:
        """The fields of the page that shows before and after."""
        page = self.ask(do, of, **typed)
        assert page.status_code == 200, page.text
        Read(page.text)
        fields = hidden(page.text)
        assert fields == {"do": do, "of": str(of), "csrf": csrf(self.cookie), "seen": fields["seen"], **typed}
        return fields

    def post(self, fields: dict[str, str], **headers: str) -> httpx.Response:
        answer = self.follow(self.client.post(f"{BASE}/act", data=fields, headers=headers))
        Read(answer.text)
        return answer

    def change(self, do: str, of: object, **typed: str) -> httpx.Response:
        return self.post(self.asked(do, of, **typed))


@pytest.fixture
def person(db: Db, service: Running) -> Changers:
    return lambda kind: Changer(db, service, kind)


@pytest.fixture
def operator(person: Changers, filled: Calls) -> Changer:
    return person("operator")


def undone(operator: Changer, done: httpx.Response) -> dict[str, str]:
    """The values that the button beside the words about a change would bring back, as its page shows them."""
    link = re.search(r'toast.*?<p class="actions"><a class="button" href="([^"]*)"', done.text)
    assert link is not None, said(done)
    asked = operator.client.get(unescape(link[1]))
    assert asked.status_code == 200, asked.text
    fields = hidden(asked.text)
    return {name: value for name, value in fields.items() if name not in ("do", "of", "csrf", "seen")}


def limit_of(q: Calls) -> str:
    return str(q.value(LIMIT))


def changes(q: Calls) -> list[Any]:
    """The changes made by browsers, the newest first."""
    return q.rows(
        "select object, name, subject, before, after from monitor.change"
        " where object <> 'ticket' and object <> 'session' and subject like 'browser%%' order by change_id desc"
    )


@pytest.mark.parametrize(
    "case",
    [
        ("taskqueue.queue_size", "1000", "5000", "1000"),
        ("taskqueue.lease_time", "10 minutes", "00:30:00", "00:10:00"),
        ("taskqueue.ten_first", "true", "false", "true"),
        ("taskqueue.strict_keys", '["Site"]', "[]", '["Site"]'),
        ("brokerage.decisions_kept", "3 days", "2 days", "3 days"),
        ("lifecycle.most", "7", "10000", "7"),
        ("instance.most_instances", "7", "null", "7"),
    ],
)
def test_a_setting_is_changed_by_a_form(operator: Changer, filled: Calls, case: tuple[str, str, str, str]) -> None:
    name, typed, before, after = case
    schema, _, key = name.partition(".")
    form = operator.ask("set-setting", name)
    assert f"Change setting {name}" in form.text
    assert "Allowed" in form.text
    rows = Read(operator.ask("set-setting", name, value=typed).text).rows
    assert rows[1] == ["Value", before, typed]
    answer = operator.change("set-setting", name, value=typed)
    assert answer.status_code == 200
    assert filled.value(SETTING, name) == after
    kept = changes(filled)[0]
    assert kept[:3] == ("settings", schema, "browser a operator")
    assert kept[3].keys() == kept[4].keys() == {key}
    link = re.search(r'href="([^"]*change_id=\d+)"', answer.text)
    assert link is not None
    [row] = Read(operator.client.get(unescape(link[1])).text).rows[1:]
    assert (row[1], row[2], row[-2]) == ("settings", schema, "browser a operator")
    assert said(operator.change("set-setting", name, value=typed)) == "It was so before."
    assert len(changes(filled)) == 1
    assert said(answer).startswith(f"Setting {name} is {after}; it was {before}. By you, at")
    assert undone(operator, answer) == {"value": before}


def test_a_limit_is_set_changed_and_removed_by_forms(operator: Changer, filled: Calls) -> None:
    q = filled
    typed = {"kind": "delay", "ce": "", "attribute": "JobType", "value": "MC", "limit": "2.5", "burst": "4"}
    assert operator.change("add-limit", "SOUTH", **typed).status_code == 200
    [(number, delay, burst)] = q.rows(
        "select limit_id, extract(epoch from delay)::float8, burst from monitor.site_limit where site = 'SOUTH'"
    )
    assert (delay, burst) == (2.5, 4)
    assert changes(q)[0][:2] == ("limit", "delay SOUTH JobTypes MC")
    again = Read(operator.ask("add-limit", "SOUTH", **typed).text).rows
    assert again[-2][1:] == ["2.5", "2.5"]
    assert operator.change("set-limit", number, limit="3", burst="4").status_code == 200
    assert changes(q)[0][3:] == ({"delay": "00:00:02.5"}, {"delay": "00:00:03"})
    done = operator.change("set-limit", number, limit="4", burst="4")
    assert said(done).startswith("The limit of JobTypes MC at SOUTH is 4 s between two matches; it was 3 s between")
    assert undone(operator, done) == {"limit": "3", "burst": "4"}
    old = limit_of(q)
    done = operator.change("set-limit", old, limit="9")
    assert done.status_code == 200
    assert changes(q)[0][3:] == ({"ceiling": 3}, {"ceiling": 9})
    assert said(done).startswith("The limit of JobTypes MC at NORTH is 9 jobs; it was 3 jobs. By you, at")
    assert undone(operator, done) == {"limit": "3"}
    assert said(operator.look(f"/limits/{number}?{done.url.query.decode()}")) == ""
    assert "remove-limit" in operator.look(f"/limits/{old}").text
    gone = operator.change("remove-limit", old)
    assert gone.url.path == f"{BASE}/limits"
    assert said(gone).startswith("The limit of JobTypes MC at NORTH is removed. By you, at")
    assert undone(operator, gone) == {
        "kind": "running", "ce": "", "attribute": "JobTypes", "value": "MC", "limit": "9", "burst": "1"
    }  # fmt: skip
    assert changes(q)[0][1] == "running NORTH JobTypes MC"
    assert changes(q)[0][4] is None
    assert operator.look(f"/limits/{old}").status_code == operator.ask("remove-limit", old).status_code == 404


def test_a_quarantine_is_set_changed_and_lifted_by_forms(operator: Changer, filled: Calls) -> None:
    q = filled
    assert "do=set-quarantine&amp;of=NORTH" in operator.look("/sites/NORTH").text
    form = operator.ask("set-quarantine", "NORTH", name="n/17 é")
    assert "jobs that run there continue" in form.text
    assert 'name="name" maxlength="1000" autocomplete="off" value="n/17 é"' in form.text
    typed = {"kind": "host", "name": "n/17 é", "why": "its <disk> is full"}
    rows = Read(operator.ask("set-quarantine", "NORTH", **typed).text).rows
    assert rows[-3:] == [["Kind", "", "host"], [rows[-2][0], "", "n/17 é"], [rows[-1][0], "", "its <disk> is full"]]
    assert operator.change("set-quarantine", "NORTH", **typed).status_code == 200
    kept = changes(q)[0]
    assert kept[:4] == ("quarantine", "host NORTH n/17 é", "browser a operator", None)
    assert kept[4]["why"] == "its <disk> is full"
    for name in ("n/17 é", "N/17 é"):
        again = operator.ask("set-quarantine", "NORTH", **typed | {"name": name})
        assert Read(again.text).rows[-1][1] == "its <disk> is full"
    assert (
        operator.change("set-quarantine", "NORTH", **typed | {"name": "N/17 é", "why": "it burns"}).status_code == 200
    )
    assert changes(q)[0][4]["why"] == "it burns"
    page = operator.look("/sites/NORTH").text
    assert "host n/17 é is quarantined by an operator since " in page
    link = re.search(r'/act\?(do=lift-quarantine&amp;of=[^"]*n%252F17[^"]*)"', page)
    assert link is not None
    of = parse_qs(unescape(link[1]))["of"][0]
    asked = operator.ask("lift-quarantine", of)
    assert "Lift the quarantine of host n/17 é at NORTH?" in asked.text
    assert ["Why", "it burns", "none"] in Read(asked.text).rows
    done = operator.change("lift-quarantine", of.replace("n%2F17", "N%2F17"))
    assert changes(q)[0][4] is None
    assert said(done).startswith("The quarantine of host n/17 é at NORTH is lifted. By you, at")
    assert undone(operator, done) == {"kind": "host", "name": "n/17 é", "why": "it burns"}
    assert operator.ask("lift-quarantine", of).status_code == 404
    assert operator.ask("lift-quarantine", "n17").status_code == 404
    whole = {"kind": "site", "name": "", "why": "it is closed"}
    assert operator.change("set-quarantine", "NORTH", **whole).status_code == 200
    rows = Read(operator.ask("set-quarantine", "NORTH", **whole | {"why": "it burns"}).text).rows
    assert [row[1:] for row in rows[1:]] == [["site", "site"], ["", ""], ["it is closed", "it burns"]]
    assert changes(q)[0][1] == "site NORTH NORTH"
    assert operator.change("lift-quarantine", "site/NORTH/NORTH").status_code == 200
    assert q.rows("select kind from monitor.quarantine where name <> %s", HOSTILE) == []


def test_the_page_of_a_panda_site_quarantines_its_queues(operator: Changer, filled: Calls) -> None:
    queues = ["FAR_1", "FAR_2"]
    world.load(filled.connection, [{"queues": {queue: {"panda_site": "FAR"} for queue in queues}}], merge=True)
    page = operator.look("/sites/FAR").text
    assert re.findall(r'do=set-quarantine&amp;of=([^"&]*)', page) == queues
    for queue in queues:
        assert operator.change("set-quarantine", queue, kind="site", name="", why="it burns").status_code == 200
    assert filled.value("select quarantine from monitor.site where setup = 'default' and site = 'FAR'") == "refused"


@pytest.mark.parametrize(
    ("typed", "said", "field"),
    [
        ({"kind": "host", "name": "", "why": "x"}, "name is", "name"),
        ({"kind": "site", "name": "n1", "why": "x"}, "name is", "name"),
        ({"kind": "node", "name": "n1", "why": "x"}, "kind is", "kind"),
        ({"kind": "host", "name": "n1", "why": ""}, "reason is", "why"),
    ],
)
def test_a_wrong_quarantine_is_refused_beside_its_field(
    operator: Changer, filled: Calls, typed: dict[str, str], said: str, field: str
) -> None:
    answer = operator.ask("set-quarantine", "NORTH", **typed)
    assert (answer.status_code, said in answer.text) == (422, True)
    assert re.search(rf'id="field-{field}"[^>]* aria-invalid="true"', answer.text)
    assert filled.value("select count(*) from monitor.quarantine") == 1


def test_configuration_is_set_and_removed(operator: Changer, filled: Calls) -> None:
    q = filled
    rows = Read(operator.ask("set-key", "jobbroker:MAX_PRIO_TO_BOOTSTRAP", value="300").text).rows
    assert rows[1] == ["Value", "not set", "300"]
    done = operator.change("set-key", "jobbroker:MAX_PRIO_TO_BOOTSTRAP", value="300")
    assert said(done).startswith("Jobbroker:MAX_PRIO_TO_BOOTSTRAP is 300. By you, at")
    assert undone(operator, done) == {}
    assert q.value(KEY, "MAX_PRIO_TO_BOOTSTRAP") == "300"
    assert changes(q)[0][:2] == ("configuration", "jedi jobbroker MAX_PRIO_TO_BOOTSTRAP")
    assert "do=unset-key&amp;of=jobbroker%3AMAX_PRIO_TO_BOOTSTRAP" in operator.look("/configuration").text
    done = operator.change("unset-key", "jobbroker:MAX_PRIO_TO_BOOTSTRAP")
    assert "MAX_PRIO_TO_BOOTSTRAP is not set any more. By you, at" in said(done)
    assert undone(operator, done) == {"value": "300"}
    assert q.rows(KEY, "MAX_PRIO_TO_BOOTSTRAP") == []
    assert operator.change("set-key", "NW_ACTIVE", value="true").status_code == 200
    assert changes(q)[0][1] == "jedi  NW_ACTIVE"
    assert operator.change("set-key", "jobbroker:NQUEUELIMITSITE_Test", value="5").status_code == 200
    assert operator.change("set-key", "prio_mgr:CAP_RUNNING_USER_JOBS", value="5").status_code == 200
    assert changes(q)[0][1] == "pandaserver prio_mgr CAP_RUNNING_USER_JOBS"


def test_a_parameter_of_a_profile_is_changed(operator: Changer, filled: Calls) -> None:
    q = filled
    before = q.value(PARAMETERS)
    page = operator.look("/profile?profile=acme").text
    assert f"do=set-parameter&amp;of={RULE}&amp;parameter=best" in page
    form = operator.ask("set-parameter", RULE, parameter="best")
    assert 'name="value" maxlength="1000" autocomplete="off" value="7"' in form.text
    answer = operator.change("set-parameter", RULE, parameter="best", value="5")
    assert said(answer).startswith("Parameter best of rule top-10 is 5; it was 7. By you, at")
    assert undone(operator, answer) == {"parameter": "best", "value": "7"}
    assert q.value(PARAMETERS) == before | {"best": 5}
    assert changes(q)[0][:3] == ("rule", "acme production_job top-10", "browser a operator")
    link = re.search(r'href="([^"]*change_id=\d+)"', answer.text)
    assert link is not None
    assert "acme production_job top-10" in operator.client.get(unescape(link[1])).text


def test_a_profile_by_which_another_setup_decides_is_not_changed_on_a_page(operator: Changer, filled: Calls) -> None:
    q = filled
    seen = operator.asked("set-parameter", RULE, parameter="best", value="5")
    q.rows("select taskqueue.set_settings('secret', '{}'), brokerage.set_settings('secret', '{\"profile\": \"acme\"}')")
    before = q.value(PARAMETERS)
    page = operator.look("/profile?profile=acme").text
    assert "1 other setup decides by the profile" in page and "secret" not in page
    assert "do=set-parameter" not in page
    form = operator.ask("set-parameter", RULE, parameter="best").text
    assert re.search(r"Other setups that decide by it</dt>\s*<dd[^>]*>1<", form) and "secret" not in form
    for answer in (operator.ask("set-parameter", RULE, parameter="best", value="5"), operator.post(seen)):
        assert answer.status_code == 403, answer.text
        assert "rofile acme is shared: 1 other setup decides by it" in answer.text
    assert q.value(PARAMETERS) == before
    assert changes(q) == []


NEW = {"kind": "running", "ce": "", "attribute": "JobType", "value": "x", "limit": "1", "burst": "1"}
NODE = {"kind": "host", "name": "n1"}
REFUSED = [
    ("set-setting", "taskqueue.queue_size", {"value": "0"}, "value", "invalid value 0 for setting queue_size"),
    ("set-setting", "taskqueue.queue_size", {"value": "<b>"}, "value", "invalid value"),
    ("set-setting", "brokerage.profile", {"value": "mine"}, "value", "invalid value"),
    ("set-setting", "instance.most_instances", {"value": "1e400"}, "value", ""),
    ("set-limit", "NORTH", {"limit": "-1"}, "limit", "limit is -1"),
    ("set-limit", "NORTH", {"limit": "many"}, "limit", "limit is &#39;many&#39;, which is not a number"),
    ("add-limit", "NORTH", NEW | {"kind": "much"}, "kind", "kind is"),
    ("add-limit", "NORTH", NEW | {"attribute": "Colour"}, "attribute", "unknown attribute"),
    ("add-limit", "NORTH", NEW | {"value": ""}, "value", "invalid site"),
    ("add-limit", "NORTH", NEW | {"kind": "delay", "burst": "x"}, "burst", "burst is"),
    ("set-key", "jobbroker:MAX_PRIO_TO_BOOTSTRAP", {"value": "much"}, "value", "not a number"),
    ("set-key", "jobbroker:MAX_PRIO_TO_BOOTSTRIP", {"value": "1"}, "value", "is not known"),
    ("set-parameter", RULE, {"parameter": "best", "value": "0"}, "value", "parameter best is 0"),
    ("set-parameter", RULE, {"parameter": "worst", "value": "1"}, "parameter", "parameter worst is 1"),
    ("set-parameter", "production_job/top-10/documented", {"parameter": "best", "value": "5"}, "value",
     "comes with the program"),
]  # fmt: skip


@pytest.mark.parametrize("at_once", [True, False])
@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_value_stays_in_the_form_beside_its_error(
    operator: Changer,
    filled: Calls,
    case: tuple[str, str, dict[str, str], str, str],
    at_once: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The page with before and after refuses the value; if it could not ask the database, the button refuses it."""
    do, of, typed, field, words = case
    of = limit_of(filled) if do == "set-limit" else of
    stored = filled.stored()
    if at_once:
        answer = operator.ask(do, of, **typed)
        Read(answer.text)
    else:
        monkeypatch.setattr(actions, "_try", _busy)
        answer = operator.post(operator.asked(do, of, **typed))
    assert answer.status_code == 422, answer.text
    assert words in answer.text
    assert 'id="wrong" class="wrong-text" role="alert"' in answer.text
    invalid = re.search(r'name="(\w+)"[^>]*aria-invalid="true" aria-describedby="wrong"', answer.text)
    assert invalid is not None
    assert invalid[1] == field
    kept = dict(re.findall(r'<input id="field-(\w+)"[^>]* value="([^"]*)"', answer.text))
    assert {name: unescape(text) for name, text in kept.items()}.items() <= typed.items()
    assert kept.keys() | {"kind"} >= typed.keys()
    assert filled.stored() == stored
    assert changes(filled) == []


async def _busy(*_: object) -> bool:
    return False


NOT_CHECKED = "the database has not checked this change"


def test_a_page_does_not_wait_for_a_change_under_way(operator: Changer, filled: Calls) -> None:
    """The page comes without a check, or with one that does not wait, and the attempt stores nothing."""
    q = filled
    held = {
        "set-setting": "select brokerage.set_settings('default', '{\"decisions_kept\": \"9 days\"}')",
        "set-limit": "select taskqueue.set_limit('default', 'running', 'NORTH', null, 'JobType', 'MC', 5)",
        "set-key": "select resource.set_config('default', 'jobbroker:MAX_PRIO_TO_BOOTSTRAP', '4')",
        "set-parameter": "select brokerage.set_rule('acme', 'top-10', '{\"parameters\": {\"best\": 3}}')",
    }
    for do, of, typed, _ in each(q):
        if do not in held or of.partition(".")[0] in ("taskqueue", "instance"):
            continue
        with psycopg.connect(q.connection.info.dsn, password=q.connection.info.password) as other:
            other.execute(held.pop(do).encode())
            began = time.monotonic()
            page = operator.ask(do, of, **typed)
            assert time.monotonic() - began < 5
            assert page.status_code == 200, page.text
            assert NOT_CHECKED in page.text
            assert "aria-invalid" not in page.text
            other.rollback()
        assert NOT_CHECKED not in operator.ask(do, of, **typed).text
    assert held == {}
    with psycopg.connect(q.connection.info.dsn, password=q.connection.info.password) as other:
        other.execute("select taskqueue.set_settings('default', '{\"queue_size\": 77}')")
        began = time.monotonic()
        assert NOT_CHECKED not in operator.ask("set-setting", "taskqueue.queue_size", value="5").text
        assert operator.ask("set-setting", "taskqueue.queue_size", value="0").status_code == 422
        assert time.monotonic() - began < 5
        other.rollback()
    assert changes(q) == []


def each(q: Calls) -> list[tuple[str, str, dict[str, str], dict[str, str]]]:
    """A change of each kind, and another value for the same object."""
    return [
        ("set-setting", "taskqueue.queue_size", {"value": "1000"}, {"value": "2000"}),
        ("set-setting", "brokerage.decisions_kept", {"value": "3 days"}, {"value": "4 days"}),
        ("set-setting", "instance.most_instances", {"value": "3"}, {"value": "4"}),
        ("set-limit", limit_of(q), {"limit": "5"}, {"limit": "6"}),
        ("add-limit", "SOUTH", {**NEW, "limit": "5"}, {**NEW, "limit": "6"}),
        ("set-quarantine", "SOUTH", {**NODE, "why": "5 disks"}, {**NODE, "why": "6 disks"}),
        ("set-key", "jobbroker:MAX_PRIO_TO_BOOTSTRAP", {"value": "300"}, {"value": "400"}),
        ("set-parameter", RULE, {"parameter": "best", "value": "5"}, {"parameter": "best", "value": "6"}),
    ]


def test_the_slower_of_two_operators_sees_the_other_change_first(
    operator: Changer, person: Changers, filled: Calls
) -> None:
    other = person("operator")
    for do, of, first, second in each(filled):
        shown = operator.asked(do, of, **second)
        assert other.change(do, of, **first).status_code == 200
        made = len(changes(filled))
        answer = operator.post(shown)
        assert answer.status_code == 409, (do, answer.text)
        assert "Nothing was changed" in answer.text
        assert len(changes(filled)) == made
        [wanted] = second.keys() & {"value", "limit", "why"} - ({"value"} if do == "add-limit" else set())
        assert [first[wanted], second[wanted]] in [
            [text.replace(" day ", " days ") for text in row[1:]] for row in Read(answer.text).rows
        ]
        again = hidden(answer.text)
        assert again.keys() == shown.keys()
        assert again["seen"] > shown["seen"] or len(again["seen"]) > len(shown["seen"])
        done = operator.post(again)
        assert done.status_code == 200
        assert len(changes(filled)) == made + 1
        assert "By you, at" in said(done), do
        links = re.findall(
            r'href="([^"]*)">(?:Change \d+|Set it back|Remove it|Lift)<', done.text[done.text.index("toast") :]
        )
        assert [operator.client.get(unescape(link)).status_code for link in links[:2]] == [200, 200], do


def test_a_change_of_another_setting_does_not_conflict(operator: Changer, filled: Calls) -> None:
    shown = operator.asked("set-setting", "taskqueue.queue_size", value="1000")
    assert operator.change("set-setting", "taskqueue.attempts", value="5").status_code == 200
    assert operator.post(shown).status_code == 200


def test_one_of_several_concurrent_changes_is_made(person: Changers, filled: Calls) -> None:
    people = [person("operator") for _ in range(4)]
    for do, of, typed, _ in each(filled):
        made = len(changes(filled))
        key = next(name for name in ("limit", "why", "value") if name in typed)
        values = [re.sub(r"\d+", number, typed[key]) for number in ("11", "12", "13", "14")]
        forms = [one.asked(do, of, **typed | {key: value}) for one, value in zip(people, values, strict=True)]
        with ThreadPoolExecutor(len(people)) as pool:
            answers = list(pool.map(lambda one: one[0].post(one[1]).status_code, zip(people, forms, strict=True)))
        assert sorted(answers) == [200, 409, 409, 409], do
        assert len(changes(filled)) == made + 1, do


@pytest.mark.parametrize("token", ["", "x" * 43, None])
def test_a_form_without_the_token_of_its_session_changes_nothing(
    operator: Changer, filled: Calls, token: str | None
) -> None:
    stored = filled.stored()
    for do, of, typed, _ in each(filled):
        fields = operator.asked(do, of, **typed) | {"csrf": token or ""}
        if token is None:
            del fields["csrf"]
        assert operator.post(fields).status_code == 403
        right = fields | {"csrf": csrf(operator.cookie)}
        assert operator.post(right, **{"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert filled.stored() == stored


def test_a_viewer_has_no_forms_and_no_right(person: Changers, operator: Changer, filled: Calls) -> None:
    viewer = person("viewer")
    for path in ("/settings", "/configuration", "/profile?profile=acme", "/limits", f"/limits/{limit_of(filled)}"):
        assert "/act" in operator.look(path).text
        assert "/act" not in viewer.look(path).text
    stored = filled.stored()
    for do, of, typed, _ in each(filled):
        assert viewer.ask(do, of, **typed).status_code == 403
        fields = operator.asked(do, of, **typed) | {"csrf": csrf(viewer.cookie)}
        assert viewer.post(fields).status_code == 403
    assert filled.stored() == stored


def test_looking_at_a_form_changes_nothing(operator: Changer, filled: Calls) -> None:
    stored = filled.stored()
    for do, of, typed, _ in each(filled):
        operator.ask(do, of)
        operator.ask(do, of, **typed)
    operator.ask("remove-limit", limit_of(filled))
    assert operator.ask("lift-quarantine", quarantine_key("host", "NORTH", HOSTILE)).status_code == 200
    assert filled.stored() == stored
    assert {do for do, *_ in each(filled)} | {"remove-limit", "unset-key", "lift-quarantine"} == CHANGES.keys()


@pytest.mark.parametrize(
    ("do", "of", "status"),
    [
        ("set-setting", "taskqueue.size", 404), ("set-setting", "queue_size", 404),
        ("set-setting", "resource.x", 404), ("set-limit", "77", 404), ("set-limit", "x", 422),
        ("set-limit", "9" * 19, 404), ("set-parameter", "production_job/none/acme", 404), ("set-parameter", "x", 404),
        ("set-key", "", 422),
    ],
)  # fmt: skip
def test_changes_of_unknown_objects_are_refused(operator: Changer, do: str, of: str, status: int) -> None:
    assert operator.ask(do, of).status_code == status
    fields = {"do": do, "of": of, "value": "1", "limit": "1", "csrf": csrf(operator.cookie), "seen": "0"}
    assert operator.post(fields).status_code == status


def test_values_that_are_too_long_are_refused(operator: Changer, filled: Calls) -> None:
    fields = operator.asked("set-setting", "taskqueue.queue_size", value="1") | {"value": "1" * 1001}
    assert operator.post(fields).status_code == 422
    assert operator.ask("set-setting", "taskqueue.queue_size", value="1" * 1001).status_code == 422
    without = {key: text for key, text in fields.items() if key != "seen"} | {"value": "7"}
    assert operator.post(without).status_code == 409
    assert changes(filled) == []


def test_operators_see_what_changed_for_all_setups_and_no_more(operator: Changer, filled: Calls) -> None:
    filled.connection.execute(
        "insert into resource.change (setup, role_name, object, name) values (null, 'x', 'session', 'hidden'),"
        " ('other', 'x', 'rule', 'hidden'), (null, 'x', 'rule', 'a rule'), (null, 'x', 'configuration', 'a key')"
    )
    for name, rows in (("hidden", 0), ("a rule", 1), ("a key", 1)):
        page = operator.client.get(f"{BASE}/changes", params={"name": name})
        assert len(Read(page.text).rows[1:]) == rows, name
