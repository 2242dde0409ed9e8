"""Measurements of the page that `aqlgen explain --html` writes."""
