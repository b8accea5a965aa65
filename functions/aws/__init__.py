"""The edge: the only place among the functions that talks to AWS. `aws/X` makes the calls, `matrix/X` decides.

A package imports only those that stand below it, from the top: teardown, storages, fleet, results, run, inventory,
account, ec2, records, stack.
"""
