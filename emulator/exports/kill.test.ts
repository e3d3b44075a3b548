import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { defaultFixtureKey } from '../auth/fixture-keys.js';
import { mintToken } from '../auth/mint.js';
import { startEmulator } from '../index.js';
import { spawnCli, untilReady } from '../test/cli-process.js';
import { scratch } from './test/kept.js';

async function names(url: string): Promise<string[]> {
  const response = await fetch(`${url}/_emulator/repositories`);
  const { items } = (await response.json()) as { readonly items: readonly { readonly name: string }[] };
  return items.map(({ name }) => name);
}

t.test(
  'after a kill, every write answered before the last save began is present, while a client keeps writing',
  async (t) => {
    const folder = join(scratch(t), 'kept');
    const manifest = join(folder, 'emulator.json');
    const savedRequests = () =>
      (JSON.parse(readFileSync(manifest, 'utf8')) as { world: { requests: number } }).world.requests;
    const answered = new Map<number, string>();
    for (let round = 0; round < 3; round++) {
      const child = spawnCli(t, ['start', '--port=0', '--log=quiet', `--persist=${folder}`]);
      const { base_url: url } = await untilReady(child);
      const token = mintToken({
        privateKeyPem: readFileSync(defaultFixtureKey().privateKeyFile, 'utf8'),
        org: 'demo',
        repo: 'r',
        scopes: ['repo:write', 'git:write', 'git:read'],
      });
      const headers = { authorization: `Bearer ${await token}`, 'content-type': 'application/x-ndjson' };
      if (round === 0)
        await fetch(`${url}/api/repos`, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: '{}',
        });
      let count = 0;
      const write = async (): Promise<void> => {
        const metadata = {
          target_branch: 'main',
          commit_message: `${round} ${count++}`,
          author: { name: 'A', email: 'a@b.c' },
        };
        const lines = [
          { metadata: { ...metadata, files: [{ path: `f${count}`, content_id: 'c' }] } },
          { blob_chunk: { content_id: 'c', data: Buffer.from(`${round} ${count}`).toString('base64'), eof: true } },
        ];
        const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
        const response = await fetch(`${url}/api/repos/r/commit-pack`, { method: 'POST', headers, body });
        const { commit } = (await response.json()) as { commit: { commit_sha: string } };
        answered.set(Number(response.headers.get('x-request-id')!.slice('req-'.length)), commit.commit_sha);
      };
      const writing = (async () => {
        for (;;) await write();
      })().catch(() => {});
      // Wait for at least three saves. After each save, the manifest (`emulator.json`) shows a new number of saved
      // requests.
      const before = answered.size;
      const seen = new Set<number>();
      while (seen.size < 3 + round || answered.size < before + 10) {
        seen.add(savedRequests());
        await pause(7 + round);
      }
      child.kill('SIGKILL');
      await once(child, 'close');
      await writing;
      const saved = savedRequests();
      const again = await startEmulator({ port: 0, log: 'quiet', import: folder });
      const missing: number[] = [];
      for (const [id, sha] of answered) {
        const { status } = await fetch(`${again.baseUrl}/api/repos/r/commit?sha=${sha}`, { headers });
        if (status !== 200) missing.push(id);
      }
      // Ignore the last saved request, because the save may have happened while it was in progress.
      t.same(
        missing.filter((id) => id < saved),
        [],
        `${answered.size} commits, ${saved} requests saved, ${missing.length} missing`,
      );
      t.ok(answered.size >= before + 10);
      for (const id of missing) answered.delete(id);
      await again.close();
    }
  },
);

t.test('a restart on a disk that is nearly full needs no second copy', async (t) => {
  const mount = join(scratch(t), 'small');
  mkdirSync(mount);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', mount], { stdio: 'ignore' });
  } catch {
    t.comment('no file system can be mounted');
    return;
  }
  t.teardown(() => execFileSync('umount', ['-l', mount]));
  const folder = join(mount, 'kept');
  const one = await startEmulator({ port: 0, persist: folder, log: 'quiet' });
  await one.repository('large').seed({ noise: randomBytes(1_400_000) });
  await one.close();
  const pack = () =>
    readdirSync(join(folder, 'demo/large.git/objects/pack')).map((name) => [
      name,
      statSync(join(folder, 'demo/large.git/objects/pack', name)).ino,
    ]);
  const before = pack();
  const warnings: string[] = [];
  const two = await startEmulator(
    { port: 0, persist: folder, log: 'quiet' },
    { onWarning: (each) => warnings.push(each) },
  );
  await two.repository('small').seed({ a: 'x' });
  await two.reset();
  await two.repository('other').seed({ a: 'x' });
  await two.close();
  t.same(warnings, []);
  t.same(pack(), before);
  const three = await startEmulator({ port: 0, persist: folder, log: 'quiet' });
  t.same(await names(three.baseUrl), ['large', 'other']);
  await three.close();
});
