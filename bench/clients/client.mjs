// The official TypeScript client against one adapter: lists tools, introspects, calls, is refused.
//
// usage: node client.mjs '{"era": "legacy" | "auto", "url": … | "command": …, "args": […], "env": {…},
//                          "operation": …, "family": …, "params": {…}}'
// Prints one line of JSON; the exit code is 1 when something is not as it should be.
import assert from 'node:assert/strict';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const order = JSON.parse(process.argv[2]);
const transport = order.url
  ? new StreamableHTTPClientTransport(new URL(order.url))
  : new StdioClientTransport({ command: order.command, args: order.args, env: { ...process.env, ...order.env } });
const client = new Client(
  { name: 'aqlgen-check', version: '1.0.0' },
  { versionNegotiation: { mode: order.era } },
);
await client.connect(transport);

const call = async (family, operation, params) => {
  const result = await client.callTool({ name: `mcp_aql_${family}`, arguments: { operation, params } });
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  return result.structuredContent;
};

const { tools } = await client.listTools();
assert.ok(tools.some((tool) => tool.name === 'mcp_aql_read'), 'no read tool');
const listed = await call('read', 'introspect', { query: 'operations' });
assert.ok(listed.success && listed.data.operations.length > 1, 'introspection lists nothing');
const details = await call('read', 'introspect', { query: 'operations', name: order.operation });
assert.equal(details.data.operation.name, order.operation);
const answer = await call(order.family, order.operation, order.params);
assert.ok(answer.success, JSON.stringify(answer));
const refused = await call(order.family, order.operation, { ...order.params, no_such_parameter: 1 });
assert.equal(refused.error.code, 'VALIDATION_UNKNOWN_PARAM');

const version = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion ?? '?';
console.log(JSON.stringify({ version, tools: tools.length, operations: listed.data.operations.length }));
await client.close();
