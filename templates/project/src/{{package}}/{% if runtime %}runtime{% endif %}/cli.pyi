# machine: replaced by `aqlgen update`; extend the adapter in hooks.py, adapter.toml or overrides.yaml.
from aqlgen_runtime.cli import main as main
