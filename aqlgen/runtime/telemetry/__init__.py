"""What an operator sees of an adapter at work: records of calls, metrics, traces."""
