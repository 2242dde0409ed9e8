"""`python -m aqlgen`."""

from aqlgen.cli import main

main()
