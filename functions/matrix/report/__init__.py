"""The report of a run: one HTML page that decides, with its charts, its tables and what speaks against it."""
