"""All AWS calls of the functions: `aws/X` makes the calls, `matrix/X` decides.

A package imports only packages below it in this list: teardown, account, storages, fleet, results, run, ec2, records,
stack.
"""
