"""The operator's page: what waits for a person, shown and decided outside of everything that an agent reads."""
