import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { withEmulator } from 'repohost-emulator/node-test';

const emulator = withEmulator();
const execute = promisify(execFile);

test('Git pushes and an LFS object is uploaded', async () => {
  const token = await emulator.token({ repo: 'app', scopes: ['repo:write', 'git:write', 'git:read'] });
  const headers = { authorization: `Bearer ${token}` };
  await fetch(`${emulator.baseUrl}/api/repos`, { method: 'POST', headers });
  const folder = await mkdtemp(join(tmpdir(), 'push-'));
  const git = (...args) => execute('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: folder });
  await git('init', '-q');
  await git('commit', '-q', '--allow-empty', '-m', 'one');
  await git('push', '-q', `${emulator.gitUrl.replace('://', `://t:${token}@`)}/app.git`, 'HEAD:main');
  await rm(folder, { recursive: true });
  const oid = createHash('sha256').update('large').digest('hex');
  const object = `${emulator.gitUrl}/app.git/info/lfs/objects/${oid}`;
  assert.equal((await fetch(object, { method: 'PUT', headers, body: 'large' })).status, 200);
  const { git: pushed } = emulator.requests().find(({ operation }) => operation === 'gitReceivePack');
  assert.deepEqual(
    pushed.updates.map(({ ref }) => ref),
    ['refs/heads/main'],
  );
});
