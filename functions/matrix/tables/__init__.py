"""The tables of a run, built once: page, Markdown and terminal draw them."""
