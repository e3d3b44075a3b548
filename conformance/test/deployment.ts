import { createServer } from 'node:http';
import type { Test } from 'tap';
import { createSigner } from '../auth/tokens.js';
import { main } from '../cli/main.js';
import { listenOnLoopback } from '../http/listen.js';
import { startTargetEmulator } from '../run/emulator-process.js';
import { passThrough } from './pass-through.js';

/** Runs `conformance <argv>` in this process. Returns its exit code and its whole output. */
export async function conformance(...argv: readonly string[]) {
  const said = { code: 0, out: '', err: '' };
  said.code = await main(argv, {
    print: (text) => {
      said.out += text;
    },
    printed: () => Promise.resolve(undefined),
    warn: (text) => {
      said.err += text;
    },
  });
  return said;
}

/** Response that a proxy sends to a DELETE request instead of forwarding the request to the service. */
export type DeletionResponse = readonly [status: number, body?: string];

/**
 * Starts an emulator with one repository on loopback, which conforms to the specification. It does not identify itself
 * as an emulator, so the suite treats it as a real deployment.
 */
export async function startDeployment(t: Test) {
  const emulator = await startTargetEmulator();
  t.teardown(() => emulator.close());
  const { target } = emulator;
  const asked: string[] = [];
  const state: { isBroken: boolean; deletion?: ((path: string) => DeletionResponse | undefined) | undefined } = {
    isBroken: false,
  };
  const server = createServer((incoming, outgoing) => {
    const { method = '', url = '' } = incoming;
    asked.push(`${method} ${url.split('?')[0]}`);
    if (url.startsWith('/_emulator') || (state.isBroken && url.startsWith('/api/meta'))) {
      incoming.resume();
      outgoing.writeHead(url.startsWith('/api') ? 500 : 404, { 'content-type': 'text/plain' }).end('no');
      return;
    }
    const refusal = method === 'DELETE' ? state.deletion?.(url) : undefined;
    if (refusal !== undefined) {
      const [status, body = ''] = refusal;
      incoming.resume();
      outgoing.writeHead(status, { 'content-type': body.startsWith('{') ? 'application/json' : 'text/html' }).end(body);
      return;
    }
    passThrough(target.baseUrl, incoming, outgoing);
  });
  const baseUrl = `http://${await listenOnLoopback(server)}`;
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const signer = createSigner(target, Date.now);
  const call = (method: string, path: string, repo: string | undefined, scope: string, body?: string) => {
    const token = signer.sign({ ...(repo === undefined ? {} : { repo }), scopes: [scope] });
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' };
    return fetch(target.baseUrl + path, { method, headers, ...(body === undefined ? {} : { body }) });
  };
  const create = (repo: string) => call('POST', '/api/repos', repo, 'repo:write');
  const repositories = async () => {
    const response = (await (await call('GET', '/api/repos?limit=100', undefined, 'org:read')).json()) as {
      repos: { repo_name: string }[];
    };
    return response.repos.map(({ repo_name: name }) => name).sort();
  };
  await create('docs');
  const author = { name: 'Ada', email: 'ada@example.com' };
  const files = [{ path: 'README.md', operation: 'upsert', content_id: 'c' }];
  const lines = [
    { metadata: { target_branch: 'main', commit_message: 'First', author, files } },
    { blob_chunk: { content_id: 'c', data: Buffer.from('# Docs\n').toString('base64'), eof: true } },
  ];
  const sent = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  await call('POST', '/api/v1/repos/commit-pack', 'docs', 'git:write', sent);
  return { baseUrl, target, asked, state, create, repositories };
}

/**
 * Returns the request lines in `asked` whose method and path may change the target. Includes requests that the target
 * refused.
 */
export function writesOf(asked: readonly string[]): string[] {
  const reading = /^(GET|HEAD|OPTIONS) |^POST \S*(\/repos\/(grep|archive)|\/git-upload-pack)$/;
  return asked.filter((one) => !reading.test(one) || / \S*\/git-receive-pack$/.test(one));
}
