"""Words for what documents say in codes and numbers: one place for page, Markdown, terminal, CSV and console.

Nothing reads these words back: what a program needs is in the documents.
"""
