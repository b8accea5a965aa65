"""`matrix`: plan, run, watch and read storage benchmarks from the command line, on the local cloud and on AWS alike."""
