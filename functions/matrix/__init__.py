"""The pure core: what a matrix means, what it will cost, how far a run is and what came out. No AWS, no clock.

`matrix/X` is the pure half of what `aws/X` asks of AWS. A package imports only those that stand below it, from the top:
published, report, answer, plan, run, check, price, input, samples, statistics, terms.
"""
