"""The gatekeeper and the safety loop."""
