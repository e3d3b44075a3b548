import { createHash } from 'node:crypto';
import t from 'tap';
import { bytesOf } from '../git/object/bytes.js';
import { ObjectStore, type ObjectStoreOptions } from '../git/odb/object-store.js';
import { oidOf, PackBuilder } from '../git/odb/test/pack-builder.js';
import { createRepository } from '../git/test/memory-repository.js';
import { Workbench } from '../git/test/workbench.js';
import { MemoryBudget } from '../memory/memory-budget.js';
import { PackSpool } from './pack-spool.js';
import { packet } from './pkt-line.js';
import { TestServer, type TestServerOptions } from './test/test-server.js';

const ZERO = '0'.repeat(40);
const WHO = 'A <a@example.com> 1700000000 +0000';
const EMPTY_TREE = oidOf('tree', '');

const commitOn = (tree: string, ...parents: string[]) =>
  `tree ${tree}\n${parents.map((parent) => `parent ${parent}\n`).join('')}author ${WHO}\ncommitter ${WHO}\n\nhello\n`;
const numbered = (index: number) => createHash('sha1').update(`${index}`).digest('hex');

interface Verdict {
  readonly unpack: string;
  /** Reason why the update of each ref was refused, by branch name. Empty if the update was made. */
  readonly refs: Readonly<Record<string, string>>;
}

/** Starts a server for one test. Returns functions that push to it. */
async function open(options: TestServerOptions = {}, repository = createRepository()) {
  const server = await TestServer.start(repository, options);
  const bodyOf = (tips: Record<string, string>, pack: PackBuilder): Buffer => {
    const commands = Object.entries(tips).map(([name, tip]) => `${ZERO} ${tip} refs/heads/${name}`);
    const lines = commands.map((line, index) => packet(bytesOf(index === 0 ? `${line}\0 report-status` : line)));
    return Buffer.concat([...lines, Buffer.from('0000'), pack.build()]);
  };
  const send = async (body: Buffer): Promise<Verdict> => {
    const response = await fetch(`${server.url()}/git-receive-pack`, {
      method: 'POST',
      body: new Uint8Array(body),
      headers: { 'content-type': 'application/x-git-receive-pack-request' },
    });
    const report = await response.text();
    const refs: Record<string, string> = {};
    for (const [, word, name, reason] of report.matchAll(/(ok|ng) refs\/heads\/(\S+)(?: ([^\n]*))?\n/g)) {
      refs[name!] = word === 'ok' ? '' : reason!;
    }
    return { unpack: /unpack ([^\n]*)\n/.exec(report)![1]!, refs };
  };
  const push = (tips: Record<string, string>, pack: PackBuilder) => send(bodyOf(tips, pack));
  return { repository, server, push, send, bodyOf, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** Returns a valid pack that contains one commit with an empty tree. `tip` is the id of the commit. */
function goodPack(): { pack: PackBuilder; tip: string } {
  const pack = new PackBuilder();
  pack.whole('tree', '');
  pack.whole('commit', commitOn(EMPTY_TREE));
  return { pack, tip: oidOf('commit', commitOn(EMPTY_TREE)) };
}

t.test('each of many refs is checked by its own objects', async (t) => {
  await using s = await open();
  const { pack, tip } = goodPack();
  const absent = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`bad-${index}`, numbered(index)]));
  const { unpack, refs } = await s.push({ ...absent, good: tip }, pack);
  t.equal(unpack, 'ok');
  t.equal(refs.good, '');
  t.equal(Object.values(refs).filter((reason) => reason === 'missing necessary objects').length, 200);
  t.same(
    [...s.repository.refs.entries()].map(([name]) => name),
    ['refs/heads/good'],
  );
});

t.test('a pack with links to missing objects is refused, whatever the refs point to', async (t) => {
  const torn: Record<string, (pack: PackBuilder) => void> = {
    'no tree': (pack) => pack.whole('commit', commitOn(numbered(1))),
    'no parent': (pack) => pack.whole('commit', commitOn(EMPTY_TREE, numbered(1))),
    'no blob': (pack) => pack.whole('tree', `100644 a\0${'x'.repeat(20)}`),
    'a blob for a tree': (pack) => pack.whole('commit', commitOn(oidOf('blob', 'b'), EMPTY_TREE)),
    'no object of a tag': (pack) => pack.whole('tag', `object ${numbered(1)}\ntype blob\ntag v\ntagger ${WHO}\n\nv\n`),
  };
  await using bench = await Workbench.create();
  for (const [name, tear] of Object.entries(torn)) {
    for (const fsck of ['strict', 'off'] as const) {
      await using s = await open({ fsck });
      const { pack, tip } = goodPack();
      pack.whole('blob', 'b');
      tear(pack);
      const { unpack, refs } = await s.push({ good: tip }, pack);
      if (fsck === 'strict') {
        const folder = `${name.replaceAll(' ', '-')}.git`;
        await bench.git('.', 'init', '-q', '--bare', folder);
        await bench.git(folder, 'config', 'receive.fsckObjects', 'true');
        const oracle = await bench.run(
          '.',
          'git',
          ['receive-pack', '--stateless-rpc', folder],
          s.bodyOf({ good: tip }, pack),
        );
        t.match(oracle.stdout, /unpack (?!ok)[\s\S]*ng refs\/heads\/good unpacker error/, name);
        t.match(unpack, /^did not receive expected object [0-9a-f]{40}$/, name);
        t.equal(refs.good, 'unpacker error');
      } else t.same({ unpack, refs }, { unpack: 'ok', refs: { good: 'missing necessary objects' } }, name);
      t.equal(s.repository.objects.size, 0, 'nothing of it can be asked for');
    }
  }
});

t.test('trees that cannot be read are refused even without fsck, as git does', async (t) => {
  await using bench = await Workbench.create();
  const oid = '\x01'.repeat(20);
  const trees = {
    'no name': `160000 \0${oid}`,
    'no mode': ` a\0${oid}`,
    'no octal mode': `16x a\0${oid}`,
    short: '160000 a\0',
  };
  for (const [name, tree] of Object.entries(trees)) {
    await using s = await open({ fsck: 'off' });
    const pack = new PackBuilder();
    pack.whole('tree', tree);
    const tip = oidOf('commit', commitOn(oidOf('tree', tree)));
    pack.whole('commit', commitOn(oidOf('tree', tree)));
    const folder = `${name.replaceAll(' ', '-')}.git`;
    await bench.git('.', 'init', '-q', '--bare', folder);
    const oracle = await bench.run(
      '.',
      'git',
      ['receive-pack', '--stateless-rpc', folder],
      s.bodyOf({ main: tip }, pack),
    );
    t.match(oracle.stdout, 'ng refs/heads/main missing necessary objects', name);
    t.same((await s.push({ main: tip }, pack)).refs, { main: 'missing necessary objects' }, name);
    t.equal(s.repository.objects.size, 0, name);
  }
});

t.test('an object that hashes to the id of another is refused, and the first one stays', async (t) => {
  /**
   * SHA-1 with one artificial collision: the blobs `A` and `B` get the same id. No real pair of blobs with the same id
   * is known.
   */
  const hash: NonNullable<ObjectStoreOptions['hash']> = (bytes, start, end, target, at) => {
    const text = bytes.toString('latin1', start, end);
    createHash('sha1')
      .update(text === 'blob 1\0B' ? 'blob 1\0A' : text, 'latin1')
      .digest()
      .copy(target, at);
  };
  await using s = await open({}, createRepository(bytesOf('main'), new ObjectStore({ hash })));
  const tree = Buffer.concat([Buffer.from('100644 f\0'), Buffer.from(oidOf('blob', 'A'), 'hex')]);
  const packWith = (message: string, ...blobs: string[]) => {
    const pack = new PackBuilder();
    for (const blob of blobs) pack.whole('blob', blob);
    pack.whole('tree', tree);
    const commit = `${commitOn(oidOf('tree', tree))}${message}\n`;
    pack.whole('commit', commit);
    return [{ [message]: oidOf('commit', commit) }, pack] as const;
  };
  t.match(await s.push(...packWith('both', 'A', 'B')), { unpack: /^SHA1 COLLISION/, refs: { both: 'unpacker error' } });
  t.same((await s.push(...packWith('first', 'A'))).refs, { first: '' });
  t.match(await s.push(...packWith('second', 'B')), { unpack: /^SHA1 COLLISION/, refs: { second: 'unpacker error' } });
  const { objects } = s.repository;
  t.equal(objects.read(objects.find(oidOf('blob', 'A'))).toString(), 'A');
  t.equal(objects.size, 3);
});

t.test('deletions in a push with a corrupt pack are executed, and nothing of the pack is stored', async (t) => {
  await using s = await open({ fsck: 'off' });
  const { pack, tip } = goodPack();
  await s.push({ main: tip, gone: tip }, pack);
  const torn = new PackBuilder();
  torn.whole('commit', commitOn(numbered(1)));
  const gone = packet(bytesOf(`${tip} ${ZERO} refs/heads/gone`));
  const body = s.bodyOf({ bad: oidOf('commit', commitOn(numbered(1))) }, torn);
  const flush = body.indexOf('0000PACK');
  const { refs } = await s.send(Buffer.concat([body.subarray(0, flush), gone, body.subarray(flush)]));
  t.same(refs, { bad: 'missing necessary objects', gone: '' });
  t.equal(s.repository.objects.size, 2);
  t.same([...s.repository.refs.entries()].length, 1);
});

t.test('a push that moves no ref leaves no object, whatever stopped it', async (t) => {
  const refuse = { updateHook: () => 'not today' };
  for (const [name, options] of [
    ['policy', refuse],
    ['stale', {}],
    ['connectivity', {}],
    ['fsck', {}],
  ] as const) {
    await using s = await open(options);
    if (name === 'stale') await s.push({ main: goodPack().tip }, goodPack().pack);
    const before = s.repository.objects.size;
    const pack = new PackBuilder();
    const body = { connectivity: commitOn(numbered(1)), fsck: `${commitOn(EMPTY_TREE)}\0` }[name as 'fsck'];
    const tip = body ?? `${commitOn(EMPTY_TREE)}${name}`;
    pack.whole('tree', '');
    pack.whole('commit', tip);
    const { refs } = await s.push({ main: oidOf('commit', tip) }, pack);
    t.not(refs.main, '', name);
    t.equal(s.repository.objects.size, before, name);
    t.equal(s.repository.objects.find(oidOf('commit', tip)), -1, name);
  }
});

t.test('a pack that waits for its turn counts as held memory', async (t) => {
  const world = new MemoryBudget(100);
  const budget = new MemoryBudget(1000, world);
  async function* pieces(count: number, fault?: Error) {
    for (let index = 0; index < count; index++) yield Buffer.alloc(10);
    if (fault) throw fault;
  }
  {
    using first = await PackSpool.fill(pieces(6), { most: 60, budget });
    t.equal(world.used, 60);
    using second = await PackSpool.fill(pieces(5), { most: 60, budget });
    t.match(second.refusal, /memory limit of 100 bytes \(--max-held-bytes\) is reached/);
    using third = await PackSpool.fill(pieces(4), { most: 30, budget });
    t.match(third.refusal, /larger than 30 bytes \(--max-push-bytes\)/);
    t.equal(world.used, 60, 'what is not kept does not count');
    await t.rejects(PackSpool.fill(pieces(2, new Error('gone')), { most: 60, budget }), /gone/);
    t.equal(world.used, 60);
    const drained = first.drain()[Symbol.asyncIterator]();
    await drained.next();
    t.equal(world.used, 50, 'each piece goes when it is handed out');
  }
  t.equal(world.used, 0);
  world.take(30);
  {
    using _ = await PackSpool.fill(pieces(2), { most: 60, budget });
    // Return the memory before the spool is closed, like a deletion of the repository during the push.
    budget.give(budget.used);
  }
  t.equal(world.used, 30, 'nothing is given back twice');
});

t.test('a waiting pack is read unchanged, whatever its chunks', async (t) => {
  const pack = Buffer.from(Array.from({ length: 300_000 }, (_, at) => Math.imul(at, 2_654_435_761) >>> 11));
  for (const sizes of [[1], [7, 4096], [65_536], [1, 299_999], [300_000], [10, 0, 100_000]]) {
    async function* arrive(): AsyncGenerator<Buffer> {
      for (let at = 0, turn = 0; at < pack.length; turn++) {
        const size = sizes[turn % sizes.length]!;
        // Overwrite each piece after it was received, as if the connection reused its buffer.
        const piece = Buffer.from(pack.subarray(at, at + size));
        yield piece;
        piece.fill(0);
        at += size;
      }
    }
    const budget = new MemoryBudget(1_000_000);
    using spool = await PackSpool.fill(arrive(), { most: pack.length, budget });
    t.equal(budget.used, pack.length);
    const pieces: Uint8Array[] = [];
    for await (const piece of spool.drain()) pieces.push(piece);
    t.ok(Buffer.concat(pieces).equals(pack), `in pieces of ${sizes}`);
    t.ok(pieces.length < 25, 'few pieces, however many came');
    t.equal(budget.used, 0);
  }
});
