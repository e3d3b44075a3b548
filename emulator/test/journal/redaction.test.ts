import t from 'tap';
import { Workbench } from '../../git/test/workbench.js';
import { toHar, toNdjson } from '../../journal/export.js';
import { subscribe } from '../../journal/subscription.js';
import type { LogLine } from '../../log/log.js';
import { type CallOptions, startService } from '../service.js';

/**
 * Returns all strings that are reachable from `value`, in one text. Includes data that the journal stores but does not
 * show. The text must not contain a secret.
 */
function everythingIn(value: unknown, seen = new Set<unknown>()): string {
  if (typeof value === 'string') return `${value}\n`;
  if (Buffer.isBuffer(value)) return `${value.toString('latin1')}\n`;
  if (typeof value !== 'object' || value === null || seen.has(value)) return '';
  seen.add(value);
  const members = value instanceof Map || value instanceof Set ? [...value.entries()].flat() : Object.values(value);
  return members.map((member) => everythingIn(member, seen)).join('');
}

t.test('nothing that the journal stores, shows, exports, reports, verifies or logs contains a secret', async (t) => {
  const lines: LogLine[] = [];
  const service = await startService({}, { log: { write: (line) => lines.push(line) } });
  const { emulator, world } = service;
  const bench = await Workbench.create();
  t.teardown(async () => {
    await emulator.close({ graceMs: 0 });
    await bench[Symbol.asyncDispose]();
  });
  const told: string[] = [];
  const stop = new AbortController();
  const telling = (async () => {
    for await (const one of subscribe(world.state.journal, { signal: stop.signal })) told.push(JSON.stringify(one));
  })();
  const scopes = ['git:read', 'git:write', 'repo:write', 'org:read', 'deployment:read', 'deployment:write'];
  const token = await service.token({ repo: 'r', scopes });
  const responses: string[] = [];
  const ask = async (method: string, target: string, options: CallOptions = {}) => {
    const response = await service.call(method, target, { token, repo: 'r', ...options });
    responses.push(JSON.stringify(response.headers), response.status < 300 ? '' : response.text);
    return response;
  };
  // Send secrets in every place where a client can send them. Some of the requests succeed, and others are refused.
  await ask('POST', '/api/repos', { json: { deployment: { env: { KEY: 'canary-env' } } } });
  await ask('POST', '/api/repos', { json: { deployment: { env: { KEY: ['canary-env-2'] } } } });
  const fork = { provider: 'x', owner: 'o', name: 'n', auth: { token: 'canary-fork', password: 'canary-fork' } };
  await ask('POST', '/api/repos', { repo: 'r2', json: { base_repo: fork } });
  await ask('PATCH', '/api/v1/repo', { json: { deployment: { env: { KEY: 'canary-env-3' } } } });
  for (const password of ['canary-password', ['canary-list'], { deep: 'canary-deep' }]) {
    await ask('POST', '/api/v1/repos/git-credentials', { json: { username: 'canary-user', password } });
    await ask('PUT', '/api/repos/r/git-credentials/x', { json: { username: 'canary-user', password } });
    await ask('PUT', '/api/v1/repos/git-credentials', { json: { id: 'x', username: 'canary-user', password } });
  }
  for (const body of ['{"password":"canary-torn', 'password=canary-form', '["canary-list-2"]']) {
    await ask('POST', '/api/v1/repos/git-credentials', { body, headers: { 'content-type': 'application/json' } });
    await ask('POST', '/api/v1/webhooks', { body, headers: { 'content-type': 'application/json' } });
  }
  await ask('POST', '/api/v1/webhooks', { json: { url: 'http://127.0.0.1:9/hook', secret: 'canary-webhook' } });
  await ask('POST', '/api/v1/webhooks', { json: { url: 'http://user:canary-url@127.0.0.1:9/hook' } });
  const made = await service.call('POST', '/api/v1/webhooks', { json: { url: 'http://127.0.0.1:9/other' }, token });
  t.match(made.json.secret, /^whsec_/);
  await ask('POST', '/api/repos/r/deployments', { json: { ref: 'main', env: { A: 'canary-deploy' } } });
  for (const name of ['cookie', 'x-api-key', 'proxy-authorization', 'x-auth-token', 'x-amz-security-token']) {
    await ask('GET', '/api/v1/repo', { headers: { [name]: `canary-${name}` } });
  }
  for (const target of [
    '/api/v1/repo?access_token=canary-query&x=1',
    `/api/v1/repo?x=${token}`,
    `/nothing/${token}`,
    '/api/v1/repos/file?path=https%3A%2F%2Fu%3Acanary-encoded%40host',
    '/https://u:canary-path@host/',
  ]) {
    await ask('GET', target);
  }
  // Send a secret as the name of a ref. The response repeats the name, but the journal must not record it.
  const asked = { token, json: { ref: 'https://u:canary-ref@host', query: { pattern: 'a' } } };
  for (const options of [asked, { token, json: { ...asked.json, ref: token } }]) {
    t.equal((await service.call('POST', '/api/v1/repos/grep', options)).status, 404);
  }
  t.equal((await service.call('GET', `/api/v1/repos/commit?sha=${token}`, { token })).status, 404);
  const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` });
  for (const headers of [basic('t:canary-basic'), basic(`t:${token}`), { authorization: 'Token canary-scheme' }]) {
    for (const target of ['/api/v1/repo', '/r.git/info/refs?service=git-upload-pack']) {
      await ask('GET', target, { token: null, headers });
    }
  }
  const lfs = { 'content-type': 'application/vnd.git-lfs+json', accept: 'application/vnd.git-lfs+json' };
  const objects = [{ oid: 'a'.repeat(64), size: 1 }];
  await ask('POST', '/r.git/info/lfs/objects/batch', { json: { operation: 'upload', objects }, headers: lfs });
  await service.commit('r', { 'a.txt': 'a\n' });
  await bench.try('.', 'clone', '-q', await service.remote('r'), 'copy');
  await bench.try('.', 'clone', '-q', service.url.replace('://', '://t:canary-git@').concat('/r.git'), 'refused');

  stop.abort();
  await telling;
  const entries = emulator.requests();
  const id = await emulator.snapshot();
  const seen = {
    requests: JSON.stringify(entries),
    'one by one': JSON.stringify(entries.map((entry) => world.state.journal.entry(entry.id))),
    NDJSON: [...toNdjson(entries)].join(''),
    HAR: [...toHar(entries)].join(''),
    stream: told.join('\n'),
    verification: JSON.stringify(
      emulator.verify({
        requests: [{ match: { status: 599 } }, { match: { status: '4xx' }, never: true }],
        client: true,
      }),
    ),
    log: JSON.stringify(lines),
    'error bodies': responses.join('\n'),
    'what is kept': everythingIn([...world.state.journal.records()]),
    'what a snapshot keeps': everythingIn(world.state.journal.snapshot()),
    'what a restore keeps': '',
  };
  await emulator.restore(id);
  seen['what a restore keeps'] = everythingIn(service.world.state.journal);
  const secrets = ['canary', token, ...token.split('.').slice(1), made.json.secret];
  secrets.push(Buffer.from(`t:${token}`).toString('base64'), Buffer.from('t:canary-basic').toString('base64'));
  for (const [where, text] of Object.entries(seen)) {
    t.ok(text.length > 500, where);
    for (const secret of secrets) {
      const at = text.indexOf(secret);
      t.equal(at < 0 ? '' : text.slice(Math.max(0, at - 80), at + 30), '', `${where}: ${secret.slice(0, 16)}`);
    }
  }
  t.ok(seen.requests.includes('[redacted]'));
});
