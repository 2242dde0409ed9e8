"""The test of a running adapter from outside, as its clients see it (R-CONF-1; conformance testing, 2 to 6)."""
