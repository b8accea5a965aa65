"""The local cloud: the AWS APIs, Lambda and EC2 that Storage Matrix needs, on this machine, in one process."""
