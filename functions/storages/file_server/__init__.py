"""The project's file server on an instance, as a storage of a matrix."""
