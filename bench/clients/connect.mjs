// A connection by either major version of the official TypeScript client.

const places = {
  1: {
    main: '@modelcontextprotocol/sdk/client/index.js',
    stdio: '@modelcontextprotocol/sdk/client/stdio.js',
    http: '@modelcontextprotocol/sdk/client/streamableHttp.js',
  },
  2: {
    main: '@modelcontextprotocol/client',
    stdio: '@modelcontextprotocol/client/stdio',
    http: '@modelcontextprotocol/client',
  },
};

// Connect as the order says, over stdio or to its url; `version` tells the protocol's version once there is one.
export const connect = async ({ sdk, era, url, command, args, env }) => {
  const place = places[sdk];
  const { Client } = await import(place.main);
  const { StdioClientTransport } = await import(place.stdio);
  const { StreamableHTTPClientTransport } = await import(place.http);
  const transport = url
    ? new StreamableHTTPClientTransport(new URL(url))
    : new StdioClientTransport({ command, args, env: { ...process.env, ...env } });
  let negotiated;
  const client = new Client(
    { name: 'aqlgen-check', version: '1.0.0' },
    sdk === 1 ? { capabilities: {} } : { versionNegotiation: { mode: era } },
  );
  const setVersion = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (value) => {
    negotiated = value;
    setVersion?.(value);
  };
  await client.connect(transport);
  return { client, version: () => client.getNegotiatedProtocolVersion?.() ?? negotiated ?? '?' };
};
