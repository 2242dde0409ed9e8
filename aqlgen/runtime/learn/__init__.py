"""Observation of the real API, with the owner present (R-LEARN-1): facts of the server as proposals of overrides.

Only the command `learn` imports this. Reads alone are made, unless the owner allows writes. Nothing that was observed
lowers danger or opens a host, and nothing of an answer's content is kept: names, types, counts and statuses alone.
"""
