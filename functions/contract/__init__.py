"""What agents and functions must agree on, each thing once: both import it, and it imports nothing of ours.

It is part of the functions' package and of the agent's zip, so it keeps to the syntax of Python 3.9. An engine's start
pays for each import here: no module imports more than it needs.
"""
