# machine: replaced by `aqlgen update` (MIT-0); extend the adapter in hooks.py, adapter.toml or overrides.yaml.
"""Every setting of an adapter: this is the only list of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from . import parsing, profiles

__all__ = ["KIB", "MIB", "SETTINGS", "Setting"]

KIB, MIB = 1024, 1024 * 1024


class Setting(NamedTuple):
    """One setting: its attribute of Config, its dotted key in adapter.toml, its variable, default, and what it does.

    `parse` turns text or a TOML value into the setting's value; it raises ValueError with the end of a sentence that
    begins with the setting's name.
    """

    attribute: str
    key: str
    variable: str
    default: Any
    help: str
    parse: Callable[[Any], Any]


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "base_url",
        "base_url",
        "MCP_AQL_BASE_URL",
        None,
        "address of the API; empty: the document's own",
        parsing.base_url,
    ),
    Setting(
        "mode",
        "endpoint_mode",
        "MCP_AQL_ENDPOINT_MODE",
        "semantic",
        "tools offered: semantic (five), single, all",
        parsing.mode,
    ),
    Setting(
        "tool_prefix",
        "tool_prefix",
        "MCP_AQL_TOOL_PREFIX",
        "",
        "begins every tool name, such as github_",
        parsing.prefix,
    ),
    Setting("timeout", "timeout", "MCP_AQL_TIMEOUT", 30.0, "seconds to wait for the API", parsing.seconds),
    Setting(
        "retries",
        "retries",
        "MCP_AQL_RETRIES",
        2,
        "most further tries of a safe read that failed on its way",
        parsing.whole(0, 10),
    ),
    Setting(
        "log_level", "log_level", "MCP_AQL_LOG_LEVEL", "warning", "least severe record on standard error", parsing.level
    ),
    Setting(
        "policy",
        "policy",
        "MCP_AQL_POLICY",
        "standard",
        "what is asked about: standard (destructive and worse), open (nothing)",
        parsing.policy,
    ),
    Setting(
        "trust_level", "trust_level", "MCP_AQL_TRUST_LEVEL", "generated", "who vouches for the adapter", parsing.trust
    ),
    Setting(
        "max_request_size",
        "limits.max_request_size",
        "MCP_AQL_MAX_REQUEST_SIZE",
        MIB,
        "bytes of a request",
        parsing.whole(64 * KIB, 10 * MIB),
    ),
    Setting(
        "max_response_size",
        "limits.max_response_size",
        "MCP_AQL_MAX_RESPONSE_SIZE",
        10 * MIB,
        "bytes of the API's response",
        parsing.whole(MIB, 100 * MIB),
    ),
    Setting(
        "max_string_length",
        "limits.max_string_length",
        "MCP_AQL_MAX_STRING_LENGTH",
        MIB,
        "bytes of one string of a request",
        parsing.whole(64 * KIB, 10 * MIB),
    ),
    Setting(
        "max_array_elements",
        "limits.max_array_elements",
        "MCP_AQL_MAX_ARRAY_ELEMENTS",
        10_000,
        "elements of one array of a request",
        parsing.whole(100, 100_000),
    ),
    Setting(
        "max_nesting_depth",
        "limits.max_nesting_depth",
        "MCP_AQL_MAX_NESTING_DEPTH",
        32,
        "levels of objects and arrays of a request",
        parsing.whole(8, 64),
    ),
    Setting(
        "confirmation_ttl",
        "confirmation.ttl",
        "MCP_AQL_CONFIRMATION_TTL",
        300,
        "seconds that a confirmation token is good for",
        parsing.whole(10, 900),
    ),
    Setting(
        "confirmation_skew",
        "confirmation.skew",
        "MCP_AQL_CONFIRMATION_SKEW",
        30,
        "seconds of grace behind that",
        parsing.whole(0, 300),
    ),
    Setting(
        "confirmation_rate",
        "confirmation.per_minute",
        "MCP_AQL_CONFIRMATION_RATE",
        60,
        "most confirmation tokens a minute of one session",
        parsing.whole(1, 10_000),
    ),
    Setting(
        "state_url",
        "state.url",
        "MCP_AQL_STATE_URL",
        "",
        "where durable state is kept: sqlite:///FILE, memory:; empty: a file in the user's state folder",
        parsing.state_url,
    ),
    Setting(
        "audit_path",
        "audit.path",
        "MCP_AQL_AUDIT_PATH",
        "",
        "the audit log; empty: audit.jsonl beside the state, with state in memory the log",
        parsing.path,
    ),
    Setting(
        "files_folder",
        "files.folder",
        "MCP_AQL_FILES_FOLDER",
        "",
        "folder whose files calls may name, and in which files of the API are saved; empty: none",
        parsing.path,
    ),
    Setting(
        "files_max_size",
        "files.max_size",
        "MCP_AQL_FILES_MAX_SIZE",
        256 * MIB,
        "bytes of a file that is saved",
        parsing.whole(MIB, 100 * 1024 * MIB),
    ),
    Setting(
        "stream_events",
        "streams.events",
        "MCP_AQL_STREAM_EVENTS",
        1000,
        "most events that are taken from a stream",
        parsing.whole(1, 100_000),
    ),
    Setting(
        "stream_seconds",
        "streams.seconds",
        "MCP_AQL_STREAM_SECONDS",
        20.0,
        "seconds that a stream is listened to, within timeout",
        parsing.seconds,
    ),
    Setting(
        "forward_header",
        "auth.forward_header",
        "MCP_AQL_AUTH_FORWARD_HEADER",
        (),
        "over HTTP: the header that holds each caller's own credential for the API, or header=scheme; header=scheme",
        parsing.forwarded,
    ),
    Setting(
        "exchange_url",
        "auth.exchange_url",
        "MCP_AQL_AUTH_EXCHANGE_URL",
        "",
        "over HTTP: where each caller's token is exchanged for one of the API (RFC 8693)",
        parsing.endpoint,
    ),
    Setting(
        "exchange_scheme",
        "auth.exchange_scheme",
        "MCP_AQL_AUTH_EXCHANGE_SCHEME",
        "",
        "the security scheme that is filled so; empty: the only one that can be",
        parsing.word,
    ),
    Setting(
        "exchange_audience",
        "auth.exchange_audience",
        "MCP_AQL_AUTH_EXCHANGE_AUDIENCE",
        "",
        "the audience that the exchange asks for",
        parsing.word,
    ),
    Setting(
        "exchange_scope",
        "auth.exchange_scope",
        "MCP_AQL_AUTH_EXCHANGE_SCOPE",
        "",
        "the scopes that the exchange asks for; empty: those of the operation",
        parsing.word,
    ),
    Setting(
        "server_variables",
        "server.variables",
        "MCP_AQL_SERVER_VARIABLES",
        {},
        "values of the variables in the API's address: NAME=VALUE, …, or the table [server.variables]",
        parsing.variables,
    ),
    Setting(
        "max_list",
        "introspection.max_list",
        "MCP_AQL_MAX_LIST",
        250,
        "longest whole list that introspection gives",
        parsing.whole(10, 10_000),
    ),
    Setting(
        "warn_slow_ms",
        "warnings.slow_ms",
        "MCP_AQL_WARN_SLOW_MS",
        2000,
        "milliseconds that the API may take before a warning says so",
        parsing.whole(1, 3_600_000),
    ),
    Setting(
        "warn_quota_percent",
        "warnings.quota_percent",
        "MCP_AQL_WARN_QUOTA_PERCENT",
        80,
        "per cent of the API's own limit of calls before a warning says so",
        parsing.whole(1, 100),
    ),
    Setting(
        "warn_most", "warnings.most", "MCP_AQL_WARN_MOST", 10, "most warnings of one response", parsing.whole(1, 100)
    ),
    Setting(
        "warn_repeat_after",
        "warnings.repeat_after",
        "MCP_AQL_WARN_REPEAT_AFTER",
        300,
        "seconds before a session is given the same warning again; 0: always",
        parsing.whole(0, 86_400),
    ),
    Setting(
        "warn_suppress",
        "warnings.suppress",
        "MCP_AQL_WARN_SUPPRESS",
        (),
        "codes of warnings not to give; one that ends with _ stands for its category",
        parsing.codes,
    ),
    Setting(
        "safety_loop",
        "safety_loop.mode",
        "MCP_AQL_SAFETY_LOOP",
        "disabled",
        "safety loop of agents: enforcing, monitoring, logging, disabled",
        profiles.mode,
    ),
    Setting(
        "loop_approval",
        "safety_loop.approval",
        "MCP_AQL_SAFETY_LOOP_APPROVAL",
        "person",
        "who confirms what paused: person (asked by the client), client (its own approval of a call is enough)",
        profiles.approval,
    ),
    Setting(
        "max_autonomous_steps",
        "safety_loop.max_autonomous_steps",
        "MCP_AQL_SAFETY_LOOP_STEPS",
        10,
        "steps of an agent before it must pause",
        profiles.steps,
    ),
    Setting(
        "requires_approval",
        "safety_loop.requires_approval",
        "MCP_AQL_SAFETY_LOOP_REQUIRES_APPROVAL",
        (),
        "patterns of actions that always pause",
        profiles.patterns,
    ),
    Setting(
        "auto_approve",
        "safety_loop.auto_approve",
        "MCP_AQL_SAFETY_LOOP_AUTO_APPROVE",
        (),
        "patterns of actions that go on without further evaluation",
        profiles.patterns,
    ),
    Setting(
        "loop_agents",
        "safety_loop.agents",
        "MCP_AQL_SAFETY_LOOP_AGENTS",
        {},
        "the same for single agents: [safety_loop.agents.NAME]",
        profiles.agents,
    ),
)
