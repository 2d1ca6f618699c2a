"""Keys contain the setup, so that a complete setup can be moved to another database."""

from broker.upgrade.source import SCHEMAS
from tests.service.conftest import Db

# Keys across all setups: those of sessions and tokens, which are random anyway, and numbers that a move draws again.
OF_ALL = {
    "access_token_pkey", "browser_session_login_key", "browser_session_pkey", "change_pkey", "login_ticket_pkey",
    "parsed_description_known_id_key",
}  # fmt: skip
_UNIQUE = """
select i.indexrelid::regclass::text
  from pg_index i
  join pg_class c on c.oid = i.indrelid
  join pg_attribute s on s.attrelid = c.oid and s.attname = 'setup'
 where c.relnamespace = any (%s::regnamespace[]) and i.indisunique and not c.relispartition
   and not s.attnum = any (i.indkey)
"""
_FOREIGN = """
select f.conname
  from pg_constraint f
  join pg_attribute s on s.attrelid = f.conrelid and s.attname = 'setup'
  join pg_attribute t on t.attrelid = f.confrelid and t.attname = 'setup'
 where f.contype = 'f' and f.connamespace = any (%s::regnamespace[]) and not s.attnum = any (f.conkey)
"""


def test_unique_keys_contain_the_setup(rolled_back: Db) -> None:
    found = rolled_back.execute(_UNIQUE, [list(SCHEMAS)]).fetchall()
    assert {name.rpartition(".")[2] for (name,) in found} == OF_ALL


def test_foreign_keys_contain_the_setup(rolled_back: Db) -> None:
    assert rolled_back.execute(_FOREIGN, [list(SCHEMAS)]).fetchall() == []
