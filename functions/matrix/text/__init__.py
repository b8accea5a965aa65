"""Words for the codes and numbers of documents: one place for page, Markdown, terminal, CSV and console.

Nothing reads these words back: programs use the documents.
"""
