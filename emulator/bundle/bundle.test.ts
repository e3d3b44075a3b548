import { spawn, spawnSync } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { defaultFixtureKey } from '../auth/fixture-keys.js';
import { mintToken } from '../auth/mint.js';
import { GIT_ENVIRONMENT } from '../git/test/workbench.js';
import { untilReady } from '../test/cli-process.js';

const BIN = fileURLToPath(new URL('../../../bin/emulator.js', import.meta.url));

t.test('lazily loaded packages are bundled', async (t) => {
  const child = spawn(process.execPath, [BIN, 'start', '--port', '0', '--log', 'quiet'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const said = { out: '', err: '' };
  child.stdout.on('data', (part) => {
    said.out += part;
  });
  const { base_url: origin } = await untilReady(Object.assign(child, { said }));
  const privateKeyPem = await readFile(defaultFixtureKey().privateKeyFile, 'utf8');
  const scopes = ['repo:write', 'git:write', 'git:read'] as const;
  const token = await mintToken({ privateKeyPem, org: 'demo', repo: 'app', scopes });
  const ask = (path: string, body?: string, type = 'application/json') =>
    fetch(`${origin}/api/repos${path}`, {
      headers: { authorization: `Bearer ${token}`, 'content-type': type },
      ...(body !== undefined && { method: 'POST', body }),
    });
  t.equal((await ask('', '{}')).status, 201);

  const types = { 'a.json': 'application/json; charset=utf-8', 'a.png': 'image/png', a: 'text/plain; charset=utf-8' };
  const files = Object.keys(types).map((path, at) => ({ path, operation: 'upsert', content_id: `${at}` }));
  const author = { name: 'Ada', email: 'ada@example.com' };
  const lines = [
    { metadata: { target_branch: 'main', commit_message: 'Add files', author, files } },
    ...files.map(({ content_id }) => ({ blob_chunk: { content_id, data: 'eA==', eof: true } })),
  ];
  const pack = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  t.equal((await ask('/app/commit-pack', pack, 'application/x-ndjson')).status, 201);
  for (const [path, type] of Object.entries(types)) {
    const response = await ask(`/app/file?path=${path}&ref=main`);
    t.same([response.status, response.headers.get('content-type')], [200, type], path);
  }

  const cwd = t.testdir({ message: Buffer.from('caf\xe9 \x80', 'latin1') });
  const git = (...args: string[]) => spawnSync('git', args, { cwd, env: GIT_ENVIRONMENT });
  git('init', '-q');
  git('-c', 'i18n.commitEncoding=cp1252', 'commit', '-q', '--allow-empty', '-F', 'message');
  git('push', '-q', `${origin.replace('://', `://t:${token}@`)}/app.git`, 'HEAD:refs/heads/encoded');
  const { commits } = (await (await ask('/app/commits?ref=encoded')).json()) as { commits: { message: string }[] };
  t.equal(commits[0]!.message, 'caf\u00e9 \u20ac\n');
});

t.test('no bundle contains import(), because it is loaded as a script', async (t) => {
  const folder = fileURLToPath(new URL('../../bundle/', import.meta.url));
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.cjs'));
  t.ok(files.length > 20);
  for (const file of files) {
    const found = /(?<![\w.$'"`#])import\s*\(/.exec(await readFile(join(folder, file), 'latin1'));
    t.equal(found, null, file);
  }
});
