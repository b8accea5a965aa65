"""`python -m storage_matrix` is `matrix`, also in a clone that is not installed."""

from storage_matrix import main

main()
