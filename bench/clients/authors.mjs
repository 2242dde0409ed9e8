// Call one adapter as the clients do that the authors of MCP-AQL publish: a tool for each verb, `operation` and `params`,
// the envelope from the structured content or else from the first text, a confirmation sent back among the parameters.
//
// usage: node authors.mjs ORDER, as for client.mjs, with "changed": {"operation": …, "family": …, "params": {…}}, which
// is confirmed first, and "sdk": 1. Prints a line of JSON; the exit code is 1 when something is not as it should be.
import assert from 'node:assert/strict';
import { connect } from './connect.mjs';

const order = JSON.parse(process.argv[2]);
const { client, version } = await connect(order);
const single = new Set(Object.values(order.tools)).size === 1;
let calls = 0;

const send = async (family, request) => {
  calls += 1;
  const { structuredContent, content } = await client.callTool({ name: order.tools[family], arguments: request });
  const text = content.find((part) => part.type === 'text')?.text;
  assert.deepEqual(JSON.parse(text), structuredContent, 'the text is not the structured content');
  const envelope = structuredContent;
  if (envelope.success === true) {
    assert.ok('data' in envelope && !('error' in envelope), 'a success has no data');
  } else {
    assert.equal(envelope.success, false);
    assert.equal(typeof envelope.error.code, 'string');
    assert.equal(typeof envelope.error.message, 'string');
  }
  return envelope;
};
const succeeded = async (family, request) => {
  const envelope = await send(family, request);
  assert.ok(envelope.success, JSON.stringify([request, envelope]));
  return envelope.data;
};
const refused = async (family, request, code) => {
  const envelope = await send(family, request);
  assert.equal(envelope.error?.code, code, JSON.stringify([request, envelope]));
  return envelope;
};

// what there is
const { operations } = await succeeded('read', { operation: 'introspect', params: { query: 'operations' } });
assert.ok(operations.some((entry) => entry.name === order.operation));
for (const entry of operations) {
  assert.ok(['CREATE', 'READ', 'UPDATE', 'DELETE', 'EXECUTE'].includes(entry.semantic_category), entry.name);
}
const about = { operation: 'introspect', params: { query: 'operations', name: order.operation } };
const { operation: details } = await succeeded('read', about);
assert.equal(details.mcpTool, order.tools[order.family]);
assert.ok(details.parameters.every((parameter) => typeof parameter.required === 'boolean'));

// where parameters are
const { operation, family, params } = order;
await succeeded(family, { operation, params });
await succeeded(family, { operation, ...params });
await succeeded(family, { operation, ...Object.fromEntries(Object.keys(params).map((key) => [key, {}])), params });
await succeeded('read', { operation: 'introspect', query: 'types' });
await refused(family, { operation, params: { ...params, element_type: 'persona' } }, 'VALIDATION_UNKNOWN_PARAM');
await refused(family, { operation, params, element_type: 'persona' }, 'VALIDATION_UNKNOWN_PARAM');

// several at once, an unknown one, the wrong tool
const batch = await send(family, { operations: [{ operation, params }, { operation, ...params }] });
assert.deepEqual([batch.success, batch.summary.succeeded], [true, 2], JSON.stringify(batch));
await refused('read', { operation: 'no_such_operation', params: {} }, 'NOT_FOUND_OPERATION');
if (!single) {
  const { error } = await refused('read', { ...order.changed, family: undefined }, 'VALIDATION_ENDPOINT_MISMATCH');
  assert.ok(error.message.includes(order.tools[order.changed.family]), error.message);
}

// what must be confirmed
const change = { operation: order.changed.operation, params: order.changed.params };
const { confirmation, error } = await refused(order.changed.family, change, 'CONFIRMATION_REQUIRED');
assert.equal(confirmation.token, error.details.confirmation_token);
assert.ok(!Number.isNaN(Date.parse(confirmation.expires_at)));
const again = { ...change.params, confirmation_token: confirmation.token };
await succeeded(order.changed.family, { operation: change.operation, params: again });

// the form of an old server of theirs, which no document of the protocol has: answered, not understood
const { error: old } = await send(family, { tool: operation, args: params });
assert.ok(old.message.includes('operation'), JSON.stringify(old));

console.log(JSON.stringify({ version: version(), calls }));
await client.close();
