"""The name of an operation (R-NAME-2, R-NAME-3): read the words, choose by named rules, make the names unique.

- Reading: `verbs`, `noun`, `shape`, `phrase`, `vocabulary`, `chain`.
- Choosing: `number`, `verb_rules`, `wording`.
- Names: `candidates`, `spelling`, `uniqueness`.

`facts` reads by the first group, and the second group chooses by `facts`; so nothing is imported here.
"""
