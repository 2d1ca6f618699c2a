"""sql/README.md says what the database says, and knows every error."""

import re
from collections.abc import Mapping
from typing import Any

import psycopg

from broker import errors, reference, world
from broker.upgrade.source import package_folder


def test_the_reference_tables_are_what_the_catalogue_says(db: psycopg.Connection[Any]) -> None:
    for page in reference.pages():
        text = page.read_text(encoding="utf-8")
        assert "<!-- generated: " in text
        assert reference.render(db, text) == text, f"{page} is stale: run `python -m broker.reference`"


def test_the_fields_of_worlds_have_the_words_and_defaults_of_their_columns(db: psycopg.Connection[Any]) -> None:
    db.execute("comment on column workload.task.n_files_per_job is 'Another comment.'")
    db.execute("alter table workload.task alter column ram_unit set default 'MB'")
    text = reference.render(db, "<!-- generated: worlds -->\n<!-- end -->")
    for line in (
        "| `split.nFilesPerJob` | Another comment. |  |",
        '| `releases` | ANY, AUTO, or releases. | `["ANY"]` |',
        "| `params` | Parameters of the queue; looked up before catchall. | `{}` |",
        "| `ram_unit` | MB, MBPerCore or MBPerCoreFixed. | `MB` |",
    ):
        assert line in text
    for section in world.SECTIONS:
        assert f"### {section}\n\n`" in text


def test_a_change_of_the_catalogue_shows_in_the_page(db: psycopg.Connection[Any]) -> None:
    text = reference.page().read_text(encoding="utf-8")
    db.execute("alter table taskqueue.setting alter column queue_size set default 4999")
    db.execute("comment on view monitor.lease is 'Another comment.'")
    db.execute("revoke execute on function taskqueue.match_job from broker_agent")
    rendered = reference.render(db, text)
    assert "| `queue_size` | integer | `4999` |" in rendered
    assert "Another comment." in rendered
    (line,) = [line for line in rendered.splitlines() if line.startswith("| `taskqueue.match_job(")]
    assert "| operator |" in line


def test_what_a_function_may_raise_is_followed_through_what_it_calls(db: psycopg.Connection[Any]) -> None:
    db.execute("create function monitor.inner_one() returns void language plpgsql as $$ begin"
               " raise exception 'no' using errcode = 'PB005'; end $$")  # fmt: skip
    db.execute("create function monitor.outer_one() returns void language sql as 'select monitor.inner_one()'")
    raised = reference.errors_of(db)
    assert raised["monitor.outer_one"] == ["PB005"]
    assert raised["resource.clock"] == []


def _states(texts: Mapping[str, str]) -> set[str]:
    """The SQLSTATEs raised, without that of a bug of ours (PostgreSQL's internal_error)."""
    return {state for text in texts.values() for state in re.findall(r"errcode\s*=\s*'(\w+)'", text)} - {"XX000"}


def test_every_error_of_ours_is_in_the_table_of_errors() -> None:
    folder = package_folder("sql")
    used = _states({path.name: path.read_text() for path in folder.rglob("*.sql")})
    assert used
    text = reference.page().read_text(encoding="utf-8")
    section = text.partition("## Errors")[2].partition("\n## ")[0]
    documented = set(re.findall(r"^\| `(PB\d{3})` \|", section, re.MULTILINE))
    assert used <= documented
    assert documented == set(errors.SQLSTATES)
