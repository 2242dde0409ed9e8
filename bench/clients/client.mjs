// A TypeScript client against one adapter: lists tools, introspects, calls, is refused.
//
// usage: node client.mjs '{"sdk": 1 | 2, "era": "legacy" | "auto", "url": … | "command": …, "args": […], "env": {…},
//                          "tools": {"read": …, …}, "operation": …, "family": …, "params": {…}}'
// Prints one line of JSON; the exit code is 1 when something is not as it should be.
import assert from 'node:assert/strict';
import { connect } from './connect.mjs';

const order = JSON.parse(process.argv[2]);
const { client, version } = await connect(order);

const call = async (family, operation, params) => {
  const result = await client.callTool({ name: order.tools[family], arguments: { operation, params } });
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent);
  return result.structuredContent;
};

const { tools } = await client.listTools();
const names = tools.map((tool) => tool.name);
assert.ok(new Set(Object.values(order.tools)).isSupersetOf(new Set(names)), `other tools: ${names}`);
assert.ok(names.includes(order.tools.read), 'no tool that reads');
const listed = await call('read', 'introspect', { query: 'operations' });
assert.ok(listed.success && listed.data.operations.length > 1, 'introspection lists nothing');
const details = await call('read', 'introspect', { query: 'operations', name: order.operation });
assert.equal(details.data.operation.name, order.operation);
const answer = await call(order.family, order.operation, order.params);
assert.ok(answer.success, JSON.stringify(answer));
const refused = await call(order.family, order.operation, { ...order.params, no_such_parameter: 1 });
assert.equal(refused.error.code, 'VALIDATION_UNKNOWN_PARAM');

console.log(JSON.stringify({ version: version(), tools: names.length, operations: listed.data.operations.length }));
await client.close();
