"""From the schemas of a document to the types of an adapter: JSON Schema 2020-12 under the agent's names."""
