"""The owner's quotas: what applies to a request, its counting in the store, and what a call is told (R-RATE-1)."""
