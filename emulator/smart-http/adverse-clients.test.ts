import { createHash, randomFillSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { bytesOf } from '../git/object/bytes.js';
import { type Oid, parseOid, ZERO_OID } from '../git/object/object.js';
import { oidOf, PackBuilder } from '../git/odb/test/pack-builder.js';
import { Workbench } from '../git/test/workbench.js';
import { type Service, startService } from '../test/service.js';
import { packet } from './pkt-line.js';

/** Tests the complete service with clients that disconnect, stall, or send requests at the same time. */

const ZERO = '0'.repeat(40);
const WHO = 'A <a@example.com> 1700000000 +0000';

interface Push {
  readonly tip: Oid;
  readonly body: Buffer;
}

/** Returns a push request that creates `branch` with one commit. The commit has one file with `content`. */
function pushOf(branch: string, content: Buffer | string, old = ZERO): Push {
  const pack = new PackBuilder();
  const blob = Buffer.from(content as string);
  pack.whole('blob', blob);
  const tree = Buffer.concat([Buffer.from('100644 file\0'), Buffer.from(oidOf('blob', blob), 'hex')]);
  pack.whole('tree', tree);
  const commit = `tree ${oidOf('tree', tree)}\nauthor ${WHO}\ncommitter ${WHO}\n\n${branch}\n`;
  pack.whole('commit', commit);
  const tip = oidOf('commit', commit);
  const line = packet(bytesOf(`${old} ${tip} refs/heads/${branch}\0 report-status`));
  return { tip, body: Buffer.concat([line, Buffer.from('0000'), pack.build()]) };
}

async function start(options: Parameters<typeof startService>[0] = {}) {
  const service = await startService(options);
  const { port } = new URL(service.url);
  const headersOf = async (repo: string, target: string, more: Record<string, string>) =>
    [
      `POST /${repo}.git/${target} HTTP/1.1`,
      `host: ${new URL(service.url).host}`,
      `authorization: Basic ${Buffer.from(`t:${await service.token({ repo })}`).toString('base64')}`,
      `content-type: application/x-${target}-request`,
      ...Object.entries(more).map(([name, value]) => `${name}: ${value}`),
      '\r\n',
    ].join('\r\n');
  const dial = (half = false): Socket => connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: half });
  const push = async (repo: string, { body }: Push) => {
    const authorization = `Basic ${Buffer.from(`t:${await service.token({ repo })}`).toString('base64')}`;
    const headers = { authorization, 'content-type': 'application/x-git-receive-pack-request' };
    const response = await service.call('POST', `/${repo}.git/git-receive-pack`, { token: null, headers, body });
    return `${response.status} ${response.text}`;
  };
  const gitOf = (repo: string) => service.world.state.repositories.find(service.emulator.org, repo)!.git;
  const create = async (repo: string) => {
    const { status } = await service.call('POST', '/api/repos', { repo });
    if (status !== 201) throw new Error(`create answered ${status}`);
  };
  return { service, headersOf, dial, push, gitOf, create, [Symbol.asyncDispose]: () => stop(service) };
}

async function stop({ emulator }: Service): Promise<void> {
  await emulator.close();
}

/** Resolves to the received text when the peer closes the connection, or as soon as the text matches `enough`. */
function receive(socket: Socket, enough?: RegExp): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.on('data', (piece: Buffer) => {
      text += piece.toString('latin1');
      if (enough?.test(text)) resolve(text);
    });
    socket.on('error', () => resolve(text));
    socket.on('close', () => resolve(text));
  });
}

t.test('a client that expects 100-continue gets it, and its push succeeds', async (t) => {
  await using s = await start();
  await s.create('r');
  const { body, tip } = pushOf('main', 'hello');
  const socket = s.dial();
  const length = String(body.length);
  socket.write(await s.headersOf('r', 'git-receive-pack', { expect: '100-continue', 'content-length': length }));
  t.match(await receive(socket, /\r\n\r\n/), /^HTTP\/1\.1 100 Continue\r\n/);
  socket.write(body);
  t.match(await receive(socket, /ok refs/), /^HTTP\/1\.1 200 OK[\s\S]*unpack ok\n[\s\S]*ok refs\/heads\/main/);
  socket.destroy();
  t.equal(s.gitOf('r').refs.headOid, tip);
});

t.test('a client may close its half when it has sent everything', async (t) => {
  await using s = await start();
  await s.create('r');
  const { body } = pushOf('main', 'hello');
  const socket = s.dial(true);
  socket.write(await s.headersOf('r', 'git-receive-pack', { 'content-length': String(body.length) }));
  socket.end(body);
  t.match(await receive(socket, /ok refs/), /unpack ok/);
  socket.destroy();
});

t.test('a client that sends single bytes, or stops, does not block others', async (t) => {
  await using s = await start({ limits: { idleTimeout: 600 } });
  await s.create('r');
  const slow = pushOf('slow', 'hello slowly');
  const dribble = s.dial();
  dribble.write(await s.headersOf('r', 'git-receive-pack', { 'content-length': String(slow.body.length) }));
  const silent = s.dial();
  silent.write(await s.headersOf('r', 'git-receive-pack', { 'content-length': '1000' }));
  silent.write(slow.body.subarray(0, 150));
  const [dribbled, silenced] = [receive(dribble, /ok refs/), receive(silent, / 408 /)];
  for (let at = 0; at < slow.body.length; at++) {
    dribble.write(slow.body.subarray(at, at + 1));
    if (at % 25 === 0) await wait(1);
    if (at === 100) t.match(await s.push('r', pushOf('fast', 'hello fast')), /ok refs\/heads\/fast/, 'in between');
  }
  t.match(await dribbled, /ok refs\/heads\/slow/);
  t.match(await silenced, /^HTTP\/1\.1 408 /, 'who stops is told so');
  t.equal(s.service.world.engine.memory.used, s.gitOf('r').objects.heldBytes, 'nothing of theirs is held');
  dribble.destroy();
  silent.destroy();
});

t.test('an aborted push or clone leaves no objects and no memory', async (t) => {
  await using s = await start();
  await s.create('r');
  const big = pushOf('big', randomFillSync(Buffer.alloc(12_000_000)));
  await s.push('r', big);
  const git = s.gitOf('r');
  const held = s.service.world.engine.memory.used;
  const { size } = git.objects;
  const other = pushOf('other', randomFillSync(Buffer.alloc(400_000)));
  for (let round = 0; round < 20; round++) {
    const socket = s.dial();
    socket.on('error', () => undefined);
    socket.write(await s.headersOf('r', 'git-receive-pack', { 'content-length': String(other.body.length) }));
    socket.write(other.body.subarray(0, Math.floor((other.body.length * round) / 20)));
    await wait(round % 4);
    socket.destroy();
  }
  const want = Buffer.concat([
    packet(bytesOf('command=fetch\n')),
    Buffer.from('0001'),
    packet(bytesOf(`want ${big.tip}\n`)),
  ]);
  const request = Buffer.concat([want, packet(bytesOf('done\n')), Buffer.from('0000')]);
  for (let round = 0; round < 10; round++) {
    const socket = s.dial();
    const more = { 'content-length': String(request.length), 'git-protocol': 'version=2' };
    socket.write(await s.headersOf('r', 'git-upload-pack', more));
    socket.write(request);
    // Read only the start of the response, and disconnect a little later.
    await new Promise((resolve) => socket.once('data', resolve));
    socket.pause();
    await wait(round);
    socket.destroy();
  }
  t.match(await s.push('r', other), /ok refs\/heads\/other/, 'no lock and no quarantine is left');
  t.equal(git.objects.size, size + 3, 'and no object');
  const grown = s.service.world.engine.memory.used - held;
  t.ok(grown < 3_000_000, `and no memory: ${grown}`);
});

t.test('zip bombs are refused at the limit', async (t) => {
  await using s = await start({ limits: { maxObjectBytes: 1e6, maxInflatedBytes: 3e6, maxObjects: 50 } });
  await s.create('r');
  const push = (pack: PackBuilder) => {
    const line = packet(bytesOf(`${ZERO} ${'1'.repeat(40)} refs/heads/main\0 report-status`));
    return s.push('r', { tip: ZERO_OID, body: Buffer.concat([line, Buffer.from('0000'), pack.build()]) });
  };
  const blob = new PackBuilder();
  blob.whole('blob', Buffer.alloc(200_000_000));
  t.match(await push(blob), /^200 [\s\S]*unpack object of 200000000 bytes exceeds the limit of 1000000 bytes\n/);
  const many = new PackBuilder();
  for (let index = 0; index < 51; index++) many.whole('blob', `${index}`);
  t.match(await push(many), /unpack pack has 51 objects, more than the limit of 50\n/);
  const sum = new PackBuilder();
  for (let index = 0; index < 4; index++) sum.whole('blob', Buffer.alloc(900_000, index));
  t.match(await push(sum), /unpack pack inflates to more than the limit of 3000000 bytes\n/);
  t.equal(s.gitOf('r').objects.size, 0);
  t.equal(s.service.world.engine.memory.used, 0);
});

t.test('concurrent pushes to different refs all succeed, and to the same ref exactly one', async (t) => {
  await using s = await start();
  const repos = ['one', 'two', 'three', 'four'];
  for (const repo of repos) await s.create(repo);
  const pushes = repos.flatMap((repo) =>
    Array.from({ length: 8 }, (_, index) => ({ repo, push: pushOf(`b${index}`, `${repo} ${index}`) })),
  );
  const reports = await Promise.all(pushes.map(({ repo, push }) => s.push(repo, push)));
  for (const [index, report] of reports.entries()) t.match(report, `ok refs/heads/b${index % 8}\n`);
  for (const { repo, push } of pushes) t.ok(s.gitOf(repo).objects.find(push.tip) >= 0);

  const rivals = Array.from({ length: 12 }, (_, index) => pushOf('main', `rival ${index}`));
  const verdicts = await Promise.all(rivals.map((rival) => s.push('one', rival)));
  const winners = verdicts.flatMap((verdict, index) => (/ok refs\/heads\/main\n/.test(verdict) ? [index] : []));
  t.equal(winners.length, 1);
  t.equal(verdicts.filter((verdict) => /ng refs\/heads\/main reference already exists/.test(verdict)).length, 11);
  t.equal(s.gitOf('one').refs.headOid, rivals[winners[0]!]!.tip);
  const losers = rivals.filter((_, index) => index !== winners[0]);
  t.ok(
    losers.every(
      ({ body }) => s.gitOf('one').objects.find(parseOid(createHash('sha1').update(body).digest('hex'))) < 0,
    ),
  );
  t.equal(s.gitOf('one').objects.size, (8 + 1) * 3, 'what the losers brought is gone');
});

t.test('a file of 100 MB goes in and comes out', async (t) => {
  await using s = await start();
  await using bench = await Workbench.create();
  await s.create('r');
  await bench.git('.', 'init', '-q', '-b', 'main', 'work');
  const bytes = randomFillSync(Buffer.allocUnsafe(100 * 1024 * 1024));
  await writeFile(`${bench.path}/work/large.bin`, bytes);
  await bench.git('work', '-c', 'core.compression=0', 'add', '.');
  await bench.git('work', 'commit', '-q', '-m', 'large');
  const url = await s.service.remote('r');
  let ticks = 0;
  const ticker = setInterval(() => ticks++, 5);
  await bench.git('work', '-c', 'core.compression=0', 'push', '-q', url, 'main');
  t.ok(ticks > 20, `others were served meanwhile: ${ticks}`);
  await bench.git('.', 'clone', '-q', '--bare', url, 'copy.git');
  clearInterval(ticker);
  t.equal(
    await bench.git('copy.git', 'rev-parse', 'main:large.bin'),
    createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex'),
  );
  t.ok(s.service.world.engine.memory.used < 1.1 * bytes.length, 'it is held once');
});
