import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import t from 'tap';
import { Meter, WorkLimitExceeded } from '../../schedule/meter.js';
import { Schedule } from '../../schedule/schedule.js';
import { runSync } from '../../schedule/steps.js';
import { unlimited } from '../../schedule/test/unlimited.js';
import { bytesOf } from '../object/bytes.js';
import { MissingObject, type Oid } from '../object/object.js';
import { selectFiles } from '../pathspec/select-files.js';
import { type Content, MemoryObjects } from '../test/memory-objects.js';
import { oid } from '../test/oid.js';
import { ScratchGit } from '../test/workbench.js';
import { type ArchiveOptions, writeArchive } from './archive.js';
import { InvalidPrefix, parsePrefix } from './prefix.js';

const P = bytesOf('p/');
const GITLINK = oid('c'.repeat(40));

t.test('the tar is the one git archive writes, byte for byte', async (t) => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  const script = objects.add('blob', '#!/bin/sh\n');
  const link = objects.add('blob', '../target');
  const longLink = objects.add('blob', 'up/'.repeat(50));
  const commit = commitOf(objects, {
    'a.txt': 'one\n',
    'a-b': 'between a and a/',
    a: { 'run.sh': [0o100755, script], link: [0o120000, link], 'long-link': [0o120000, longLink] },
    empty: '',
    exact: 'x'.repeat(512),
    module: [0o160000, GITLINK],
    [`${'long'.repeat(30)}.txt`]: 'name beyond 100 bytes in a folder of none',
    [`${'d'.repeat(90)}`]: {
      [`${'e'.repeat(90)}`]: { f: 'split at a slash', [`${'g'.repeat(120)}`]: 'too long to split' },
    },
    nested: { deeper: { ['h'.repeat(99)]: 'exactly fits', deepest: { ['i'.repeat(100)]: 'just not' } } },
  });
  git.copy(objects);
  for (const prefix of [
    '',
    'p/',
    'p/q/',
    `${'prefix/'.repeat(20)}`,
    `${'p'.repeat(154)}/`,
    `${'p'.repeat(155)}/`,
    `${'p'.repeat(300)}/`,
  ]) {
    const ours = await readTar(objects, { meter: unlimited(), commit, prefix: bytesOf(prefix) });
    const theirs = git.try(['archive', '--format=tar', `--prefix=${prefix}`, commit]).stdout;
    t.ok(ours.equals(theirs), `with prefix ${JSON.stringify(prefix.slice(0, 20))}`);
  }
  t.equal(git.run(['get-tar-commit-id'], await readTar(objects, { meter: unlimited(), commit })), commit);
});

t.test('random trees give the tar of git archive', async (t) => {
  using git = new ScratchGit();
  const name = fc.stringMatching(/^[a-c.-]{3,40}$/);
  const { tree } = fc.letrec<{ tree: Content }>((tie) => ({
    tree: fc.dictionary(name, fc.oneof({ depthSize: 'small' }, fc.stringMatching(/^.{0,600}$/), tie('tree')), {
      minKeys: 1,
      maxKeys: 4,
      noNullPrototype: true,
    }) as fc.Arbitrary<Content>,
  }));
  await fc.assert(
    fc.asyncProperty(tree, async (content) => {
      const objects = new MemoryObjects();
      const commit = commitOf(objects, content);
      git.copy(objects);
      const theirs = git.try(['archive', '--format=tar', commit]).stdout;
      t.ok((await readTar(objects, { meter: unlimited(), commit })).equals(theirs));
    }),
    { numRuns: 12, seed: 4 },
  );
});

t.test('paths beyond ASCII extract to the names and modes git archive gives', async (t) => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  const target = objects.add('blob', bytesOf('Übung/ß'));
  const commit = commitOf(objects, {
    [bytesOf('grün')]: { [bytesOf('Ärger 日本.txt')]: 'text', link: [0o120000, target] },
    [bytesOf('é'.repeat(120))]: 'long and not ASCII',
    'latin1-\xe9': 'a name that is not UTF-8',
  });
  git.copy(objects);
  const ours = await readTar(objects, { meter: unlimited(), commit });
  t.same(extract(git, 'ours', ours), extract(git, 'theirs', git.try(['archive', commit]).stdout));
  t.ok(ours.includes(bytesOf('32 path=grün/Ärger 日本.txt\n'), 0, 'latin1'), 'and their paths are pax records too');
});

t.test('files that are not selected, and folders without a selected file, are left out', async (t) => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  const commit = commitOf(objects, {
    src: { 'a.ts': 'a', deep: { 'b.ts': 'b', 'big.ts': 'x'.repeat(100) } },
    docs: { 'c.md': 'c' },
    module: [0o160000, GITLINK],
  });
  const list = async (options: Partial<ArchiveOptions>) => {
    const tar = await readTar(objects, { meter: unlimited(), commit, ...options });
    return spawnSync('tar', ['-t'], { input: tar }).stdout.toString().split('\n').filter(Boolean);
  };
  const none = runSync(selectFiles({ paths: [bytesOf('none')] }));
  t.same(await list({ selects: runSync(selectFiles({ extensions: [bytesOf('.ts')] })), maxBlobSize: 99, prefix: P }), [
    'p/',
    'p/src/',
    'p/src/a.ts',
    'p/src/deep/',
    'p/src/deep/b.ts',
  ]);
  t.same(await list({ maxBlobSize: 0 }), ['module/'], 'a gitlink has no blob');
  t.same(await list({ selects: none, prefix: P }), [], 'nothing selected, an empty archive');
  const empty = await readTar(objects, { meter: unlimited(), commit, selects: none });
  t.ok(empty.equals(Buffer.alloc(10_240)), 'no header, because Python cannot open one without an entry');
  const count = 'import sys, tarfile; print(len(tarfile.open(fileobj=sys.stdin.buffer, mode="r|").getmembers()))';
  t.equal(spawnSync('python3', ['-c', count], { input: empty }).stdout.toString(), '0\n');
  const one = await readTar(objects, { meter: unlimited(), commit, maxBlobSize: 0 });
  t.equal(git.run(['get-tar-commit-id'], one), commit);
});

t.test('the same request gives the same bytes, whatever the chunks', async (t) => {
  const objects = new MemoryObjects();
  const commit = commitOf(objects, { big: 'x'.repeat(2_000_000), small: 'y', other: 'z'.repeat(700_000) });
  const [one, two] = [
    await readArchive(objects, { meter: unlimited(), commit }),
    await readArchive(objects, { meter: unlimited(), commit, level: 6 }),
  ];
  t.ok(one.equals(two));
  t.same([...one.subarray(0, 10)], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3], 'no time and one system in the gzip header');
  const stored = await readArchive(objects, { meter: unlimited(), commit, level: 0 });
  t.ok(stored.length > 2_700_000 && gunzipSync(stored).equals(gunzipSync(one)));
});

t.test('a missing object, a deadline and an abort end the stream with their error', async (t) => {
  const objects = new MemoryObjects();
  const commit = commitOf(objects, { a: [0o100644, GITLINK] });
  await t.rejects(readArchive(objects, { meter: unlimited(), commit }), new MissingObject(GITLINK, 'blob'));
  await t.rejects(readArchive(objects, { meter: unlimited(), commit: GITLINK }), new MissingObject(GITLINK, 'commit'));
  const schedule = new Schedule();
  const spent = new Meter({ schedule, limit: 0.001 });
  await t.rejects(readArchive(objects, { commit, meter: spent }), new WorkLimitExceeded());
  const reason = new Error('gone');
  await t.rejects(
    readArchive(objects, { commit, meter: new Meter({ schedule, signal: AbortSignal.abort(reason) }) }),
    reason,
  );
});

t.test('the time that a reader takes does not count as work of the archive', async (t) => {
  const objects = new MemoryObjects();
  const files = Array.from({ length: 20 }, (_, file) => [`${file}`, `${file}`.repeat(700_000)]);
  const commit = commitOf(objects, Object.fromEntries(files));
  const schedule = new Schedule();
  const meter = new Meter({ schedule, limit: 500 });
  let bytes = 0;
  for await (const piece of writeArchive(objects, { commit, level: 0, meter })) {
    bytes += piece.length;
    schedule.spend(1_000_000);
  }
  t.ok(bytes > 20 * 700_000 && schedule.spent > 500_000);
});

t.test('a reader that stops early leaves no resources open', async (t) => {
  const objects = new MemoryObjects();
  const commit = commitOf(
    objects,
    Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`f${at}`, noise(100_000 + at)])),
  );
  let reads = 0;
  const read = objects.read.bind(objects);
  objects.read = (number) => {
    reads++;
    return read(number);
  };
  for await (const _ of writeArchive(objects, { meter: unlimited(), commit })) break;
  const after = reads;
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.ok(reads === after && reads < 30, `${reads} objects were read`);
});

t.test('a tree of any depth is packed without recursion', async (t) => {
  const objects = new MemoryObjects();
  let tree = objects.tree({ leaf: 'deep' });
  for (let depth = 0; depth < 3000; depth++)
    tree = objects.add('tree', `40000 d\0${Buffer.from(tree, 'hex').toString('latin1')}`);
  const tar = await readTar(objects, { meter: unlimited(), commit: commitOf(objects, tree), level: 1 });
  t.ok(tar.includes(`${'d/'.repeat(3000)}leaf\n`));
});

t.test('a prefix is relative and cannot leave the folder in which the archive is unpacked', async (t) => {
  t.equal(parsePrefix(''), '');
  t.equal(parsePrefix('a'), 'a/');
  t.equal(parsePrefix('a/b/'), 'a/b/');
  t.equal(parsePrefix('.a/..b/c..'), '.a/..b/c../');
  t.equal(parsePrefix('é'), '\xc3\xa9/');
  const refused: [prefix: string, issue: string][] = [
    ['/a', 'absolute'],
    ['/', 'absolute'],
    ['a\\b', 'backslash'],
    ['.', 'dot_segment'],
    ['..', 'dot_segment'],
    ['a/../b', 'dot_segment'],
    ['a/.', 'dot_segment'],
    ['./a', 'dot_segment'],
    ['a\0b', 'control_character'],
    ['a\nb', 'control_character'],
    ['a\x7f', 'control_character'],
    ['\ud800', 'not_text'],
    ['a'.repeat(4097), 'too_long'],
    ['a'.repeat(4096), 'too_long'],
    ['é'.repeat(2048), 'too_long'],
  ];
  for (const [prefix, issue] of refused) {
    t.throws(
      () => parsePrefix(prefix),
      new InvalidPrefix(issue as InvalidPrefix['issue']),
      `${JSON.stringify(prefix.slice(0, 9))} is ${issue}`,
    );
  }
});

function commitOf(objects: MemoryObjects, content: Content | Oid): Oid {
  const tree = typeof content === 'string' ? content : objects.tree(content);
  const identity = 'A <a@example.com> 1700000000 +0000';
  return objects.add('commit', `tree ${tree}\nauthor ${identity}\ncommitter ${identity}\n\nmessage\n`);
}

async function readArchive(objects: MemoryObjects, options: ArchiveOptions): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of writeArchive(objects, options)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function readTar(objects: MemoryObjects, options: ArchiveOptions): Promise<Buffer> {
  return gunzipSync(await readArchive(objects, options));
}

/**
 * Extracts an archive with the program tar. Returns the names, modes, link targets and contents of the files in one
 * text.
 */
function extract(git: ScratchGit, folder: string, tar: Buffer): string {
  const cwd = join(git.path, folder);
  mkdirSync(cwd);
  const listing = spawnSync(
    'sh',
    ['-c', 'umask 0 && tar -xf - && find . -printf "%p %M %l\\n" | sort && find . -type f | sort | xargs -d "\\n" cat'],
    {
      cwd,
      input: tar,
      env: { ...process.env, LC_ALL: 'C' },
    },
  );
  return listing.stdout.toString('latin1') + listing.stderr.toString('latin1');
}

function noise(size: number): string {
  let state = size;
  let text = '';
  while (text.length < size) {
    state = (state * 1103515245 + 12345) % 2147483648;
    text += state.toString(36);
  }
  return text;
}
