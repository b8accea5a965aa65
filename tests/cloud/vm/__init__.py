"""Instances as small virtual machines: the real user data under the real cloud-init, real mounts, a real power-off."""
