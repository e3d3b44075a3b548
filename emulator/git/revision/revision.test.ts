import fc from 'fast-check';
import t from 'tap';
import { runSync } from '../../schedule/steps.js';
import { bytesIn, bytesOf, concatBytes } from '../object/bytes.js';
import type { Oid } from '../object/object.js';
import { Refs } from '../refs/refs.js';
import { CommitGraph } from '../revwalk/commit-graph.js';
import { MemoryObjects } from '../test/memory-objects.js';
import { ScratchGit } from '../test/workbench.js';
import { resolveRevision as findRevision, type RevisionOptions } from './revision.js';

function resolveRevision(objects: MemoryObjects, refs: Refs, text: string, options?: RevisionOptions) {
  return runSync(findRevision(objects, refs, bytesIn(Buffer.from(text, 'latin1')), options));
}

const MAIN = bytesOf('main');
const WHO = 'A U Thor <a@example.com> 1700000000 +0100';

/**
 * Creates a repository with a merge, and with tags of each object type. It has a ref for each rule by which Git
 * completes a short ref name.
 */
function setUp() {
  const objects = new MemoryObjects();
  const tree = objects.tree({ file: 'text', dir: { inner: 'more' } });
  const commit = (message: string, ...parents: string[]) =>
    objects.add(
      'commit',
      [
        `tree ${tree}`,
        ...parents.map((each) => `parent ${each}`),
        `author ${WHO}`,
        `committer ${WHO}`,
        '',
        message,
      ].join('\n'),
    );
  const tag = (type: string, oid: string) =>
    objects.add('tag', `object ${oid}\ntype ${type}\ntag x\ntagger ${WHO}\n\nx\n`);
  const one = commit('1');
  const two = commit('2', one);
  const side = commit('s', one);
  const merge = commit('m', two, side);
  const blob = objects.add('blob', 'text');
  const annotated = tag('commit', two);
  const nested = tag('tag', annotated);
  const refs = Refs.empty(MAIN).with(
    [
      [bytesOf('refs/heads/main'), merge],
      [bytesOf('refs/heads/side'), side],
      [bytesOf('refs/heads/both'), one],
      [bytesOf('refs/tags/both'), two],
      [bytesOf('refs/tags/v1'), annotated],
      [bytesOf('refs/tags/nested'), nested],
      [bytesOf('refs/tags/tree'), tag('tree', tree)],
      [bytesOf('refs/tags/blob'), tag('blob', blob)],
      [bytesOf('refs/heads/a/b'), two],
      [bytesOf('refs/remotes/origin/x'), side],
      [bytesOf('refs/remotes/up/HEAD'), one],
      [bytesOf('refs/notes/commits'), one],
      [bytesOf('refs/heads/weird-1-gname'), one],
    ],
    0,
  );
  return { objects, refs, merge, one, two, side, tree, blob, annotated };
}

t.test('every revision resolves as git rev-parse resolves it', (t) => {
  const { objects, refs, merge, one } = setUp();
  using git = new ScratchGit();
  git.copy(objects);
  for (const [name, { oid }] of refs.entries()) git.run(['update-ref', name, oid]);
  const names = [
    ...['HEAD', '@', 'main', 'side', 'both', 'v1', 'nested', 'tree', 'blob', 'a/b', 'heads/main', 'tags/both'],
    ...[
      bytesOf('refs/heads/main'),
      'origin/x',
      'up',
      'notes/commits',
      'weird-1-gname',
      'nothing',
      'refs/heads',
      'a',
      '-x',
    ],
    ...[merge, merge.toUpperCase(), merge.slice(0, 10), one.slice(0, 7), merge.slice(0, 39), 'abc', 'ffffff'],
    ...[`v1-3-g${one.slice(0, 8)}`, 'x-1-gffffffff', `any-0-g${merge.slice(0, 12)}`],
  ];
  const suffixes = [
    ...[
      '',
      '^',
      '^^',
      '~',
      '~1',
      '~2',
      '~3',
      '~9',
      '^0',
      '~0',
      '^1',
      '^2',
      '^3',
      '^2^',
      '^2~1',
      '~1^2',
      '^{}',
      '^{commit}',
    ],
    ...['^{tree}', '^{blob}', '^{tag}', '^{object}', '^{tree}^{tree}', '^{commit}^{tree}', '~1^{tree}', ':', ':file'],
    ...[
      ':dir',
      ':dir/inner',
      ':nothing',
      '^{tree}:file',
      ':file:x',
      '^{nonsense}',
      '^{commit',
      '~x',
      '^-1',
      '~1:dir/inner',
    ],
  ];
  const lines = names.flatMap((name) => suffixes.map((suffix) => name + suffix));
  const responses = git.run(['cat-file', '--batch-check=%(objectname)'], `${lines.join('\n')}\n`).split('\n');
  for (const [index, line] of lines.entries()) {
    const expected = /^[0-9a-f]{40}$/.test(responses[index]!) ? responses[index] : undefined;
    t.equal(resolveRevision(objects, refs, line).oid, expected, line);
  }
  t.end();
});

t.test('a revision that is only a ref name has its full name, as in git rev-parse --symbolic-full-name', (t) => {
  const { objects, refs, merge } = setUp();
  using git = new ScratchGit();
  git.copy(objects);
  for (const [name, { oid }] of refs.entries()) git.run(['update-ref', name, oid]);
  const names = ['HEAD', '@', 'main', 'side', 'v1', 'a/b', 'heads/main', 'tags/both', 'refs/heads/main'];
  for (const name of [...names, 'origin/x', 'notes/commits', merge, merge.slice(0, 10), 'main~1', 'main^0', 'v1^{}']) {
    const expected = git.run(['rev-parse', '--symbolic-full-name', name]).trim() || undefined;
    const outcome = resolveRevision(objects, refs, name);
    t.equal(outcome.issue === undefined ? outcome.ref : outcome.issue, expected, name);
  }
  const both = resolveRevision(objects, refs, 'both', { prefer: 'branch' });
  t.match(both, { ref: 'refs/heads/both' }, 'the branch, where a branch is preferred');
  const detached = resolveRevision(objects, refs.withHead({ oid: merge }), 'HEAD');
  t.match(detached, { oid: merge, ref: undefined }, 'a detached HEAD is no ref');
  t.end();
});

t.test('a branch can be preferred to a tag of its name', (t) => {
  const { objects, refs, one, two } = setUp();
  t.equal(resolveRevision(objects, refs, 'both').oid, two);
  t.equal(resolveRevision(objects, refs, 'both', { prefer: 'branch' }).oid, one);
  t.equal(resolveRevision(objects, refs, 'tags/both', { prefer: 'branch' }).oid, two);
  t.end();
});

t.test('a malformed revision is distinguished from a missing one', (t) => {
  const { objects, refs } = setUp();
  const malformed = [
    '',
    ' ',
    'a b',
    'a..b',
    '^main',
    '~1',
    'main^x',
    'main^{',
    'main^{nonsense}',
    'a\nb',
    'a\0',
    'x?',
    'a//b',
  ];
  for (const text of [...malformed, 'x'.repeat(8193)]) {
    t.same(resolveRevision(objects, refs, text), { issue: 'malformed' }, JSON.stringify(text.slice(0, 20)));
  }
  const missing = [
    ':/text',
    'main^{/text}',
    ':0:file',
    'main@{1}',
    '@{-1}',
    '@{u}',
    'none',
    'main~99',
    'main^3',
    'f'.repeat(40),
  ];
  for (const text of missing) t.same(resolveRevision(objects, refs, text), { issue: 'missing' }, text);
  t.same(resolveRevision(objects, Refs.empty(MAIN), 'HEAD'), { issue: 'missing' }, 'an unborn branch');
  t.end();
});

t.test('a short id of several objects is ambiguous, unless only one has a suitable type', (t) => {
  const objects = new MemoryObjects();
  const tree = objects.tree({});
  const commit = objects.add('commit', `tree ${tree}\nauthor ${WHO}\ncommitter ${WHO}\n\nm\n`);
  const prefix = commit.slice(0, 4);
  let blobs = 0;
  for (let at = 0; blobs < 1; at++) if (objects.add('blob', `${at}`).startsWith(prefix)) blobs++;
  for (let at = 0, trees = 0; trees < 1; at++) if (objects.tree({ [`${at}`]: '' }).startsWith(prefix)) trees++;
  const refs = Refs.empty(MAIN);
  t.same(resolveRevision(objects, refs, prefix), { issue: 'ambiguous' });
  t.same(resolveRevision(objects, refs, `${prefix}:`), { issue: 'ambiguous' }, 'a commit and a tree both hold paths');
  t.equal(resolveRevision(objects, refs, prefix, { want: 'commit' }).oid, commit);
  t.equal(resolveRevision(objects, refs, `${prefix}^{commit}`).oid, commit);
  t.equal(resolveRevision(objects, refs, `${prefix}~0`).oid, commit);
  t.equal(resolveRevision(objects, refs, `x-1-g${prefix}`).oid, commit);
  t.same(resolveRevision(objects, refs, prefix.slice(0, 3)), { issue: 'missing' }, 'three digits are no short id');
  t.end();
});

t.test('a namespace has its own refs, which can be named only with its option', (t) => {
  const { objects, one, two } = setUp();
  const namespace = bytesOf('refs/namespaces/ephemeral/');
  const refs = Refs.empty(MAIN).with(
    [
      [concatBytes(namespace, bytesOf('refs/heads/x')), one],
      [bytesOf('refs/heads/x'), two],
    ],
    0,
  );
  t.equal(resolveRevision(objects, refs, 'x').oid, two);
  t.equal(resolveRevision(objects, refs, 'x', { namespace }).oid, one);
  for (const name of [`${namespace}refs/heads/x`, 'namespaces/ephemeral/refs/heads/x'])
    t.same(resolveRevision(objects, refs, name), { issue: 'missing' }, name);
  t.end();
});

t.test('no revision text makes resolveRevision throw', (t) => {
  const { objects, refs } = setUp();
  const piece = fc.constantFrom(
    'main',
    'v1',
    '^',
    '~',
    '{',
    '}',
    ':',
    '@',
    '/',
    '..',
    '1',
    '9999999999',
    'tree',
    '-g',
    '\xff',
    '\0',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      resolveRevision(objects, refs, pieces.join(''));
    }),
    { numRuns: 2000 },
  );
  t.end();
});

t.test('long chains of ancestors, tags and folders are followed in time slices', async (t) => {
  const objects = new MemoryObjects();
  const tree = objects.tree({});
  let tip = objects.add('commit', `tree ${tree}\nauthor ${WHO}\ncommitter ${WHO}\n\n0\n`);
  const tips: Oid[] = [tip];
  for (let count = 1; count < 3000; count++) {
    const parent = `parent ${tip}\n`;
    tip = objects.add('commit', `tree ${tree}\n${parent}author ${WHO}\ncommitter ${WHO}\n\n${count}\n`);
    tips.push(tip);
  }
  let tag = tip;
  for (let count = 0; count < 3000; count++)
    tag = objects.add('tag', `object ${tag}\ntype ${count === 0 ? 'commit' : 'tag'}\ntag t${count}\n\n`);
  let deep = objects.tree({ f: 'x' });
  for (let depth = 0; depth < 4000; depth++) deep = objects.tree({ d: [0o40000, deep] });
  const wide = objects.tree(Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`f${at}`, 'x'])));
  const commit = objects.add('commit', `tree ${deep}\nauthor ${WHO}\ncommitter ${WHO}\n\n`);
  const refs = Refs.empty(MAIN).with(
    [
      [bytesOf('refs/heads/main'), tip],
      [bytesOf('refs/tags/chain'), tag],
      [bytesOf('refs/heads/deep'), commit],
      [bytesOf('refs/tags/wide'), wide],
    ],
    0,
  );
  const expected: Record<string, Oid | undefined> = {
    'main~2999': tips[0],
    'main~3000': undefined,
    [`main~${'9'.repeat(8000)}`]: undefined,
    [`main${'~1'.repeat(2999)}`]: tips[0],
    [`main${'^'.repeat(2999)}`]: tips[0],
    'chain^{commit}': tip,
    [`deep:${'d/'.repeat(4000)}f`]: objects.add('blob', 'x'),
    [`deep:${'d/'.repeat(4001)}f`]: undefined,
    'wide:none': undefined,
  };
  const graph = new CommitGraph(objects);
  let reads = 0;
  const read = objects.read.bind(objects);
  objects.read = (number) => {
    reads++;
    return read(number);
  };
  for (const [text, oid] of Object.entries(expected)) {
    let pieces = 0;
    let dearest = 0;
    let max = 0;
    const steps = findRevision(objects, refs, bytesOf(text), { graph });
    let step = steps.next();
    for (; !step.done; step = steps.next()) {
      pieces++;
      dearest = Math.max(dearest, step.value);
      max = Math.max(max, reads);
      reads = 0;
    }
    t.equal(step.value.oid, oid, text.slice(0, 30));
    t.ok(pieces > 300 && dearest < 100 && max < 4, `${pieces} pieces of at most ${dearest} units, ${max} objects`);
  }
  runSync(graph.load([objects.find(tip)]));
  objects.read = () => t.fail('a commit was read that is in the graph') as never;
  t.equal(runSync(findRevision(objects, refs, bytesOf('main~2999'), { graph })).oid, tips[0]);
  t.same(runSync(findRevision(objects, refs, bytesOf('main~3000'), { graph })), { issue: 'missing' });
});
