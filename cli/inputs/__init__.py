"""Inputs of a command: options, a matrix file, a run to resume, the tools of this machine."""
