"""The storages that can be measured: a package for each type, and the three registries that list them."""
