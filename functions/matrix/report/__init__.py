"""The report of a run: one HTML page with its decision, charts, tables and caveats."""
