"""Alembic's environment: runs revisions on the connection, and in the transaction, that `broker db upgrade` opened.

The version table lives in the schema resource, which uses no other schema: it is created first and dropped last.
"""

from alembic import context

connection = context.config.attributes.get("connection")
if connection is None:
    raise SystemExit(
        "revisions run through `broker db upgrade` and `broker db downgrade`: they hold the lock,"
        " set the owner and replace the code in the same transaction"
    )

context.configure(connection=connection, version_table="alembic_version", version_table_schema="resource")
context.run_migrations()
