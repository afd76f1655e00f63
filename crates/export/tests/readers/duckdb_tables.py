"""Reads a table of contexts with DuckDB, and prints what it holds as JSON.

    python3 duckdb_tables.py FILE
"""

import json
import sys

import duckdb

TABLE = f"read_parquet('{sys.argv[1]}')"
connection = duckdb.connect()


def query(text):
    return connection.execute(text.replace("TABLE", TABLE)).fetchall()


print(json.dumps({
    "columns": query("select column_name, column_type from (describe select * from TABLE)"),
    "totals": query("select count(*), sum(calls)::bigint, sum(bytecodes)::bigint from TABLE")[0],
    "methods": query("select text, sum(calls)::bigint, sum(bytecodes)::bigint from TABLE group by text"),
    # Each context's stack, by the ids of its callers.
    "stacks": query("""
        with recursive stacks as (
            select id, text as stack, thread, calls, bytecodes from TABLE where parent_id is null
            union all
            select c.id, s.stack || ';' || c.text, c.thread, c.calls, c.bytecodes
            from TABLE c join stacks s on c.parent_id = s.id)
        select thread, stack, calls, bytecodes from stacks order by id"""),
    # Contexts whose inclusive counts are not the sums over what is below them, or whose depth is not that of their caller plus one.
    "wrong": query("""
        select a.id from TABLE a join TABLE b on b.id between a.id and a.last_id
        group by a.id, a.inclusive_calls, a.inclusive_bytecodes
        having sum(b.calls) <> a.inclusive_calls or sum(b.bytecodes) <> a.inclusive_bytecodes
        union all
        select c.id from TABLE c join TABLE p on c.parent_id = p.id where c.depth <> p.depth + 1"""),
    "encodings": query("""
        select distinct path_in_schema, encodings, compression from parquet_metadata('FILE')"""
        .replace("FILE", sys.argv[1])),
}))
