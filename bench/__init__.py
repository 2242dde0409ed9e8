"""Measurements of aqlgen and of the adapters that it makes. Each module is a script; `make bench` runs them."""
