"""The owner's rules: which operations they are about, and whether a call meets their conditions."""
