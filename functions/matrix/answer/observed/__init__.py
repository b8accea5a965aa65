"""What exists already: how a running volume or file system is used, and which storage would carry that at what cost.

`asking` says what CloudWatch is asked, `tracks` what follows from its answer, `carrying` what other storages make of
it, and `document` puts that together.
"""
