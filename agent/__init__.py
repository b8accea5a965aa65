"""The program on each instance: mounts the storage, waits at the fleet's barrier, runs the points, uploads samples.

Python 3.9 or newer, the standard library and the distribution's boto3 (package python3-boto3), an old one included.
"""

VERSION = "0.2.0"
