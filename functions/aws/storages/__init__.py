"""The AWS calls of each storage: create, find, mount, delete."""
