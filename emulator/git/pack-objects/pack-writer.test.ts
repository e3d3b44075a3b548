import t from 'tap';
import { indexPack } from '../index-pack/index-pack.js';
import { BLOB, type Oid } from '../object/object.js';
import { ObjectStore } from '../odb/object-store.js';
import { copy, delta, inPieces, insert, oidOf, PackBuilder } from '../odb/test/pack-builder.js';
import { generateHistory } from '../test/history.js';
import { oid } from '../test/oid.js';
import { ScratchGit } from '../test/workbench.js';
import { type PackOptions, writePack } from './pack-writer.js';

async function add(store: ObjectStore, pack: Buffer, thin = false): Promise<void> {
  const quarantine = store.quarantine();
  await indexPack(quarantine, inPieces(pack), { thin });
  quarantine.publish();
}

async function write(store: ObjectStore, oids: Iterable<Oid>, options: PackOptions = {}): Promise<Buffer> {
  const numbers = Int32Array.from(oids, (oid) => store.find(oid));
  const pieces: Buffer[] = [];
  for await (const piece of writePack(store, numbers, options)) pieces.push(piece);
  return Buffer.concat(pieces);
}

function everything(store: ObjectStore): Oid[] {
  return Array.from({ length: store.size }, (_, number) => store.oidOf(number));
}

/** Reads a pack with real Git. Returns the ids of the objects that Git stored. Throws if Git refuses the pack. */
function accept(git: ScratchGit, pack: Buffer, ...options: string[]): Oid[] {
  const { status, stdout, stderr } = git.try(['index-pack', '--stdin', '--strict', ...options], pack);
  if (status !== 0) throw new Error(stderr);
  const name = stdout.toString().trim().split('\t')[1];
  const lines = git.run(['verify-pack', '-v', `objects/pack/pack-${name}.idx`]).split('\n');
  return lines
    .filter((line) => /^[0-9a-f]{40} /.test(line))
    .map((line) => oid(line.slice(0, 40)))
    .sort();
}

function objectsOf(git: ScratchGit, ...revisions: string[]): Oid[] {
  return git.oids(['rev-list', '--objects', '--no-object-names', ...revisions]);
}

/** Creates a Git repository, and a store that received its history in several pushes. Returns both. */
async function pushedHistory(commits: number): Promise<{ git: ScratchGit; store: ObjectStore }> {
  const git = generateHistory(commits);
  const store = new ObjectStore();
  await add(store, git.try(['pack-objects', '--stdout', '--revs', '-q', '--delta-base-offset'], 'main~20\n').stdout);
  for (const [from, to] of [
    ['main~20', 'main~9'],
    ['main~9', 'main~8'],
    ['main~8', 'v1'],
  ]) {
    const options = ['pack-objects', '--stdout', '--revs', '--thin', '-q', '--delta-base-offset'];
    await add(store, git.try(options, `${to}\n^${from}\n`).stdout, true);
  }
  return { git, store };
}

t.test('a pack of everything is what one push brought, byte for byte', async (t) => {
  using git = generateHistory(30);
  const pack = git.try(['pack-objects', '--stdout', '--all', '-q', '--delta-base-offset'], '').stdout;
  const store = new ObjectStore();
  await add(store, pack);
  t.ok((await write(store, everything(store))).equals(pack));
});

t.test('Git accepts packs of any part of a history, with and without deltas by distance', async (t) => {
  const { git, store } = await pushedHistory(60);
  using _ = git;
  const parts = [['--all'], ['main~40'], ['main~30', '^main~45'], ['main', '--max-count=1'], ['main~3', '^main~30']];
  for (const part of parts) {
    for (const ofsDelta of [true, false]) {
      using clone = new ScratchGit('--bare');
      // Fetch the objects that the pack omits into the clone, because `--strict` requires them.
      clone.run(['fetch', '-q', git.path, '+refs/*:refs/*']);
      const oids = objectsOf(git, ...part);
      const pack = await write(store, oids, { ofsDelta });
      t.same(accept(clone, pack), oids.sort(), `${part.join(' ')} ${ofsDelta}`);
    }
  }
});

t.test('a clone from our packs passes git fsck', async (t) => {
  const { git, store } = await pushedHistory(40);
  using _ = git;
  using clone = new ScratchGit('--bare');
  accept(clone, await write(store, objectsOf(git, '--all')));
  clone.run(['update-ref', 'refs/heads/main', git.run(['rev-parse', 'main'])]);
  clone.run(['update-ref', 'refs/tags/v1', git.run(['rev-parse', 'v1'])]);
  t.equal(clone.run(['fsck', '--strict', '--full', '--no-progress']), '');
  t.equal(clone.run(['rev-list', '--objects', '--all']), git.run(['rev-list', '--objects', '--all']));
});

t.test('a thin pack leans on what the client has, and on nothing else', async (t) => {
  const { git, store } = await pushedHistory(60);
  using _ = git;
  for (const [wants, have] of [
    ['main', 'main~1'],
    ['main', 'main~20'],
    ['main~15', 'main~50'],
  ] as const) {
    using clone = new ScratchGit('--bare');
    clone.run(['fetch', '-q', git.path, `+${git.run(['rev-parse', have])}:refs/heads/old`]);
    const held = new Set(objectsOf(git, have).map((oid) => store.find(oid)));
    const oids = objectsOf(git, wants, `^${have}`);
    const thin = (number: number) => held.has(number);
    const pack = await write(store, oids, { thin, previous: () => lookUp(previousVersions(git, store, wants, have)) });
    const complete = await write(store, oids);
    t.ok(pack.length < complete.length, `${pack.length} bytes instead of ${complete.length}`);
    const native = git.try(
      ['pack-objects', '--stdout', '--revs', '--thin', '-q', '--delta-base-offset'],
      `${wants}\n^${have}\n`,
    );
    t.ok(pack.length <= native.stdout.length * 1.5, `${pack.length} bytes, ${native.stdout.length} from Git`);
    const taken = new Set(accept(clone, pack, '--fix-thin'));
    t.ok(oids.every((oid) => taken.has(oid)));
  }
});

/**
 * Returns a function that finds the previous version of an object. It returns the number of the object that was at the
 * same path one commit earlier, or -1 if none.
 */
function lookUp(versions: ReadonlyMap<number, number>): (object: number) => number {
  return (object) => versions.get(object) ?? -1;
}

function previousVersions(git: ScratchGit, store: ObjectStore, wants: string, have: string): Map<number, number> {
  const pairs = new Map<number, number>();
  const log = git.run(['log', '--raw', '-t', '--no-abbrev', '--format=', wants, `^${have}`]);
  for (const [, old, now] of log.matchAll(/^:\d+ \d+ ([0-9a-f]{40}) ([0-9a-f]{40}) M/gm)) {
    pairs.set(store.find(oid(now!)), store.find(oid(old!)));
  }
  return pairs;
}

t.test('objects the API wrote are deflated when a pack needs them, and become deltas where that helps', async (t) => {
  const store = new ObjectStore();
  const quarantine = store.quarantine();
  const text = Array.from({ length: 400 }, (_, line) => `line ${line} ${Math.imul(line, 2_654_435_761)}`).join('\n');
  const oids = [text, `${text}\nand one more line`, 'short', ''].map((body) =>
    quarantine.write(BLOB, Buffer.from(body)),
  );
  const large = quarantine.write(BLOB, Buffer.alloc(3_000_000, 'large enough to be deflated elsewhere'));
  quarantine.publish();
  using git = new ScratchGit('--bare');
  const whole = await write(store, [...oids, large]);
  t.same(accept(git, whole), [...oids, large].sort());
  t.equal(git.run(['cat-file', 'blob', oids[1]!]), `${text}\nand one more line`);
  const previous = () => lookUp(new Map([[store.find(oids[1]!), store.find(oids[0]!)]]));
  const small = await write(store, [...oids, large], { previous });
  t.ok(small.length < whole.length - 2000, 'the second text is a delta on the first');
  using other = new ScratchGit('--bare');
  t.same(accept(other, small), [...oids, large].sort());
  t.ok((await write(store, [...oids, large])).equals(whole), 'asked again, the bytes are the same');
});

t.test('candidates that lean on each other in a circle do not make one', async (t) => {
  const store = new ObjectStore();
  const quarantine = store.quarantine();
  const base = Array.from({ length: 100 }, (_, line) => `line ${line} ${Math.imul(line, 2_654_435_761)}`).join('\n');
  const oids = ['a', 'b', 'c'].map((name) => quarantine.write(BLOB, Buffer.from(`${base}${name}`)));
  quarantine.publish();
  const next = (number: number) => (number + 1) % 3;
  const pack = await write(store, oids, { previous: () => next });
  using git = new ScratchGit('--bare');
  t.same(accept(git, pack), oids.sort());
});

t.test('a delta that has lost its base is sent whole, or leans on one that lost the same', async (t) => {
  const base = Array.from({ length: 50 }, (_, line) => `line ${line} ${Math.imul(line, 2_654_435_761)}`).join('\n');
  const texts = ['first', 'second'].map((end) => `${base}${end}`);
  const pack = new PackBuilder();
  const at = pack.whole('blob', base);
  for (const text of texts) {
    pack.delta(at, delta(base.length, text.length, copy(0, base.length), insert(text.slice(base.length))));
  }
  pack.refDelta(oidOf('blob', texts[0]!), delta(texts[0]!.length, 5, insert('named')));
  const store = new ObjectStore();
  await add(store, pack.build());
  using git = new ScratchGit('--bare');
  const lost = [...texts, 'named'].map((text) => oidOf('blob', text));
  const written = await write(store, lost);
  t.same(accept(git, written), [...lost].sort());
  t.ok(written.length < base.length * 1.2, 'the common text is sent once');
  t.same(accept(git, await write(store, [lost[2]!])), [lost[2]!]);
});

t.test('numbers may come in any order and more than once', async (t) => {
  using git = generateHistory(20);
  const store = new ObjectStore();
  await add(store, git.try(['pack-objects', '--stdout', '--all', '-q', '--delta-base-offset'], '').stdout);
  const oids = everything(store);
  t.ok((await write(store, [...oids, ...oids].reverse())).equals(await write(store, oids)));
  const few = [oids[3]!, oids.at(-1)!];
  t.ok(
    (await write(store, [...few, ...few].reverse())).equals(await write(store, few)),
    'also when they lie far apart',
  );
  using empty = new ScratchGit('--bare');
  t.same(accept(empty, await write(store, [])), [], 'or not at all');
});

t.test('the writer waits for its reader, reports entries, and ends at a signal', async (t) => {
  const store = new ObjectStore();
  const quarantine = store.quarantine();
  for (let count = 0; count < 40; count++) quarantine.write(BLOB, randomBytes(count, 100_000));
  quarantine.publish();
  const numbers = Int32Array.from({ length: 40 }, (_, number) => number);
  let written = 0;
  const pack = writePack(store, numbers, { onEntry: () => void written++ });
  await pack.next();
  t.ok(written < 10, 'nothing runs ahead of the reader');
  for await (const piece of pack) t.ok(piece.length <= 256 * 1024);
  t.equal(written, 40);
  const stopped = new Error('stopped');
  const ended = async () => {
    for await (const _ of writePack(store, numbers, { signal: AbortSignal.abort(stopped) }));
  };
  await t.rejects(ended(), stopped);
});

function randomBytes(seed: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let state = seed + 1;
  for (let at = 0; at + 4 <= length; at += 4) {
    state = Math.imul(state, 1_664_525) + 1_013_904_223;
    bytes.writeInt32LE(state | 0, at);
  }
  return bytes;
}

t.test('a base goes out before its delta, whichever was stored first, and is named by distance', async (t) => {
  const lines = Array.from({ length: 200 }, (_, line) => `line ${line} of a text that changes little\n`);
  const versions = [4, 3, 2, 1].map((version) => Buffer.from(lines.with(100, `version ${version}\n`).join('')));
  const store = new ObjectStore();
  const quarantine = store.quarantine();
  const oids = versions.map((body) => quarantine.write(BLOB, body));
  quarantine.publish();
  const previous = () => (number: number) => (number < 3 ? number + 1 : -1);
  const pack = await write(store, oids, { previous });
  using git = new ScratchGit('--bare');
  const name = git.try(['index-pack', '--stdin'], pack).stdout.toString().trim().split('\t')[1];
  const entries = git.run(['verify-pack', '-v', `objects/pack/pack-${name}.idx`]).split('\n');
  const order = entries.filter((line) => /^[0-9a-f]{40} /.test(line)).map((line) => line.split(/ +/));
  t.same(
    order.map(([oid]) => oid),
    oids.toReversed(),
    'the oldest version first',
  );
  t.same(
    order.map((columns) => columns[6]),
    [undefined, oids[3], oids[2], oids[1]],
    'each a delta on the one before',
  );
  // Verify that the pack contains no object id. A delta of the type REF_DELTA would contain the id of its base.
  for (const oid of oids) t.notOk(pack.includes(Buffer.from(oid, 'hex')));
});

t.test('objects that one large pack stores whole are compared only with objects that the client has', async (t) => {
  const lines = Array.from({ length: 50 }, (_, line) => `line ${line} ${Math.imul(line, 2_654_435_761)}\n`).join('');
  const texts = Array.from({ length: 101 }, (_, version) => `${lines}version ${version}\n`);
  const store = new ObjectStore();
  const received = new PackBuilder();
  for (const text of texts) received.whole('blob', text);
  await add(store, received.build());
  const oids = texts.map((text) => oidOf('blob', text));
  /**
   * Writes a pack of these versions and reads it with Git, in a repository that has the first version. Returns the
   * number of deltas in the pack.
   */
  const deltasOf = async (sent: readonly Oid[], options: PackOptions) => {
    using git = new ScratchGit('--bare');
    git.try(['unpack-objects', '-q'], await write(store, oids.slice(0, 1)));
    const previous = () => (number: number) => number - 1;
    const pack = await write(store, sent, { previous, ...options });
    const name = git.try(['index-pack', '--stdin', '--fix-thin'], pack).stdout.toString().trim().split('\t')[1];
    const entries = git.run(['verify-pack', '-v', `objects/pack/pack-${name}.idx`]);
    return entries.match(/^\w{40} blob +\d+ \d+ \d+ \d+ /gm)?.length ?? 0;
  };
  const thin = (number: number) => number === 0;
  t.equal(await deltasOf(oids.slice(0, 99), {}), 98, '99 objects');
  t.equal(await deltasOf(oids.slice(0, 100), {}), 0, '100 objects');
  t.equal(await deltasOf(oids.slice(1, 100), { thin }), 99, '99 objects for a client that has the first version');
  t.equal(await deltasOf(oids.slice(1), { thin }), 1, '100 objects for a client that has the first version');
});
