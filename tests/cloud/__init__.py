"""The proof around the local cloud: roles are judged, calls fail, machines are emulated, requests are recorded."""
