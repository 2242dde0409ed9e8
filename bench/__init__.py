"""Measurements of aqlgen and of the adapters that it generates; `python -m bench` lists and runs them."""
