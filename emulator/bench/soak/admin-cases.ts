import { once } from 'node:events';
import { connect } from 'node:net';
import type { Remote } from '../remote.js';

/** Hostile work on the emulator's own routes. Resolves to the statuses. */
interface AdminCase {
  readonly run: (remote: Remote) => Promise<readonly number[]>;
}

const ADMIN = '/_emulator';
/** Requests that are sent at the same time. */
const AT_ONCE = 8;
const STREAMS = 100;

/** The statuses of requests with the same body, each on a connection of its own. */
function sendAtOnce({ origin }: Remote, method: string, path: string, body: string): Promise<number[]> {
  const headers = { 'content-type': 'application/json' };
  const send = async () => (await fetch(`${origin}${ADMIN}${path}`, { method, headers, body })).status;
  return Promise.all(Array.from({ length: AT_ONCE }, send));
}

/** A JSON list of as many items as a body of 1 MiB holds. */
const listOf = (item: string, most = Number.POSITIVE_INFINITY) =>
  `[${Array(Math.min(most, Math.floor((2 ** 20 - 100) / (item.length + 1))))
    .fill(item)
    .join()}]`;

/** A connection on which an event stream is read and thrown away. */
async function follow(origin: string): Promise<Disposable> {
  const { hostname, port, host } = new URL(origin);
  const socket = connect(Number(port), hostname);
  socket.write(`GET ${ADMIN}/requests/stream HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  await once(socket, 'data');
  socket.resume();
  return { [Symbol.dispose]: () => socket.destroy() };
}

export const ADMIN_CASES: Readonly<Record<string, AdminCase>> = {
  'admin: eight bodies of 1 MiB at once, a list of numbers': {
    run: async (remote) => [
      ...(await sendAtOnce(remote, 'POST', '/faults', listOf('0'))),
      ...(await sendAtOnce(remote, 'POST', '/reset', listOf('0'))),
    ],
  },
  'admin: eight bodies of 1 MiB at once, 300,001 faults': {
    run: (remote) => sendAtOnce(remote, 'PUT', '/faults', `{"faults":${listOf('{}', 300_001)}}`),
  },
  'admin: 9,999 unknown members': {
    run: (remote) => {
      const members = Array.from({ length: 9_999 }, (_, at) => [`member${at}`, {}]);
      return sendAtOnce(remote, 'POST', '/fault-checks', JSON.stringify(Object.fromEntries(members)));
    },
  },
  'admin: 1,000 requests beside 100 event streams': {
    run: async (remote) => {
      const streams = await Promise.all(Array.from({ length: STREAMS }, () => follow(remote.origin)));
      for (let count = 0; count < 1_000; count++) await remote.client.request('/nothing');
      for (const stream of streams) stream[Symbol.dispose]();
      return [(await remote.client.request(`${ADMIN}/health`)).status];
    },
  },
  'admin: the OpenAPI document 200 times': {
    run: async (remote) => {
      let status = 0;
      for (let count = 0; count < 200; count++) ({ status } = await remote.client.request(`${ADMIN}/openapi.json`));
      return [status];
    },
  },
};
