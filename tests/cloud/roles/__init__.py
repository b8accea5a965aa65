"""Judges each call by the roles of the template."""
