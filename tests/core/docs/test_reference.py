"""The generated pages agree with the database and the program, and name every error and command."""

import inspect
import re
from collections.abc import Mapping

import pytest

from broker import client, errors, reference, world
from broker.reference import commands, tables
from broker.reference.catalogue import errors_of
from broker.upgrade.source import package_folder
from tests.calls import Calls, Connection

pytestmark = pytest.mark.slow


def _pages(db: Connection) -> dict[str, str]:
    """File name -> text."""
    return {file.name: text for file, text in reference.pages(db).items()}


def _entry(text: str, name: str) -> str:
    """The text below a heading."""
    return re.split(r"^#+ ", text.partition(f"# {name}\n")[2], maxsplit=1, flags=re.MULTILINE)[0]


def _unwrapped(text: str) -> str:
    """A text with its wrapped lines joined."""
    return re.sub(r"\n *(?=\S)", " ", text)


def _item(text: str, anchor: str) -> str:
    """The item of a list that has an anchor, on one line."""
    return _unwrapped(re.split(r"\n(?=- |\n)", text.partition(f'\n- <a id="{anchor}"></a>')[2], maxsplit=1)[0])


def test_the_generated_pages_are_current(db: Connection) -> None:
    pages = reference.pages(db)
    files = reference.generated() | {file for file in pages if file.exists()}
    there = {file: file.read_text(encoding="utf-8") for file in files}
    differing = sorted(file.name for file in pages.keys() | there.keys() if pages.get(file) != there.get(file))
    assert differing == [], f"{', '.join(differing)} differ: run `{reference.COMMAND}`"


def test_the_tables_of_sqlalchemy_are_the_views(db: Connection) -> None:
    assert reference.TABLES.read_text(encoding="utf-8") == tables.text(db), f"run `{reference.COMMAND}`"
    db.execute("create view monitor.new_one as select 1::bigint as job_id, array['a'] as names")
    db.execute("comment on view monitor.new_one is 'Words.'")
    columns = 'Column("job_id", BigInteger),\n    Column("names", ARRAY(Text)),\n    comment="Words.",'
    assert f'new_one = Table(\n    "new_one", metadata,\n    {columns}\n)' in tables.text(db)


def test_generated_pages_name_the_command_that_writes_them(db: Connection) -> None:
    for text in reference.pages(db).values():
        first = text.partition("\n")[0]
        assert "Generated" in first and reference.COMMAND in first


def test_the_fields_of_worlds_have_the_words_and_defaults_of_their_columns(db: Connection) -> None:
    db.execute("comment on column workload.task.n_files_per_job is 'Another comment.'")
    db.execute("alter table workload.task alter column ram_unit set default 'MB'")
    text = _pages(db)["world-fields.md"]
    for words in (
        "`split.nFilesPerJob`: Another comment.",
        '`releases`: ANY, AUTO, or releases. Default: `["ANY"]`.',
        "`params`: Parameters of the queue; looked up before catchall. Default: `{}`.",
        "`ram_unit`: MB, MBPerCore or MBPerCoreFixed. Default: `MB`.",
    ):
        assert words in _unwrapped(text)
    for section in world.SECTIONS:
        assert f"## {section}\n\n`" in text


def test_a_change_of_the_catalogue_shows_in_the_pages(db: Connection) -> None:
    db.execute("alter table taskqueue.setting alter column queue_size set default 4999")
    db.execute("comment on view monitor.lease is 'Another comment.'")
    db.execute("comment on column monitor.lease.job_id is 'Another column.'")
    db.execute("revoke execute on function taskqueue.match_job from broker_agent")
    pages = _pages(db)
    assert re.search(r"- `queue_size` \(integer\): [^`]* Default: `4999`\.", _unwrapped(pages["settings.md"]))
    assert _entry(pages["views-monitor-job.md"], "lease").startswith("\nAnother comment.\n")
    assert "`job_id` (bigint): Another column." in _unwrapped(_entry(pages["views-monitor-job.md"], "lease"))
    assert " Roles: operator; errors: PB001" in _item(pages["functions-taskqueue.md"], "match_job")


def test_every_function_that_a_role_may_call_has_an_entry(db: Connection) -> None:
    granted = db.execute(
        "select n.nspname, p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace"
        " cross join lateral aclexplode(p.proacl) a join pg_roles r on r.oid = a.grantee"
        " where r.rolname in ('broker_agent', 'broker_submitter', 'broker_operator', 'broker_viewer')"
    ).fetchall()
    pages = _pages(db)
    assert granted
    listed = {(schema, name): _item(pages.get(f"functions-{schema}.md", ""), name) for schema, name in granted}
    missing = [key for key, text in listed.items() if f"{'.'.join(key)}(" not in text or " Roles: " not in text]
    assert missing == []


def test_errors_of_a_function_include_those_of_functions_that_it_calls(db: Connection) -> None:
    db.execute("create function monitor.inner_one() returns void language plpgsql as $$ begin"
               " raise exception 'no' using errcode = 'PB005'; end $$")  # fmt: skip
    db.execute("create function monitor.outer_one() returns void language sql as 'select monitor.inner_one()'")
    raised = errors_of(db)
    assert raised["monitor.outer_one"] == ["PB005"]
    assert raised["resource.clock"] == []
    db.execute("grant execute on function monitor.outer_one() to broker_viewer")
    pages = _pages(db)
    assert " Roles: viewer; errors: PB005." in _item(pages["functions-monitor.md"], "outer_one")
    assert "- [monitor](functions-monitor.md): outer_one." in _entry(pages["errors.md"], "PB005: wrong state")


def test_the_pages_of_schemas_name_their_tables_and_folders(db: Connection) -> None:
    """And the page of monitor its views."""
    relations = db.execute(
        "select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace"
        " where c.relkind in ('r', 'p') and not c.relispartition or c.relkind = 'v' and n.nspname = 'monitor'"
    ).fetchall()
    missing, wrong = [], []
    for page in sorted(package_folder("sql").glob("*/README.md")):
        schema, text = page.parent.name, page.read_text(encoding="utf-8")
        named = set(re.findall(r"`(?:\w+\.)?(\w+)`", text))
        missing += [f"{schema}.{name}" for of, name in relations if of == schema and name not in named]
        if "\n## Folders\n" in text:
            rows = re.findall(r"^\| (`.*?) \|", _entry(text, "Folders"), re.MULTILINE)
            listed = {name for row in rows for name in re.findall(r"`([\w/]+)`", row)}
            there = {str(file.parent.relative_to(page.parent)) for file in page.parent.rglob("*.sql")} - {"."}
            wrong += [f"{schema}/{name}" for name in listed ^ there]
    assert (sorted(missing), sorted(wrong)) == ([], [])


def test_texts_name_only_settings_that_exist(db: Connection) -> None:
    """In hints of the program, in the SQL and in the pages."""
    Calls(db).insert(1)  # makes a setup
    rows = db.execute("select s.schema, s.name from monitor.setting s").fetchall()
    known = {f"{schema}.{name}" for schema, name in rows}
    files = [file for name in ("sql", "broker") for file in package_folder(name).rglob("*.*")]
    named = {
        (file.name, name)
        for file in files
        if file.suffix in {".py", ".sql", ".md", ".html"}
        for name in re.findall(r"--set[= \"',]+([a-z]+\.[a-z_]+)", file.read_text(encoding="utf-8"))
    }
    assert len(named) > 20
    assert {(file, name) for file, name in named if name not in known} == set()


def _states(texts: Mapping[str, str]) -> set[str]:
    """The SQLSTATEs raised, without that of a bug of ours (PostgreSQL's internal_error) and those caught at once."""
    return {
        state
        for text in texts.values()
        for state in re.findall(r"errcode\s*=\s*'(\w+)'", text)
        if f"exception when sqlstate '{state}' then" not in text
    } - {"XX000"}


def test_every_error_of_ours_is_on_the_page_of_errors(db: Connection) -> None:
    folder = package_folder("sql")
    used = _states({path.name: path.read_text() for path in folder.rglob("*.sql")})
    assert used
    page = _pages(db)["errors.md"]
    documented = set(re.findall(r"^## (PB\d{3}): ", page, re.MULTILINE))
    assert used <= documented | set(re.findall(r"^- `(\w{5})`", page, re.MULTILINE))
    assert documented == set(errors.SQLSTATES)


def test_every_command_and_option_has_its_line(db: Connection) -> None:
    pages = _pages(db)
    listed = pages["commands.md"]
    assert len(commands.tree()) > 20
    for command in commands.tree():
        entry = _entry(pages[commands._file(command.group)], command.name)
        assert f"- [{command.name}](" in listed
        missing = [option for option in command.options - {"--help"} if f"`{option}" not in entry]
        assert missing == [], command.name


def test_an_option_of_many_commands_is_explained_once(db: Connection) -> None:
    pages = _pages(db)
    assert "- `--setup SETUP`: " in _entry(pages["commands.md"], "Options of many commands")
    entry = _entry(pages["commands-jobs.md"], "broker match")
    assert "`--setup SETUP`, `--json`: see [" in entry
    assert "The tenant" not in entry


def test_public_classes_and_methods_of_python_have_their_entries(db: Connection) -> None:
    text = _pages(db)["python.md"]
    for name in client.__all__:
        assert f"`class {name}" in _item(text, name.lower())
    for name, _ in inspect.getmembers(client.JobAgent, inspect.isfunction):
        assert name.startswith("_") or f"`JobAgent.{name}(" in _item(text, f"jobagent{name}")
    assert "patience: seconds" in _item(text, "client")
    assert "`Status = Literal['starting', " in _item(text, "status")
    assert _item(text, "where").endswith(": A function that describes the place of the n-th element of a stream.")
    example = _entry(text, "broker.client.matcher").partition("```python\n")[2].partition("```")[0]
    assert compile(example, "python.md", "exec")
