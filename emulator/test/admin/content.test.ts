import t, { type Test } from 'tap';
import { ScratchGit, Workbench } from '../../git/test/workbench.js';
import { startAdmin } from './admin-service.js';

/** Starts an emulator with a repository `r`. It has all refs and objects of the repository `git`. */
async function served(t: Test, git: ScratchGit) {
  const service = await startAdmin(t, { fsck: 'off' });
  const bench = await Workbench.create();
  t.teardown(() => bench[Symbol.asyncDispose]());
  await service.call('POST', '/api/repos', { repo: 'r' });
  await bench.git('.', '-C', git.path, 'push', '-q', await service.remote('r'), 'refs/*:refs/*');
  return { ...service, get: (path: string) => service.admin('GET', `/repositories/r${path}`) };
}

/**
 * Creates a commit with these files on top of `parents`, and points `main` to it. A null value removes the file. A path
 * is a byte string (one character per byte), because it need not be UTF-8.
 */
function commit(
  git: ScratchGit,
  files: Readonly<Record<string, string | Buffer | null>>,
  ...parents: string[]
): string {
  const blobs = new Map(
    [...new Set(Object.values(files))].flatMap((content) =>
      content === null ? [] : [[content, git.run(['hash-object', '-w', '--stdin'], content)]],
    ),
  );
  const lines = Object.entries(files).map(([path, content]) =>
    content === null ? `0 ${'0'.repeat(40)}\t${path}\0` : `100644 ${blobs.get(content)}\t${path}\0`,
  );
  git.run(['update-index', '-z', '--index-info'], Buffer.from(lines.join(''), 'latin1'));
  const oid = git.run([
    'commit-tree',
    git.run(['write-tree']),
    '-m',
    'change',
    ...parents.flatMap((one) => ['-p', one]),
  ]);
  git.run(['update-ref', 'refs/heads/main', oid]);
  return oid;
}

interface File {
  readonly path: string;
  readonly state: string;
  readonly patch: string;
  readonly is_truncated: boolean;
}

const DIFF = ['diff', '-M', '--full-index', '--no-color'];
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
const NINE = Array.from({ length: 9 }, (_, at) => `line ${at}\n`).join('');

t.test('the diff of a commit equals git diff, against each parent and against nothing', async (t) => {
  using git = new ScratchGit();
  const root = commit(git, { 'a.txt': NINE, 'b.bin': Buffer.from([0, 1, 2]), gone: 'x\n', '\xff\xfe': 'bytes\n' });
  const next = commit(
    git,
    { 'a.txt': null, 'moved.txt': `${NINE}more\n`, 'b.bin': Buffer.from([0, 9]), gone: null },
    root,
  );
  const white = commit(git, { 'moved.txt': `${NINE}more \n`, latin: Buffer.from('\xe4\n', 'latin1') }, next);
  const merge = commit(git, { 'c.txt': 'c\n' }, white, root);
  const { get } = await served(t, git);
  for (const [oid, query, base] of [
    [root, '', EMPTY_TREE],
    [next, '', root],
    [white, '', next],
    [merge, '', white],
    [merge, '?parent=1', white],
    [merge, '?parent=2', root],
  ] as const) {
    const { status, json } = await get(`/commits/${oid}/diff${query}`);
    t.equal(status, 200);
    const expected = git.try([...DIFF, base, oid]).stdout.toString();
    t.equal(json.files.map(({ patch }: File) => patch).join(''), expected, `${oid} ${query}`);
    t.match(json, {
      oid,
      base: base === EMPTY_TREE ? null : base,
      is_truncated: false,
      stats: { files: json.files.length },
    });
    const raw = git.try(['diff-tree', '-r', '-M', '-z', '--raw', '--no-abbrev', base, oid]).stdout.toString('latin1');
    t.equal(
      json.files.map((file: Record<string, string>) => rawOf(file)).join(''),
      raw,
      'modes, ids, states and paths',
    );
    const numstat = git
      .run(['diff', '-M', '--numstat', base, oid])
      .split('\n')
      .map((line) => line.split('\t').slice(0, 2));
    t.same(
      json.files.map(({ additions, deletions, is_binary: isBinary }: Record<string, unknown>) =>
        isBinary ? ['-', '-'] : [String(additions), String(deletions)],
      ),
      numstat,
    );
  }
  const one = (await get(`/commits/${next}/diff?path=moved.txt&old_path=a.txt`)).json;
  t.match(one.files, [
    { path: 'moved.txt', old_path: 'a.txt', state: /^R0/, old_size: NINE.length, size: NINE.length + 5 },
  ]);
  t.equal(one.files.length, 1);
  t.match((await get(`/commits/${next}/diff?path=gone`)).json.files, [
    { path: 'gone', state: 'D', mode: null, oid: null, size: 0 },
  ]);
  const bytes = (await get(`/commits/${root}/diff?path_bytes=${Buffer.from([255, 254]).toString('base64url')}`)).json;
  t.match(bytes.files, [{ path: '\ufffd\ufffd', path_bytes: '__4', additions: 1 }]);
  t.same((await get(`/commits/${root}/diff?path=none`)).json.files, []);
  for (const [query, detail] of [
    ['parent=3', /^parent must be from 1 to 2/],
    ['parent=0', /^parent must be/],
    ['path=a&path_bytes=YQ', /^Only one of path and path_bytes/],
    ['path_bytes=a', /^path_bytes must be/],
    ['old_path_bytes=*', /^old_path_bytes must be/],
  ] as const)
    t.match(await get(`/commits/${merge}/diff?${query}`), { status: 400, json: { detail } }, query);
  t.match(await get(`/commits/${root}/diff?parent=1`), { status: 400, json: { detail: /the commit has no parents/ } });
  t.match(await get(`/commits/${git.run(['rev-parse', 'main^{tree}'])}/diff`), { status: 404 });
});

/** Formats a changed file like `git diff-tree --raw -z`. */
function rawOf(file: Record<string, string | null>): string {
  const zero = '0'.repeat(40);
  const bytes = (name: string) =>
    Buffer.from(file[`${name}_bytes`] ?? '', 'base64url').toString('latin1') ||
    Buffer.from(file[name]!).toString('latin1');
  const modes = `:${file.old_mode ?? '000000'} ${file.mode ?? '000000'} ${file.old_oid ?? zero} ${file.oid ?? zero} ${file.state}\0`;
  return `${modes}${file.old_path === undefined ? '' : `${bytes('old_path')}\0`}${bytes('path')}\0`;
}

t.test('a large diff is truncated, and marked as truncated', async (t) => {
  using git = new ScratchGit();
  const line = `${'x'.repeat(99)}\n`;
  const files = Object.fromEntries(
    Array.from({ length: 1005 }, (_, at) => [`many/${String(at).padStart(4, '0')}`, '1\n']),
  );
  const root = commit(git, { ...files, 'a-large': line.repeat(30_000), 'b-line': 'y'.repeat(5_000_000) });
  const { get } = await served(t, git);
  const { json } = await get(`/commits/${root}/diff`);
  t.match(json, { is_truncated: true, stats: { files: 1007, additions: 31_006 } });
  t.equal(json.files.length, 1000);
  const [large, long, small] = json.files as File[];
  t.equal(large!.is_truncated, true);
  t.ok(large!.patch.length <= 256 * 1024 && large!.patch.endsWith(`${line}`), 'at the end of a line');
  t.equal(long!.is_truncated, true);
  t.ok(long!.patch.length <= 256 * 1024);
  t.match(small, { path: 'many/0000', is_truncated: false, patch: /\+1\n$/ });
  const whole = (await get(`/commits/${root}/diff?path=a-large`)).json.files[0];
  t.ok(whole.patch.length > 1024 * 1024 && whole.patch.length <= 2 * 1024 * 1024);
  t.equal(whole.is_truncated, true);
});

t.test('the total size of the patches of a diff is limited', async (t) => {
  using git = new ScratchGit();
  const content = `${'x'.repeat(99)}\n`.repeat(2000);
  const names = Array.from({ length: 14 }, (_, at) => `file-${String(at).padStart(2, '0')}`);
  const root = commit(git, Object.fromEntries(names.map((name) => [name, content])));
  const { get } = await served(t, git);
  const files: File[] = (await get(`/commits/${root}/diff`)).json.files;
  t.same(
    files.map(({ path }) => path),
    names,
  );
  t.ok(files.reduce((sum, { patch }) => sum + patch.length, 0) <= 2 * 1024 * 1024);
  t.match([files[0], files[13]], [{ is_truncated: false }, { is_truncated: true, patch: '', additions: 2000 }]);
});

t.test('a path of any bytes is read at a ref', async (t) => {
  using git = new ScratchGit();
  const first = commit(git, { 'd/e.txt': 'one\n', '\xff\xfe': 'bytes\n', '\xc3\xbc ?&#': 'ü\n' });
  const second = commit(git, { 'd/e.txt': 'two\n', bin: Buffer.from([0xff]) }, first);
  const { get } = await served(t, git);
  const blob = (content: string | Buffer) => git.run(['hash-object', '--stdin'], content);
  t.same((await get('/content?path=d/e.txt')).json, {
    commit: second,
    path: 'd/e.txt',
    type: 'blob',
    mode: '100644',
    oid: blob('two\n'),
    size: 4,
    encoding: 'utf-8',
    content: 'two\n',
    is_truncated: false,
  });
  t.match((await get('/content?path=d/e.txt&ref=main~1')).json, { commit: first, content: 'one\n' });
  t.match((await get(`/content?path=${encodeURIComponent('ü ?&#')}`)).json, { path: 'ü ?&#', content: 'ü\n' });
  t.match((await get('/content?path=bin')).json, { encoding: 'base64', content: '/w==' });
  t.match((await get('/content?path_bytes=__4')).json, { path_bytes: '__4', content: 'bytes\n' });
  const tree = (await get(`/tree/${second}`)).json.items;
  t.match(tree.at(-1), { name: '\ufffd\ufffd', name_bytes: '__4' });
  t.notOk('name_bytes' in tree[0]);
  const folder = (await get('/content?path=d')).json;
  t.same(folder, { commit: second, path: 'd', type: 'tree', mode: '040000', oid: git.run(['rev-parse', 'main:d']) });
  t.match((await get('/content')).json, { path: '', type: 'tree', oid: git.run(['rev-parse', 'main^{tree}']) });
  for (const path of ['none', 'd/', '/d', 'd/e.txt/x', '../d', 'd//e.txt'])
    t.match(await get(`/content?path=${path}`), { status: 404, json: { code: 'not_found' } }, path);
  t.match(await get('/content?path=d&ref=none'), { status: 404, json: { code: 'ref_not_found' } });
});

t.test('blame returns ranges of lines', async (t) => {
  using git = new ScratchGit();
  const first = commit(git, { 'a.txt': NINE });
  const second = commit(git, { 'a.txt': NINE.replace('line 4', 'other') }, first);
  const { get } = await served(t, git);
  const expected = git
    .run(['blame', '-l', '-s', '--root', 'main', '--', 'a.txt'])
    .split('\n')
    .map((line) => line.slice(0, 40));
  const { json } = await get('/blame?path=a.txt');
  t.match(json, { commit: second, path: 'a.txt' });
  t.same(
    json.ranges.flatMap(({ commit: oid, lines }: { commit: string; lines: number }) => Array(lines).fill(oid)),
    expected,
  );
  t.same(json.ranges[1], {
    line: 5,
    lines: 1,
    commit: second,
    original_line: 5,
    original_path: 'a.txt',
    previous: first,
  });
  t.same(json.commits.map(({ oid }: { oid: string }) => oid).sort(), [first, second].sort());
  t.match(json.commits[0], { subject: 'change', author: 'A U Thor', committed_at: '2023-11-14T18:44:20-03:30' });
  t.same(
    (await get('/blame?path=a.txt&range=5,6')).json.ranges.map(({ line, lines }: Record<string, number>) => [
      line,
      lines,
    ]),
    [
      [5, 1],
      [6, 1],
    ],
  );
  t.match((await get('/blame?path=a.txt&ref=main~1')).json.ranges, [{ line: 1, lines: 9, commit: first }]);
  for (const [query, status] of [
    ['', 400],
    ['path=none', 404],
    ['path=a.txt&range=100', 400],
    [`path=a.txt&range=${'1'.repeat(5000)}`, 400],
    ['path=a.txt&ref=none', 404],
  ] as const)
    t.match(await get(`/blame?${query}`), { status }, query.slice(0, 40));
});

t.test('an annotated tag is shown with its object, tagger and message', async (t) => {
  using git = new ScratchGit();
  const oid = commit(git, { a: 'a\n' });
  const identity = 'tagger Ada <ada@example.com> 1700000000 +0230';
  const head = `object ${oid}\ntype commit\ntag v1`;
  const tagged = { name: 'v1', object: oid, type: 'commit' };
  const tagger = { name: 'Ada', email: 'ada@example.com', date: '2023-11-15T00:43:20+02:30' };
  const armour = '-----BEGIN PGP SIGNATURE-----\n\nx\n-----END PGP SIGNATURE-----\n';
  const long = 'x'.repeat(2 ** 20);
  const tags: [body: string, shown: object][] = [
    [`${head}\n${identity}\n\nFirst\n\nof all\n`, { ...tagged, tagger, message: 'First\n\nof all\n' }],
    [`${head}\n${identity}\n\n${armour}`, { ...tagged, tagger, message: armour }],
    [`${head}\n\nwithout a tagger`, { ...tagged, tagger: null, message: 'without a tagger' }],
    [`${head}\n${identity}\n`, { ...tagged, tagger, message: '' }],
    [`${head}\n${identity}\n\n${long}`, { ...tagged, tagger, is_message_truncated: true }],
  ];
  const oids = tags.map(([body], at) => {
    const tag = git.run(['hash-object', '-w', '-t', 'tag', '--stdin', '--literally'], body);
    git.run(['update-ref', `refs/tags/t${at}`, tag]);
    return tag;
  });
  const { get } = await served(t, git);
  for (const [at, [, shown]] of tags.entries()) {
    const response = await get(`/tag/${oids[at]}`);
    t.equal(response.status, 200);
    t.match(response.json, { oid: oids[at], is_message_truncated: false, ...shown });
  }
  t.equal((await get(`/tag/${oid}`)).status, 404, 'a commit is not a tag');
  t.equal((await get(`/tag/${'0'.repeat(40)}`)).status, 404);
});

t.test('the last commit of each entry of a folder is the one that git log -1 shows', async (t) => {
  using git = new ScratchGit();
  const first = commit(git, { 'a.txt': 'a\n', 'd/one': '1\n', 'd/two': '2\n', 'd/e/f': 'f\n', '\xff\xfe': 'bytes\n' });
  const second = commit(git, { 'd/two': null }, first);
  const third = commit(git, { 'd/e/f': 'g\n' }, second);
  const { get } = await served(t, git);
  const subject = { subject: 'change', author: 'A U Thor', committed_at: '2023-11-14T18:44:20-03:30' };
  const { status, json } = await get('/last-commits');
  t.equal(status, 200);
  t.match(json, {
    commit: third,
    path: '',
    entries: [
      { name: 'a.txt', commit: first },
      { name: 'd', commit: third },
      { name_bytes: '__4', commit: first },
    ],
    commits: [
      { oid: first, ...subject },
      { oid: third, ...subject },
    ],
  });
  t.match((await get('/last-commits?ref=main~1')).json.entries[1], { name: 'd', commit: second }, 'a removed file');
  t.match((await get('/last-commits?path=d')).json.entries, [
    { name: 'e', commit: third },
    { name: 'one', commit: first },
  ]);
  t.match((await get('/last-commits?path=d/e')).json, { path: 'd/e', entries: [{ name: 'f', commit: third }] });
  for (const [query, code, detail] of [
    ['path=none', 'not_found', /"none" does not exist/],
    ['path=a.txt', 'not_found', /"a.txt" is not a folder/],
    ['ref=none', 'ref_not_found', /none/],
  ] as const)
    t.match(await get(`/last-commits?${query}`), { status: 404, json: { code, detail } }, query);
});
