import { createHash } from 'node:crypto';
import { oidOf, packOf, pushBody, pushRaw } from '../git/raw-push.js';
import type { WebhookReceiver } from '../operations/webhook-receiver.js';
import { type CallOptions, packBody, type Service, type ServiceResponse } from '../service.js';

const ALL = ['git:read', 'git:write', 'repo:write', 'org:read', 'deployment:read', 'deployment:write'];
const ZERO = '0'.repeat(40);
const LFS = { 'content-type': 'application/vnd.git-lfs+json' };
const AUTHOR = { name: 'A', email: 'a@example.com' };

/** Returns the status, headers and bytes of a response as one text, for comparisons. */
export function shown({ status, headers: { date, ...headers }, bytes }: ServiceResponse): string {
  // Leave out the `Date` header for the emulator's own routes. They send the real time instead of the simulated time.
  const isCounted = headers['x-request-id'] !== undefined;
  return JSON.stringify([status, isCounted ? { date, ...headers } : headers, bytes.toString('latin1')]);
}

/**
 * Sends requests that change all kinds of state of a world (state of an emulator), in the repositories `a` and `b`.
 * `round` makes names and contents unique to this call. Waits for webhook deliveries to `receiver`, so that their order
 * is deterministic. Returns all responses.
 */
export async function touchEverything(service: Service, receiver: WebhookReceiver, round: string): Promise<string[]> {
  const responses: string[] = [];
  const ask = async (method: string, target: string, options: CallOptions = {}) => {
    const response = await service.call(method, target, { scopes: ALL, repo: 'a', ...options });
    responses.push(`${method} ${target} ${shown(response)}`);
    return response;
  };
  const delivered = async () => {
    while ([...service.world.state.deliveries.all()].some(({ attempts }) => attempts.length === 0)) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await ask('POST', '/api/v1/webhooks', { json: { url: receiver.url, events: ['push'], secret: round } });
  for (const repo of ['a', 'b']) {
    await ask('POST', '/api/repos', { repo, json: { deployment: {} } });
    await ask('POST', '/api/v1/repos/commit-pack', {
      repo,
      body: packBody({ 'f.txt': `${repo} ${round}\n`, 'd/g.txt': 'g\n' }, { author: AUTHOR }),
    });
    await delivered();
  }
  const blob = { type: 'blob', body: Buffer.from(`pushed ${round}`) } as const;
  const entry = Buffer.concat([Buffer.from('100644 f\0'), Buffer.from(oidOf(blob), 'hex')]);
  const tree = { type: 'tree', body: entry } as const;
  const who = 'A <a@example.com> 1700000000 +0000';
  const commit = {
    type: 'commit',
    body: Buffer.from(`tree ${oidOf(tree)}\nauthor ${who}\ncommitter ${who}\n\n${round}\n`),
  } as const;
  const push = pushBody([{ ref: `refs/heads/${round}`, old: ZERO, new: oidOf(commit) }], packOf([blob, tree, commit]));
  responses.push(shown(await pushRaw(service, 'a', push)));
  await delivered();
  await ask('POST', '/api/v1/repos/notes', {
    json: { action: 'add', sha: oidOf(commit), note: round, author: AUTHOR },
  });
  await ask('POST', '/api/v1/repos/tags', { json: { name: `tag-${round}`, target: oidOf(commit) } });
  await delivered();
  await ask('POST', '/api/v1/repos/git-credentials', { repo: 'b', json: { username: 'u', password: round } });
  await ask('POST', '/api/repos/a/deployments', { json: { ref: 'main' }, headers: { 'idempotency-key': 'key' } });
  const content = Buffer.from(`large ${round}`.repeat(100));
  const oid = createHash('sha256').update(content).digest('hex');
  for (const repo of ['a', 'b']) await ask('PUT', `/${repo}.git/info/lfs/objects/${oid}`, { repo, body: content });
  await ask('POST', '/a.git/info/lfs/locks', { json: { path: round }, headers: LFS });
  // From the second round on, this repeats an earlier search. The response may then come from a cache.
  await ask('POST', '/api/v1/repos/grep', { json: { query: { pattern: 'pushed' }, ref: 'one' } });
  for (let time = 0; time < 2; time++) {
    await ask('GET', '/api/v1/repo', { headers: { 'x-emulator-fault': 'repository_thawing*3' } });
    await ask('POST', '/api/v1/repos/grep', { json: { query: { pattern: 'pushed' }, ref: round } });
  }
  await ask('GET', '/a.git/info/refs?service=git-upload-pack', { headers: { 'git-protocol': 'version=2' } });
  await ask('DELETE', '/api/repos/b', { repo: 'b' });
  return responses;
}

/**
 * Reads everything that clients can read about the repositories `a` and `b` and the organization. Changes no state that
 * another client could see.
 */
export async function readAll(service: Service): Promise<string[]> {
  const responses: string[] = [];
  const targets = ['/api/v1/repo', '/api/v1/repos/branches', '/api/v1/repos/tags', '/api/v1/repos/commits'];
  targets.push('/api/v1/repos/file?path=f.txt', '/api/v1/repos/files/metadata', '/api/repos/a/deployments');
  targets.push('/api/v1/repos/blame?path=f.txt', '/a.git/info/refs?service=git-upload-pack', '/a.git/info/lfs/locks');
  targets.push('/api/repos', '/api/v1/webhooks', '/_emulator/webhooks/outbox');
  for (const repo of ['a', 'b']) {
    for (const target of targets)
      responses.push(`${target} ${shown(await service.call('GET', target, { repo, scopes: ALL }))}`);
  }
  return responses;
}
