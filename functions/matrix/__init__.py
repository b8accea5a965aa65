"""The pure core: reading, checking and planning a matrix, its cost, the progress of a run and its results.

It uses no AWS and no clock: `aws/X` calls AWS for `matrix/X`. A package imports only later packages of this list:
published, report, tables, answer, plan, run, check, price, input, samples, text, storages, fields, statistics, terms.
"""
