"""The program on each instance: mounts the storage, waits at the fleet's barrier, runs the points, uploads samples.

Python 3.9 or newer and the standard library; of packages only the AWS client that its zip brings (agent_client/).
"""

VERSION = "0.2.0"
