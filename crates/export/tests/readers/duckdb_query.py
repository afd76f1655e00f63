"""Prints the rows of a query by DuckDB as JSON. Paths in the query are relative to the current folder.

    python3 duckdb_query.py QUERY
"""

import json
import sys

import duckdb

print(json.dumps(duckdb.connect().execute(sys.argv[1]).fetchall()))
