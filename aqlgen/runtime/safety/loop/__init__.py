"""The safety loop: reports of agents, their evaluation, blocks and verification (specification, 8.6 to 8.8)."""
