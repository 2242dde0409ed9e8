# machine: replaced by `aqlgen update`; extend the adapter in hooks.py, adapter.toml or overrides.yaml.
from aqlgen_runtime.hooks import ApiRequest as ApiRequest
from aqlgen_runtime.hooks import ApiResponse as ApiResponse
from aqlgen_runtime.hooks import Call as Call
from aqlgen_runtime.hooks import Code as Code
from aqlgen_runtime.hooks import Failure as Failure
from aqlgen_runtime.hooks import GateDecision as GateDecision
from aqlgen_runtime.hooks import HookError as HookError
from aqlgen_runtime.hooks import Hooks as Hooks
from aqlgen_runtime.hooks import Refuse as Refuse
from aqlgen_runtime.hooks import Step as Step
from aqlgen_runtime.hooks import StepVerdict as StepVerdict
