"""One file, one command of `matrix`."""
