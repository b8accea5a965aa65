"""Definitions that agents and functions share. Both import this package; it imports none of the project's modules.

It is part of the functions' package and of the agent's zip, so it keeps to the syntax of Python 3.9. An engine's start
pays for each import here: no module imports more than it needs.
"""
