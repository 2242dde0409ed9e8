"""Decides about every operation its category, its name, its danger and its traits, each with its reason (R-NAME-4).

`stage` runs the decisions, `facts` holds what is known about one operation, `category` and `naming` hold the rules.
"""
