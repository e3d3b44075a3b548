import { HttpClient } from './http-client.js';
import { succeeded } from './remote.js';

export interface Load {
  readonly origin: string;
  readonly path: string;
  readonly connections: number;
  readonly milliseconds: number;
  /** Returns the headers of the requests on a connection. */
  readonly headersOf: (connection: number) => Readonly<Record<string, string>>;
}

/** Requests one path repeatedly on keep-alive connections. Returns responses per second. Rejects for an error status. */
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
