"""`python -m broker.reference`: write the pages, from a fresh install on the server that the environment names."""

import psycopg

from broker import database, reference
from broker.upgrade.fresh import fresh_install

if __name__ == "__main__":
    with fresh_install(database.resolve().dsn) as (dsn, _), psycopg.connect(dsn) as connection:
        reference.write(connection)
