import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs';
import http from 'node:http';
import { connect, type Server } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { startEmulator } from '../../index.js';
import { ended, spawnCli, untilReady } from '../../test/cli-process.js';
import { clearReady, publishReady, withdrawReady } from '../ready.js';

/**
 * Asserts that the process ended by itself with exit code 2. Standard error must be one sentence that matches
 * `sentence`.
 */
async function refused(test: Test, child: ReturnType<typeof spawnCli>, sentence: RegExp) {
  test.same(await ended(child), [2, null]);
  test.match(child.said.err, sentence);
  test.match(child.said.err, /^[^\n]+\.\n$/, 'one sentence');
}

t.test('a ready file that cannot be written ends the process', async (t) => {
  const folder = t.testdir({ file: 'x' });
  mkdirSync(join(folder, 'folder'));
  for (const file of [
    join(folder, 'absent', 'ready.json'),
    join(folder, 'folder'),
    join(folder, 'file', 'ready.json'),
    `/proc/${process.pid}/ready.json`,
    join(folder, 'n'.repeat(300)),
    '/dev/null',
  ]) {
    const child = spawnCli(t, ['start', '--port', '0', '--ready-file', file]);
    await refused(t, child, /^The ready file cannot be written: /);
    t.equal(child.said.out, '', file);
  }
  t.ok(statSync('/dev/null').isCharacterDevice(), 'a device is left alone');
  t.same(readdirSync(folder), ['file', 'folder'], 'nothing is left behind');
});

t.test('a ready line that cannot be written ends the process, and takes the ready file with it', async (t) => {
  const file = join(t.testdir({}), 'ready.json');
  for (const full of [true, false]) {
    const out = full ? openSync('/dev/full', 'w') : 'pipe';
    const child = spawnCli(t, ['start', '--port', '0', '--log', 'quiet', '--ready-file', file], { out });
    if (typeof out === 'number') closeSync(out);
    else child.stdout!.destroy();
    await refused(t, child, full ? /standard output: ENOSPC/ : /standard output: .*EPIPE/);
    t.notOk(existsSync(file));
  }
});

t.test('an error of the operating system is one sentence with the name of the option', async (t) => {
  for (const [argv, sentence] of [
    [['--host', '192.0.2.1'], /^This machine has no address 192\.0\.2\.1\. .* --host\.$/m],
    [['--host', 'a b'], /^--host must be/],
    [['--host', '::1%lo'], /^--host must be/],
  ] as const) {
    await refused(t, spawnCli(t, ['start', ...argv]), sentence);
  }
});

t.test('if another port cannot be bound, the first one is closed', async (t) => {
  const bound: Server[] = [];
  const { listen } = http.Server.prototype;
  t.teardown(() => Object.assign(http.Server.prototype, { listen }));
  Object.assign(http.Server.prototype, {
    listen(this: Server, ...args: Parameters<Server['listen']>) {
      bound.push(this);
      if (bound.length < 2) return listen.apply(this, args);
      process.nextTick(() =>
        this.emit('error', Object.assign(new Error('no more'), { code: 'EMFILE', syscall: 'listen' })),
      );
      return this;
    },
  });
  await t.rejects(startEmulator({ port: 0, org: ['one', 'two'] }), { code: 'EMFILE' });
  t.same(
    bound.map(({ listening }) => listening),
    [false, false],
  );
});

t.test('a signal ends the process regardless of its clients', async (t) => {
  const file = join(t.testdir({}), 'ready.json');
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const child = spawnCli(t, [
      'start',
      '--port',
      '0',
      '--log',
      'quiet',
      '--drain-timeout',
      '24h',
      '--ready-file',
      file,
    ]);
    const { base_url } = await untilReady(child);
    const { port } = new URL(base_url);
    for (const text of [
      '',
      'GET / HT',
      'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n',
      'POST /api/repos HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{',
    ]) {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
      await once(socket, 'connect');
      await new Promise((flushed) => socket.write(text, flushed));
    }
    t.ok(existsSync(file));
    child.kill(signal);
    t.same(await ended(child), [0, null]);
    t.notOk(existsSync(file), 'the ready file goes when the emulator does');
  }
});

t.test('a signal during the start ends the process without a ready line', async (t) => {
  const file = join(t.testdir({}), 'ready.json');
  for (let delay = 40; delay <= 400; delay += 60) {
    const child = spawnCli(t, ['start', '--port', '0', '--ready-file', file]);
    await pause(delay);
    child.kill('SIGTERM');
    const [code, signal] = await ended(child);
    t.ok(code === 0 || signal === 'SIGTERM', `${delay} ms: ${code} ${signal}`);
    // A signal kills the process if it arrives before the signal handlers are set. Then no ready line may have been
    // printed.
    if (signal) t.same([child.said.out, existsSync(file)], ['', false]);
    t.notOk(existsSync(file));
  }
});

t.test('a log that nobody reads delays neither requests nor shutdown', async (t) => {
  const child = spawnCli(t, ['start', '--port', '0', '--log', 'json', '--drain-timeout', '500ms']);
  child.stderr!.pause();
  const { base_url } = await untilReady(child);
  const path = `/${'long'.repeat(2_000)}`;
  for (let times = 0; times < 300; times++) {
    const response = await fetch(base_url + path);
    await response.text();
    if (response.status !== 404) t.equal(response.status, 404);
  }
  child.kill('SIGTERM');
  t.same(await once(child, 'exit'), [0, null]);
});

t.test('logging stops if the log has no reader or the disk is full', async (t) => {
  for (const full of [true, false]) {
    const err = full ? openSync('/dev/full', 'w') : 'pipe';
    const child = spawnCli(t, ['start', '--port', '0'], { err });
    if (typeof err === 'number') closeSync(err);
    else child.stderr!.destroy();
    const { base_url } = await untilReady(child);
    child.stdout!.destroy();
    for (let times = 0; times < 3; times++) t.equal((await fetch(`${base_url}/_emulator/health`)).status, 200);
    t.equal((await fetch(`${base_url}/api/repos`)).status, 401);
    child.kill('SIGTERM');
    t.same(await once(child, 'exit'), [0, null]);
  }
});

t.test('a ready file of another emulator is not removed', async (t) => {
  const file = join(t.testdir({}), 'ready.json');
  await publishReady(file, 'mine\n');
  writeFileSync(file, 'theirs\n');
  await withdrawReady(file, 'mine\n');
  t.equal(readFileSync(file, 'utf8'), 'theirs\n');
  await withdrawReady(file, 'theirs\n');
  t.notOk(existsSync(file));
  await withdrawReady(file, 'theirs\n');
});

t.test('a ready file is created for its user alone, and neither follows a link nor replaces a file', async (t) => {
  const folder = t.testdir({ target: 'mine' });
  const file = join(folder, 'ready.json');
  await publishReady(file, 'line\n');
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.equal(readFileSync(file, 'utf8'), 'line\n');
  await t.rejects(publishReady(file, 'other\n'), { message: /^The ready file cannot be written: EEXIST/ });
  t.equal(readFileSync(file, 'utf8'), 'line\n');
  rmSync(file);
  for (const target of [join(folder, 'target'), join(folder, 'absent')]) {
    symlinkSync(target, file);
    await t.rejects(publishReady(file, 'other\n'), { message: /EEXIST/ }, 'a link that came meanwhile');
    await clearReady(file);
    t.throws(() => lstatSync(file), { code: 'ENOENT' });
  }
  t.same(readdirSync(folder), ['target']);
  t.equal(readFileSync(join(folder, 'target'), 'utf8'), 'mine');
  // The emulator first writes the ready file under a draft name. Draft names must be random, so that no other user can
  // create a symbolic link with that name in advance.
  const drafts = new Set<string>();
  const watcher = watch(folder, (_, name) => drafts.add(name!));
  await publishReady(file, 'line\n');
  rmSync(file);
  await publishReady(file, 'line\n');
  while (drafts.size < 3) await pause(10);
  watcher.close();
  t.match([...drafts].sort(), ['ready.json', /^ready\.json\.[0-9a-f]{16}\.tmp$/, /\.tmp$/]);
});

t.test('the next start removes the admin token file of a killed process', async (t) => {
  const folder = t.testdir({});
  const begin = (host: string) => {
    const env = { TMPDIR: folder };
    return spawnCli(t, ['start', '--port', '0', '--log', 'quiet', '--host', host], { env });
  };
  const [running, killed] = [begin('0.0.0.0'), begin('0.0.0.0')];
  const file = (await untilReady(running)).admin_token_file!;
  const stale = (await untilReady(killed)).admin_token_file!;
  killed.kill('SIGKILL');
  await once(killed, 'exit');
  t.ok(existsSync(stale));
  // The emulator removes old folders of admin tokens. It must keep folders whose names are only similar.
  const foreign = ['repohost-emulator-abcdef', `${basename(dirname(stale))}x`, 'other'];
  for (const name of foreign) mkdirSync(join(folder, name));
  for (const host of ['0.0.0.0', '127.0.0.1']) {
    const next = begin(host);
    await untilReady(next);
    while (host === '127.0.0.1' && existsSync(dirname(stale))) await pause(10);
    t.notOk(existsSync(dirname(stale)), host);
    t.ok(existsSync(file), 'that of a running process stays');
    next.kill('SIGTERM');
    await once(next, 'exit');
    mkdirSync(dirname(stale), { recursive: true });
  }
  t.match(new Set(readdirSync(folder)), new Set(foreign));
});
