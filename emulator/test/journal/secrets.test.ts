import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { request } from 'undici';
import { fixtureKeys } from '../../auth/fixture-keys.js';
import { mintToken } from '../../auth/mint.js';
import type { LogLine } from '../../log/log.js';
import { startService } from '../service.js';

t.test('no secret from a client or an operator is shown or logged', async (t) => {
  const received: string[] = [];
  // Start a server that refuses every fetch and every webhook delivery. Its responses repeat the headers of the
  // request.
  const outside = createServer((incoming, response) => {
    received.push(`${incoming.headers.authorization}`);
    response.writeHead(incoming.url!.includes('hook') ? 500 : 401).end(JSON.stringify(incoming.headers));
  }).listen(0, '127.0.0.1');
  await once(outside, 'listening');
  t.teardown(() => outside.close());
  const { port } = outside.address() as AddressInfo;

  const lines: LogLine[] = [];
  const upstreamHost = { github: `http://ada:canary-operator@127.0.0.1:${port}` };
  const service = await startService({ upstreamHost }, { log: { write: (line) => lines.push(line) } });
  const { emulator, world } = service;
  t.teardown(() => emulator.close({ graceMs: 0 }));
  const privateKeyPem = readFileSync(fixtureKeys().find(({ id }) => id === 'es256')!.privateKeyFile, 'utf8');
  const scopes = ['git:read', 'git:write', 'repo:write', 'org:read'];
  const token = await mintToken({ privateKeyPem, org: 'demo', repo: 'r', scopes });
  const bearer = { authorization: `Bearer ${token}` };
  const responses: string[] = [];
  const ask = async (method: string, path: string, headers: Record<string, string> = {}, json?: unknown) => {
    const body = json === undefined ? null : JSON.stringify(json);
    const response = await request(emulator.baseUrl + path, { method: method as 'GET', headers, body });
    responses.push(JSON.stringify(response.headers), await response.body.text());
    return response.statusCode;
  };
  const base_repo = { provider: 'github', owner: 'o', name: 'n' };
  await ask('POST', '/api/repos', bearer, { base_repo });
  await ask('POST', '/api/repos', bearer);
  await ask('POST', '/api/v1/repos/git-credentials', bearer, { username: 'ada', password: 'canary-password' });
  await ask('POST', '/api/v1/repos/git-credentials', bearer, { username: 'ada', password: ['canary-password'] });
  await ask('POST', '/api/v1/webhooks', bearer, { url: `http://u:canary-url@127.0.0.1:${port}/hook` });
  const webhook = {
    url: `http://127.0.0.1:${port}/hook`,
    secret: 'canary-webhook',
    events: ['push', 'repo.sync.failed'],
  };
  t.equal(await ask('POST', '/api/v1/webhooks', bearer, webhook), 201);
  const author = { name: 'A', email: 'a@x' };
  const metadata = { target_branch: 'main', commit_message: 'm', author, files: [] };
  t.equal(await ask('POST', '/api/v1/repos/commit-pack', bearer, { metadata }), 201);
  await ask('POST', '/api/v1/repos/pull-upstream', bearer);
  const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` });
  for (const path of ['/r.git/info/refs?service=git-upload-pack', '/x.git/info/refs', '/api/v1/repo', '/nothing']) {
    for (const headers of [
      basic(`t:${token}`),
      basic(`${token}:`),
      { authorization: token },
      { authorization: `Token ${token}` },
    ]) {
      await ask('GET', path, headers);
    }
    await ask('GET', `${path}${path.includes('?') ? '&' : '?'}access_token=${token}`, {
      cookie: token,
      'x-authorization': token,
    });
    await ask('GET', path, { authorization: `Bearer ${token.slice(0, -3)}` });
  }
  while (![...world.state.deliveries.all()].some(({ attempts }) => attempts.length > 0)) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  await world.background.syncs.idle();
  for (const path of ['/_emulator/webhooks/outbox', '/_emulator/health', '/_emulator/version', '/api/v1/webhooks']) {
    t.equal(await ask('GET', path, bearer), 200, path);
  }
  t.ok(received.length > 0, 'the outside server received requests');
  const seen = {
    log: JSON.stringify(lines),
    journal: JSON.stringify(emulator.requests()),
    answers: responses.join('\n'),
  };
  const secrets = [
    'canary-',
    token,
    ...token.split('.').slice(1),
    Buffer.from(`t:${token}`).toString('base64'),
    privateKeyPem,
  ];
  for (const [where, text] of Object.entries(seen)) {
    t.ok(text.length > 500, where);
    for (const secret of secrets) t.notOk(text.includes(secret), `${where}: ${secret.slice(0, 12)}`);
  }
});
