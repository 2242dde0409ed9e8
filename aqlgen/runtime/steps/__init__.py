"""Plans of several steps in one call: `run_steps`."""
