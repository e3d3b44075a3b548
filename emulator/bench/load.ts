import { HttpClient } from './http-client.js';
import { succeeded } from './remote.js';

export interface Load {
  readonly origin: string;
  readonly path: string;
  readonly connections: number;
  readonly milliseconds: number;
  /** Returns the request headers for one connection, by the index of the connection. */
  readonly headersOf: (connection: number) => Readonly<Record<string, string>>;
}

/**
 * Repeats GET requests for one path on several keep-alive connections. Resolves to the number of responses per second.
 * Rejects if a response has an error status.
 */
export async function requestRate({ origin, path, connections, milliseconds, headersOf }: Load): Promise<number> {
  const start = performance.now();
  let responses = 0;
  const repeat = async (_: unknown, connection: number) => {
    await using client = new HttpClient(origin);
    const headers = headersOf(connection);
    for (; performance.now() - start < milliseconds; responses++) {
      succeeded(path, await client.request(path, { headers }));
    }
  };
  await Promise.all(Array.from({ length: connections }, repeat));
  return (responses / (performance.now() - start)) * 1000;
}
