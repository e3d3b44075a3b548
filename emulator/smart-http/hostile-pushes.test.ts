import t from 'tap';
import type { Oid } from '../git/object/object.js';
import { CORRUPT } from '../git/odb/test/corrupt-packs.js';
import { oidOf, PackBuilder } from '../git/odb/test/pack-builder.js';
import { createRepository } from '../git/test/memory-repository.js';
import { Workbench } from '../git/test/workbench.js';
import { type PushCommand, pushBody } from '../test/git/raw-push.js';
import { TestServer, type TestServerOptions } from './test/test-server.js';

// Sends the same bytes to `git receive-pack` and to this server. Both must report the same result for the pack and for
// each ref.

const ZERO = '0'.repeat(40);
const WHO = 'A <a@example.com> 1700000000 +0000';
const EMPTY_TREE = oidOf('tree', '');
const commitOf = (head: string, tree = EMPTY_TREE) => `tree ${tree}\n${head}\n\nm\n`;
const COMMIT = commitOf(`author ${WHO}\ncommitter ${WHO}`);
const TIP = oidOf('commit', COMMIT);

function packWith(...objects: [type: 'commit' | 'tree' | 'blob' | 'tag', body: string][]): Buffer {
  const pack = new PackBuilder();
  for (const [type, body] of objects) pack.whole(type, Buffer.from(body, 'latin1'));
  return pack.build();
}
const GOOD = packWith(['tree', ''], ['commit', COMMIT]);

/**
 * Returns the lines of a push report without the reasons for refusals, such as `unpack ok` and `ng refs/heads/main`.
 */
function verdictOf(report: Buffer): string[] {
  const lines: string[] = [];
  for (let at = 0; at + 4 <= report.length; ) {
    const length = Number.parseInt(report.toString('latin1', at, at + 4), 16);
    const [word, rest] = report.toString('latin1', at + 4, at + length).split(/[\n ]/);
    if (length > 4) lines.push(word === 'unpack' && rest !== 'ok' ? 'unpack error' : `${word} ${rest}`);
    at += Math.max(length, 4);
  }
  return lines;
}

/**
 * Starts a server, and creates a bare repository for `git`. Both check objects in the way that `fsck` says, so that
 * their results can be compared.
 */
async function open(fsck: TestServerOptions['fsck'] & string) {
  const bench = await Workbench.create();
  const repository = createRepository();
  const server = await TestServer.start(repository, { fsck });
  await bench.git('.', 'init', '-q', '--bare', 'oracle.git');
  // Make Git use index-pack for small packs too. Its default for them is unpack-objects, which ignores bytes after the
  // pack.
  for (const [key, value] of [
    ['fsckObjects', `${fsck === 'strict'}`],
    ['unpackLimit', '1'],
    ['denyDeletes', 'false'],
  ]) {
    await bench.git('oracle.git', 'config', `receive.${key}`, value!);
  }
  const both = async (body: Buffer) => {
    const oracle = await bench.run('.', 'git', ['receive-pack', '--stateless-rpc', 'oracle.git'], body);
    const response = await fetch(`${server.url()}/git-receive-pack`, {
      method: 'POST',
      body: new Uint8Array(body),
      headers: { 'content-type': 'application/x-git-receive-pack-request' },
    });
    const report = Buffer.from(await response.arrayBuffer());
    return { status: response.status, ours: verdictOf(report), gits: verdictOf(Buffer.from(oracle.stdout, 'latin1')) };
  };
  const refs = async () => [
    [...repository.refs.entries()].map(([name, { oid }]) => `${oid} ${name}`).join('\n'),
    await bench.git('oracle.git', 'for-each-ref', '--format=%(objectname) %(refname)'),
  ];
  return {
    bench,
    repository,
    server,
    both,
    refs,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await bench[Symbol.asyncDispose]();
    },
  };
}

t.test('every corrupt pack, sent to a server, is refused as git refuses it', async (t) => {
  await using s = await open('strict');
  for (const [title, [pack]] of Object.entries(CORRUPT)) {
    const { status, ours, gits } = await s.both(pushBody([{ ref: 'refs/heads/main', old: ZERO, new: TIP }], pack));
    t.equal(status, 200, title);
    t.same(ours, ['unpack error', 'ng refs/heads/main'], title);
    // Skip the case with bytes after the checksum, because git reads from a pipe only up to the checksum.
    if (title !== 'bytes after the checksum') t.same(gits, ours, title);
    t.equal(s.repository.objects.size, 0, title);
  }
});

t.test('objects that git checks on request are refused or taken as --fsck says', async (t) => {
  const named = (name: string, mode = '100644') =>
    `${mode} ${name}\0${Buffer.from(oidOf('blob', 'b'), 'hex').toString('latin1')}`;
  const inTree = (tree: string): [Oid, Buffer] => {
    const commit = commitOf(`author ${WHO}\ncommitter ${WHO}`, oidOf('tree', Buffer.from(tree, 'latin1')));
    return [oidOf('commit', commit), packWith(['blob', 'b'], ['tree', tree], ['commit', commit])];
  };
  const inCommit = (head: string): [Oid, Buffer] => [
    oidOf('commit', commitOf(head)),
    packWith(['tree', ''], ['commit', commitOf(head)]),
  ];
  const cases: Record<string, [tip: Oid, pack: Buffer]> = {
    'no author': inCommit(`committer ${WHO}`),
    'no e-mail': inCommit(`author A 1 +0000\ncommitter ${WHO}`),
    'a date with zeros before': inCommit(`author A <a@b> 01 +0000\ncommitter ${WHO}`),
    'a zone of three digits': inCommit(`author A <a@b> 1 +000\ncommitter ${WHO}`),
    'two authors': inCommit(`author ${WHO}\nauthor ${WHO}\ncommitter ${WHO}`),
    'an entry twice': inTree(named('a') + named('a')),
    'entries out of order': inTree(named('b') + named('a')),
    '.git': inTree(named('.git')),
    '..': inTree(named('..')),
    'a path for a name': inTree(named('a/b')),
    'a mode with a zero before': inTree(named('a', '0100644')),
    'a link for .gitmodules': inTree(named('.gitmodules', '120000')),
    'an odd mode, which is fine': inTree(named('a', '100664')),
  };
  for (const fsck of ['strict', 'off'] as const) {
    await using s = await open(fsck);
    const pushed = await s.both(pushBody([{ ref: 'refs/heads/main', old: ZERO, new: TIP }], GOOD));
    t.same(pushed.ours, pushed.gits);
    for (const [title, [tip, pack]] of Object.entries(cases)) {
      const ref = `refs/heads/${Object.keys(cases).indexOf(title)}`;
      const { ours, gits } = await s.both(pushBody([{ ref, old: ZERO, new: tip }], pack));
      t.same(ours, gits, `${title}, ${fsck}`);
      const isTaken = fsck === 'off' || title.endsWith('fine');
      t.equal(ours[1], `${isTaken ? 'ok' : 'ng'} ${ref}`, `${title}, ${fsck}`);
      t.equal(s.repository.objects.find(tip) >= 0, isTaken, `${title}, ${fsck}`);
    }
    const [mine, gits] = await s.refs();
    t.equal(mine, gits);
  }
});

t.test('names of refs, of whatever bytes, are checked as git checks them, and what is shown stays whole', async (t) => {
  await using s = await open('strict');
  const names = [
    ...['main', 'a/b/c', 'x'.repeat(200), `e\u0301`, '\u00e9', '@@', '-x', "it's", 'a"b', '%2F', 'f'.repeat(40)],
    ...[
      '',
      '.',
      '..',
      'a..b',
      'x.lock',
      'x.lock/y',
      '.x',
      'x/.y',
      'a//b',
      '/a',
      'a/',
      'a.',
      '@{',
      'a@{b',
      'a b',
      'a~b',
      'a^b',
      'a:b',
    ],
    ...[
      'x^{}',
      'a?b',
      'a*b',
      'a[b',
      'a\\b',
      'a\nb',
      `a\n003fok refs/heads/fake`,
      'a\tb',
      'a\x7fb',
      '\x01',
      'main/sub',
      'a',
      'a/b',
    ],
    ...['y'.repeat(256), 'z/'.repeat(2100), 'z'.repeat(60_000)],
  ];
  const prefixes = ['refs/heads/', 'refs/tags/'];
  const others = ['HEAD', 'refs/x', 'main', 'refs/heads', '@', 'refs/../heads/x', 'REFS/heads/x', ' refs/heads/x'];
  const commands = [...prefixes.flatMap((prefix) => names.map((name) => prefix + name)), ...others];
  await s.both(pushBody([{ ref: 'refs/heads/main', old: ZERO, new: TIP }], GOOD));
  const updates = commands.slice(1).map((ref): PushCommand => ({ ref, old: ZERO, new: TIP }));
  const { status, ours, gits: theirs } = await s.both(pushBody(updates, packWith()));
  t.equal(status, 200);
  t.equal(ours.length, updates.length + 1);
  // Compare only short names. git stores refs as files, whose names have a maximum length.
  const isShort = (line: string) => line.length < 250;
  t.same(ours.filter(isShort), theirs.filter(isShort));
  const [mine, gits] = await s.refs();
  t.same(
    mine!.split('\n').filter((line) => line.length < 290),
    gits!.split('\n'),
  );
  const listed = await s.bench.git('.', 'ls-remote', s.server.url());
  t.ok(listed.split('\n').every((line) => /^[0-9a-f]{40}\t(HEAD|refs\/[^\t]+)$/.test(line)));
  t.notMatch(listed, /fake/);
});
