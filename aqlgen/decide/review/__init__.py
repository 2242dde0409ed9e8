"""The review: what a person should look at, in as few rows as there are questions, and what the owner accepts of it.

- `answers`: the questions and their answers, and the entries of `adapter: {accept: […]}` applied to the decisions
- `consequence`: the weight of each operation, by which all of this is ordered
- `rows`: the concerns about operations as the rows of a list that ends, and the heading that a row stands under
"""
