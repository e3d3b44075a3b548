import { createHash } from 'node:crypto';
import { deflateSync } from 'node:zlib';
import t from 'tap';
import { bytesOf } from '../git/object/bytes.js';
import type { GitRepository } from '../git/repository/repository.js';
import { linearHistory } from '../git/test/history.js';
import { createRepository } from '../git/test/memory-repository.js';
import { Workbench } from '../git/test/workbench.js';
import { packet } from './pkt-line.js';
import { commitsBroughtBy, losesCommits } from './receive-pack.js';
import { TestServer, type TestServerOptions } from './test/test-server.js';

const ZERO = '0'.repeat(40);

interface Stage extends AsyncDisposable {
  readonly bench: Workbench;
  readonly repository: GitRepository;
  readonly server: TestServer;
}

async function stage(options: TestServerOptions = {}, count = 12): Promise<Stage> {
  const bench = await Workbench.create();
  const repository = createRepository();
  const server = await TestServer.start(repository, options);
  if (count > 0) await bench.import('work', linearHistory(count));
  return {
    bench,
    repository,
    server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await bench[Symbol.asyncDispose]();
    },
  };
}

/** Returns all refs of the repository, one line each: the object id and the name. */
function refsOf(repository: GitRepository): string[] {
  return [...repository.refs.entries()].map(([name, { oid }]) => `${oid} ${name}`);
}

t.test('a push creates, fast-forwards, forces and deletes', async (t) => {
  await using s = await stage();
  const { bench, repository, server } = s;
  await bench.git('work', 'push', '-q', server.url(), 'main', '--tags');
  const local = await bench.git('work', 'for-each-ref', '--format=%(objectname) %(refname)');
  t.same(refsOf(repository), local.split('\n'), 'branches and tags arrive as they are');

  await bench.git('work', 'commit', '-q', '--allow-empty', '-m', 'next');
  await bench.git('work', 'push', '-q', server.url(), 'main');
  t.equal(repository.refs.get(bytesOf('refs/heads/main')), await bench.git('work', 'rev-parse', 'main'));

  await bench.git('work', 'branch', 'topic', 'main~3');
  await bench.git('work', 'push', '-q', server.url(), 'topic', 'main~5:refs/heads/older');
  const back = await bench.try('work', 'push', '-q', server.url(), 'main~8:topic');
  t.not(back.status, 0, 'git itself asks for force');
  await bench.git('work', 'push', '-q', '--force', server.url(), 'main~8:topic');
  t.equal(repository.refs.get(bytesOf('refs/heads/topic')), await bench.git('work', 'rev-parse', 'main~8'));

  await bench.git('work', 'push', '-q', server.url(), ':topic', ':refs/heads/older');
  t.equal(repository.refs.get(bytesOf('refs/heads/topic')), undefined);
  t.equal(repository.refs.get(bytesOf('refs/heads/older')), undefined);
  const no = await bench.try('work', 'push', server.url(), ':topic');
  t.match(no.stderr, /remote ref does not exist/);
});

t.test('every protocol version pushes', async (t) => {
  for (const version of ['0', '1', '2']) {
    await using s = await stage();
    await s.bench.git('work', '-c', `protocol.version=${version}`, 'push', '-q', s.server.url(), 'main');
    t.equal(s.repository.refs.get(bytesOf('refs/heads/main')), await s.bench.git('work', 'rev-parse', 'main'), version);
  }
});

t.test('large pushes probe first and come chunked', async (t) => {
  await using s = await stage();
  await s.bench.git('work', '-c', 'http.postBuffer=1000', 'push', '-q', s.server.url(), 'main');
  const posts = s.server.seen.filter((request) => request.method === 'POST');
  t.equal(posts.length, 2, 'a probe, and the push');
  t.equal(posts[0]!.headers['content-length'], '4');
  t.equal(posts[1]!.headers['transfer-encoding'], 'chunked');
  t.equal(s.repository.refs.size, 1);
});

t.test('exactly what git refuses is refused', async (t) => {
  await using s = await stage();
  const { bench, repository, server } = s;
  await bench.git('work', 'push', '-q', server.url(), 'main');
  const tree = await bench.git('work', 'rev-parse', 'main^{tree}');
  const refuse = async (reason: RegExp, ...specs: string[]) => {
    const before = refsOf(repository);
    const { status, stderr } = await bench.try('work', 'push', server.url(), ...specs);
    t.not(status, 0, specs.join(' '));
    t.match(stderr, reason, specs.join(' '));
    t.same(refsOf(repository), before);
  };
  await refuse(/remote rejected.*deletion of the current branch prohibited/, ':main');
  await refuse(/remote rejected.*deny updating a hidden ref/, 'main:refs/namespaces/ephemeral/refs/heads/x');
  await refuse(/remote rejected.*funny refname/, 'main:refs/onelevel');
  await refuse(/remote rejected.*invalid new value/, `${tree}:refs/heads/tree`);
  await refuse(/remote rejected.*refname conflict/, 'main:refs/heads/main/sub');
  const { stderr } = await bench.try('work', 'push', server.url(), 'main:refs/heads/fine', 'main:refs/onelevel');
  t.match(stderr, /\[new branch\]\s+main -> fine/);
  t.ok(repository.refs.get(bytesOf('refs/heads/fine')), 'the other ref is done');
  await bench.git('work', 'push', '-q', server.url(), `${tree}:refs/tags/tree`);
  t.equal(repository.refs.get(bytesOf('refs/tags/tree')), tree, 'a tag may name anything');
  await bench.git('work', 'push', '-q', server.url(), ':fine', 'main:refs/heads/fine/now-a-folder');
  t.ok(repository.refs.get(bytesOf('refs/heads/fine/now-a-folder')), 'deletions come first');
});

t.test('an atomic push is done as a whole or not at all', async (t) => {
  await using s = await stage();
  const { bench, repository, server } = s;
  await bench.git('work', 'push', '-q', server.url(), 'main');
  const before = refsOf(repository);
  const failed = await bench.try('work', 'push', '--atomic', server.url(), 'main:a', 'main:refs/onelevel', 'main:b');
  t.match(failed.stderr, /atomic push failure/);
  t.same(refsOf(repository), before);
  await bench.git('work', 'push', '-q', '--atomic', server.url(), 'main:a', 'main:b');
  t.equal(repository.refs.size, 3);
});

t.test('the reason of the policy is shown by git, and the caller gets the moved refs', async (t) => {
  const asked: string[] = [];
  await using s = await stage({
    updateHook(update) {
      const forced = losesCommits(update);
      asked.push(`${update.change.name} forced=${forced} new=${commitsBroughtBy(update).length}`);
      return forced ? 'denied by policy (no-force-push)' : undefined;
    },
  });
  const { bench, repository, server } = s;
  await bench.git('work', 'push', '-q', '-o', 'one', '-o', 'zwei', server.url(), 'main~2:refs/heads/main');
  await bench.git('work', 'push', '-q', server.url(), 'main');
  const [old, tip] = [await bench.git('work', 'rev-parse', 'main~2'), await bench.git('work', 'rev-parse', 'main')];
  const forced = await bench.try('work', 'push', '--force', server.url(), 'main~4:main', 'main:other');
  t.match(forced.stderr, /remote rejected.*denied by policy \(no-force-push\)/);
  t.equal(repository.refs.get(bytesOf('refs/heads/main')), tip);
  t.same(asked, [
    'refs/heads/main forced=false new=10',
    'refs/heads/main forced=false new=2',
    'refs/heads/main forced=true new=0',
    'refs/heads/other forced=false new=0',
  ]);
  t.same(
    server.moved.filter((moved) => moved.length > 0),
    [
      [{ name: 'refs/heads/main', old: ZERO, new: old }],
      [{ name: 'refs/heads/main', old, new: tip }],
      [{ name: 'refs/heads/other', old: ZERO, new: tip }],
    ],
  );
});

t.test('namespaces are kept apart', async (t) => {
  await using s = await stage();
  const { bench, repository, server } = s;
  await bench.git('work', 'push', '-q', server.url(), 'main~2:refs/heads/main');
  await bench.git('work', 'push', '-q', server.url('ephemeral'), 'main', 'main~1:refs/heads/x');
  const oid = (revision: string) => bench.git('work', 'rev-parse', revision);
  t.same(refsOf(repository), [
    `${await oid('main~2')} refs/heads/main`,
    `${await oid('main')} refs/namespaces/ephemeral/refs/heads/main`,
    `${await oid('main~1')} refs/namespaces/ephemeral/refs/heads/x`,
  ]);
  t.equal(
    await bench.git('work', 'ls-remote', server.url()),
    `${await oid('main~2')}\tHEAD\n${await oid('main~2')}\trefs/heads/main`,
  );
  t.equal(
    await bench.git('work', 'ls-remote', server.url('ephemeral')),
    `${await oid('main')}\tHEAD\n${await oid('main')}\trefs/heads/main\n${await oid('main~1')}\trefs/heads/x`,
  );
  await bench.git('work', 'push', '-q', server.url('ephemeral'), ':x');
  await bench.git('work', 'push', '-q', server.url('import'), 'main');
  t.equal(repository.refs.get(bytesOf('refs/heads/main')), await oid('main'), 'import writes the normal refs');
});

t.test('thousands of refs go in one push', async (t) => {
  await using s = await stage({}, 3);
  const { bench, repository, server } = s;
  // Use only 500 refs, because the time that git needs grows with the square of their number.
  const updates = Array.from({ length: 500 }, (_, index) => `create refs/heads/b/${index} HEAD\n`).join('');
  await bench.feed(updates, 'work', 'update-ref', '--stdin');
  await bench.git('work', 'pack-refs', '--all');
  await bench.git('work', 'push', '-q', server.url(), 'refs/heads/*:refs/heads/*');
  t.equal(repository.refs.size, 501);
  const tip = repository.refs.headOid!;
  const commands = Array.from({ length: 5000 }, (_, index) => `${ZERO} ${tip} refs/heads/c/${index}`);
  const report = await (await post(server, requestOf(commands, packOf([])))).text();
  t.equal(report.match(/ok refs\/heads\/c\//g)?.length, 5000);
  t.equal((await bench.git('work', 'ls-remote', server.url())).split('\n').length, 5502);
});

t.test('a shallow clone pushes what it made', async (t) => {
  await using s = await stage();
  const { bench, repository, server } = s;
  await bench.git('work', 'push', '-q', server.url(), 'main');
  await bench.git('.', 'clone', '-q', '--depth', '2', `file://${bench.path}/work`, 'shallow');
  await bench.git('shallow', 'commit', '-q', '--allow-empty', '-m', 'on top');
  await bench.git('shallow', 'push', '-q', server.url(), 'main');
  t.equal(repository.refs.get(bytesOf('refs/heads/main')), await bench.git('shallow', 'rev-parse', 'main'));
  const elsewhere = createRepository();
  await using empty = await TestServer.start(elsewhere);
  const { stderr } = await bench.try('shallow', 'push', empty.url(), 'main');
  t.match(stderr, /remote rejected.*shallow update not allowed/);
  t.equal(elsewhere.refs.size, 0);
});

/** Returns one pack entry: the type and size, then the deflated body. */
function entry(type: number, body: Buffer | string, size = body.length): Buffer {
  const header = [(type << 4) | (size & 15)];
  for (let rest = Math.floor(size / 16); rest > 0; rest = Math.floor(rest / 128)) {
    header[header.length - 1]! |= 0x80;
    header.push(rest & 0x7f);
  }
  return Buffer.concat([Buffer.from(header), deflateSync(body)]);
}

function packOf(entries: Buffer[], { count = entries.length, version = 2, magic = 'PACK' } = {}): Buffer {
  const head = Buffer.alloc(12);
  head.write(magic, 'latin1');
  head.writeUInt32BE(version, 4);
  head.writeUInt32BE(count, 8);
  const body = Buffer.concat([head, ...entries]);
  return Buffer.concat([body, createHash('sha1').update(body).digest()]);
}

function oidOf(type: string, body: string | Buffer): string {
  return createHash('sha1').update(`${type} ${body.length}\0`).update(body).digest('hex');
}

const WHO = 'A <a@example.com> 1700000000 +0000';
const EMPTY_TREE = oidOf('tree', '');
const COMMIT = `tree ${EMPTY_TREE}\nauthor ${WHO}\ncommitter ${WHO}\n\nhello\n`;
const TIP = oidOf('commit', COMMIT);
const GOOD = [entry(1, COMMIT), entry(2, '')];

function requestOf(commands: string[], pack: Buffer | undefined, capabilities = 'report-status'): Buffer {
  const lines = commands.map((line, index) => packet(bytesOf(index === 0 ? `${line}\0 ${capabilities}` : line)));
  return Buffer.concat([...lines, Buffer.from('0000'), ...(pack ? [pack] : [])]);
}

async function post(server: TestServer, body: Buffer, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${server.url()}/git-receive-pack`, {
    method: 'POST',
    body: new Uint8Array(body),
    headers: { 'content-type': 'application/x-git-receive-pack-request', ...headers },
  });
}

/**
 * Returns the parts of a push report that must equal Git's report: `unpack ok` or `unpack error`, then `ok` or `ng` for
 * each ref.
 */
function classOf(report: string): string {
  const lines = [...report.matchAll(/(?:^|[0-9a-f]{4})(unpack|ok|ng) (\S+)/g)];
  return lines
    .map(([, word, rest]) => (word === 'unpack' ? `unpack ${rest === 'ok' ? 'ok' : 'error'}` : `${word} ${rest}`))
    .join(', ');
}

t.test('a corrupt pack gets the verdict of git receive-pack, and leaves nothing', async (t) => {
  const good = packOf(GOOD);
  const flipped = Buffer.from(good);
  flipped[good.length - 1]! ^= 1;
  const blob = 'x'.repeat(100);
  const loop = (base: string, target: string) =>
    Buffer.concat([Buffer.from([0x70 | 4]), Buffer.from(base, 'hex'), deflateSync(target)]);
  const cases: Record<string, Buffer> = {
    good,
    'bad magic': packOf(GOOD, { magic: 'PUCK' }),
    'version 1': packOf(GOOD, { version: 1 }),
    'version 4': packOf(GOOD, { version: 4 }),
    'version 2^32-1': packOf(GOOD, { version: 0xffffffff }),
    'count 0': packOf(GOOD, { count: 0 }),
    'count + 1': packOf(GOOD, { count: 3 }),
    'count - 1': packOf(GOOD, { count: 1 }),
    'count 2^32-1': packOf(GOOD, { count: 0xffffffff }),
    'wrong checksum': flipped,
    'no checksum': good.subarray(0, good.length - 20),
    'type 0': packOf([...GOOD, entry(0, blob)]),
    'type 5': packOf([...GOOD, entry(5, blob)]),
    'size too small': packOf([...GOOD, entry(3, blob, 99)]),
    'size too large': packOf([...GOOD, entry(3, blob, 101)]),
    'size enormous': packOf([...GOOD, entry(3, blob, 2 ** 45)]),
    'no zlib': packOf([...GOOD, Buffer.concat([Buffer.from([0x35]), Buffer.from('hello')])]),
    'ofs-delta to itself': packOf([...GOOD, Buffer.concat([Buffer.from([0x64, 0]), deflateSync('abcd')])]),
    'ofs-delta before the start': packOf([
      ...GOOD,
      Buffer.concat([Buffer.from([0x64, 0xff, 0x7f]), deflateSync('abcd')]),
    ]),
    'ref-delta without base': packOf([...GOOD, loop('1'.repeat(40), 'abcd')]),
    'only the commit': packOf([entry(1, COMMIT)]),
    'only the tree': packOf([entry(2, '')]),
    nothing: packOf([]),
    'the same twice': packOf([...GOOD, ...GOOD]),
    'bad author': packOf([entry(1, COMMIT.replaceAll('<a@', 'a@')), entry(2, '')]),
  };
  for (let length = 0; length <= 32; length += 4) cases[`cut at ${length}`] = good.subarray(0, length);
  await using bench = await Workbench.create();
  for (const [name, pack] of Object.entries(cases)) {
    const repository = createRepository();
    await using server = await TestServer.start(repository);
    const request = requestOf([`${ZERO} ${TIP} refs/heads/main`], pack);
    const folder = name.replaceAll(/\W/g, '-');
    await bench.git('.', 'init', '-q', '--bare', folder);
    await bench.git(folder, 'config', 'receive.fsckObjects', 'true');
    const oracle = await bench.run('.', 'git', ['receive-pack', '--stateless-rpc', folder], request);
    const response = await post(server, request);
    t.equal(response.status, 200);
    const report = Buffer.from(await response.arrayBuffer()).toString('latin1');
    t.equal(classOf(report), classOf(oracle.stdout), `${name}: ${JSON.stringify(report)}`);
    t.equal(repository.refs.size, classOf(report).endsWith('ok refs/heads/main') ? 1 : 0, name);
    if (repository.refs.size === 0) t.equal(repository.objects.size, 0, `${name}: no object stays`);
  }
});

t.test('commands are compared with the refs one by one', async (t) => {
  const repository = createRepository();
  await using server = await TestServer.start(repository);
  const report = async (commands: string[], pack?: Buffer, capabilities?: string) =>
    (await (await post(server, requestOf(commands, pack, capabilities))).text()).replaceAll(
      /[0-9a-f]{4}(?=unpack|ok|ng|0000)|0000$/g,
      '',
    );
  t.equal(
    await report([`${ZERO} ${TIP} refs/heads/a`, `${ZERO} ${TIP} refs/heads/b`], packOf(GOOD)),
    'unpack ok\nok refs/heads/a\nok refs/heads/b\n',
  );
  t.match(await report([`${ZERO} ${TIP} refs/heads/a`], packOf([])), 'ng refs/heads/a reference already exists');
  t.match(await report([`${TIP} ${ZERO} refs/heads/c`]), 'ng refs/heads/c reference does not exist');
  t.match(await report([`${EMPTY_TREE} ${ZERO} refs/heads/a`]), 'ng refs/heads/a incorrect old value provided');
  t.match(await report([`${ZERO} ${ZERO} refs/heads/c`]), 'ok refs/heads/c');
  t.match(
    await report([`${ZERO} ${'1'.repeat(40)} refs/heads/c`], packOf([])),
    'ng refs/heads/c missing necessary objects',
  );
  const stale = await report(
    [`${EMPTY_TREE} ${ZERO} refs/heads/a`, `${TIP} ${ZERO} refs/heads/b`],
    undefined,
    'report-status atomic',
  );
  t.match(stale, 'ng refs/heads/b atomic transaction failed');
  t.equal(repository.refs.size, 2);
});

t.test('malformed requests get an error', async (t) => {
  const repository = createRepository();
  await using server = await TestServer.start(repository, { limits: { refUpdates: 3, pushBytes: 400 } });
  const text = async (body: Buffer | string) => (await post(server, Buffer.from(body as string))).text();
  t.equal(await text('0000'), '', 'the probe');
  t.equal(await text(''), '');
  t.match(await text('zzzz'), /^[0-9a-f]{4}ERR protocol error: bad line length/);
  t.match(await text(packet(bytesOf('hello'))), /ERR protocol error: expected old\/new\/ref/);
  t.match(
    await text(`${packet(bytesOf(`${ZERO} ${TIP} refs/heads/a\0 object-format=sha256`)).toString()}0000`),
    /ERR mismatched object format/,
  );
  const many = ['a', 'b', 'c', 'd'].map((name) => `${ZERO} ${TIP} refs/heads/${name}`);
  const tooMany = await (await post(server, requestOf(many, packOf(GOOD)))).text();
  t.match(tooMany, 'unpack push has 4 ref updates, but at most 3 are allowed');
  t.match(tooMany, 'ng refs/heads/a unpacker error');
  const random = entry(3, Buffer.from(Array.from({ length: 900 }, (_, index) => (index * 7919) % 251)));
  t.match(
    await (await post(server, requestOf(many.slice(0, 1), packOf([...GOOD, random])))).text(),
    'unpack pack is larger than 400 bytes (--max-push-bytes)',
  );
  t.equal((await post(server, Buffer.from('0000'), { 'content-type': 'text/plain' })).status, 415);
  t.equal((await post(server, Buffer.from('0000'), { 'content-encoding': 'br' })).status, 415);
  t.equal(repository.refs.size, 0);
  t.equal(repository.objects.size, 0);
});

t.test('a client that disconnects has changed nothing', async (t) => {
  const repository = createRepository();
  await using server = await TestServer.start(repository);
  const request = requestOf([`${ZERO} ${TIP} refs/heads/main`], packOf(GOOD));
  for (let length = 1; length < request.length; length += 11) {
    const gone = new AbortController();
    async function* body(): AsyncIterable<Uint8Array> {
      yield request.subarray(0, length);
      await new Promise((resolve) => setTimeout(resolve, 2));
      gone.abort();
    }
    await fetch(`${server.url()}/git-receive-pack`, {
      method: 'POST',
      body: body(),
      duplex: 'half',
      signal: gone.signal,
      headers: { 'content-type': 'application/x-git-receive-pack-request' },
    } as unknown as RequestInit).catch(() => undefined);
  }
  t.equal(repository.refs.size, 0);
  t.equal(repository.objects.size, 0);
  t.equal((await post(server, request)).status, 200);
  t.equal(repository.refs.size, 1, 'and the next push is served');
});
