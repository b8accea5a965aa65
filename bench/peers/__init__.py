"""Tools of others beside the project's engines, on the same storage in the same run."""
