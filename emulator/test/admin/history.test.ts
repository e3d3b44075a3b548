import t, { type Test } from 'tap';
import { GeneratedHistory } from '../../git/test/generated-history.js';
import { ScratchGit, Workbench } from '../../git/test/workbench.js';
import { startAdmin } from './admin-service.js';

interface Row {
  readonly oid: string;
  readonly parents: readonly string[];
  readonly subject: string;
  readonly refs?: readonly string[];
}

/** Starts an emulator with a repository `r`. It has all refs of the repository `git`. */
async function served(t: Test, git: ScratchGit) {
  const service = await startAdmin(t, { fsck: 'off' });
  const bench = await Workbench.create();
  t.teardown(() => bench[Symbol.asyncDispose]());
  await service.call('POST', '/api/repos', { repo: 'r' });
  const push = async (path: string, ...args: string[]) => {
    const remote = await service.remote('r', { path });
    await bench.git('.', '-C', git.path, 'push', '-q', remote, ...args);
  };
  await push('r', 'refs/*:refs/*');
  const get = (path: string) => service.admin('GET', `/repositories/r${path}`);
  /** Requests all pages of a list, and returns the items of all pages. */
  const all = async (path: string, limit: number): Promise<Row[]> => {
    const rows: Row[] = [];
    for (let cursor = ''; ; ) {
      const { json } = await get(`${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor}`);
      rows.push(...json.items);
      if (!json.has_more) return rows;
      cursor = `&cursor=${json.next_cursor}`;
    }
  };
  return { ...service, push, get, all };
}

const LINE = '--format=%H|%P|%s|%an|%ae|%aI|%cI';

function lineOf(row: Row & Record<string, unknown>): string {
  const { oid, parents, subject, author, author_email, authored_at, committed_at } = row;
  const date = (text: unknown) => String(text).replace(/Z$/, '+00:00');
  return [oid, parents.join(' '), subject, author, author_email, date(authored_at), date(committed_at)].join('|');
}

t.test(
  'a graph equals git log --date-order of branches and tags, of all refs, of a prefix, and of one ref',
  async (t) => {
    using generated = new GeneratedHistory({ seed: 31, commits: 120, skew: 200 });
    const { git, commits } = generated;
    const at = (index: number) => commits[index]!;
    git.run(['update-ref', 'refs/heads/main', at(119)]);
    git.run(['update-ref', 'refs/heads/side', at(97)]);
    git.run(['update-ref', 'refs/notes/x', at(60)]);
    git.run(['update-ref', 'refs/tags/light', at(50)]);
    git.run(['tag', '-a', '-m', 'tagged', 'heavy', at(115)]);
    const { all, get, push } = await served(t, git);
    await push('r+ephemeral', `${at(110)}:refs/heads/preview`);
    const preview = 'refs/namespaces/ephemeral/refs/heads/preview';
    git.run(['update-ref', preview, at(110)]);
    const log = (...args: string[]) => git.run(['log', '--date-order', LINE, ...args]).split('\n');
    for (const [query, args] of [
      ['', ['--branches', '--tags']],
      ['?all=true', ['--all']],
      ['?all=false', ['--branches', '--tags']],
      ['?prefix=refs/namespaces/', [preview]],
      ['?prefix=refs/heads/', ['--branches']],
      ['?prefix=', ['--all']],
      ['?ref=side', ['side']],
      ['?ref=heavy', ['heavy']],
      [`?ref=${preview}`, [preview]],
      ['?ref=main~3', ['main~3']],
    ] as const) {
      const expected = log(...args);
      for (const limit of [1000, 7]) {
        const rows = await all(`/graph${query}`, limit);
        t.same(
          rows.map((row) => lineOf(row as Row & Record<string, unknown>)),
          expected,
          `${query} by ${limit}`,
        );
      }
      t.equal((await get(`/graph${query}${query === '' ? '?' : '&'}limit=1`)).json.total, expected.length);
    }
    const refs = new Map((await all('/graph?all=true', 1000)).map(({ oid, refs }) => [oid, refs]));
    for (const line of git
      .run(['for-each-ref', '--format=%(refname) %(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)'])
      .split('\n')) {
      const [name, oid] = line.split(' ') as [string, string];
      t.ok(refs.get(oid)?.includes(name), name);
    }
    const shown = (await get('/refs?limit=1000')).json.items.map((ref: Record<string, unknown>) => [
      ref.name,
      ref.short,
      ref.kind,
      ref.namespace,
      ref.type,
      ref.commit,
    ]);
    t.same(
      shown.filter(([name]: string[]) => !/\/b\d+$/.test(name!)),
      [
        ['refs/heads/main', 'main', 'branch', null, 'commit', at(119)],
        ['refs/heads/side', 'side', 'branch', null, 'commit', at(97)],
        [preview, 'preview', 'branch', 'ephemeral', 'commit', at(110)],
        ['refs/notes/x', 'x', 'note', null, 'commit', at(60)],
        ['refs/tags/heavy', 'heavy', 'tag', null, 'tag', at(115)],
        ['refs/tags/light', 'light', 'tag', null, 'commit', at(50)],
      ],
    );
    for (const [query, status] of [
      ['?ref=none', 404],
      ['?ref=main&all=true', 400],
      ['?prefix=refs/&all=true', 400],
      ['?all=1', 400],
      ['?limit=0', 400],
      ['?cursor=x', 400],
      ['?other=1', 400],
    ] as const)
      t.match(await get(`/graph${query}`), { status }, query);
  },
);

t.test('the parts of a graph fit together while refs move, even if a cursor cannot keep all tips', async (t) => {
  using git = new ScratchGit();
  const tree = git.run(['mktree']);
  const commit = (message: string, ...parents: string[]) =>
    git.run(['commit-tree', tree, '-m', message, ...parents.flatMap((parent) => ['-p', parent])]);
  const root = commit('root');
  for (const count of [3, 70]) {
    for (let branch = 0; branch < count; branch++)
      git.run(['update-ref', `refs/heads/b${branch}`, commit(`b${branch}`, root)]);
    const { get, push, commit: write } = await served(t, git);
    const before = (await get('/graph?limit=1000')).json.items as Row[];
    const first = (await get('/graph?limit=2')).json;
    t.equal(first.total, count + 1);
    await write('r', { x: 'x' }, { target_branch: 'b1' });
    await push('r', `${commit('new', root)}:refs/heads/new`);
    const rest = (await get(`/graph?limit=1000&cursor=${first.next_cursor}`)).json.items as Row[];
    const oids = [...first.items, ...rest].map(({ oid }: Row) => oid);
    t.equal(new Set(oids).size, oids.length, 'no commit is shown twice');
    if (count === 3)
      t.same(
        oids,
        before.map(({ oid }) => oid),
      );
    t.equal(oids.at(-1), root);
    for (let branch = 0; branch < count; branch++) git.run(['update-ref', '-d', `refs/heads/b${branch}`]);
  }
});

t.test('an empty repository has an empty graph', async (t) => {
  const service = await startAdmin(t);
  await service.call('POST', '/api/repos', { repo: 'r' });
  for (const path of ['graph', 'graph?all=true', 'refs', 'notes'])
    t.match((await service.admin('GET', `/repositories/r/${path}`)).json, {
      items: [],
      has_more: false,
      next_cursor: null,
    });
  t.match(await service.admin('GET', '/repositories/r/graph?ref=main'), { status: 404 });
  t.match(await service.admin('GET', '/repositories/none/graph'), { status: 404 });
});

t.test('a commit is shown with its refs and notes, and notes are listed as git lists them', async (t) => {
  using git = new ScratchGit();
  const tree = git.run(['mktree']);
  const root = git.run(['commit-tree', tree, '-m', 'root']);
  const odd = git.add(
    'commit',
    `tree ${tree}\nparent ${root}\nauthor \xc4 <a@x> 1700000000 +0130\ncommitter C <c@x> 1700000009 -0200\nencoding ISO-8859-1\ngpgsig -----BEGIN\n \n abc\n -----END\nchange-id 42\n\n\n two\nlines\n\nbody \xe4\n`,
  );
  git.run(['update-ref', 'refs/heads/main', odd]);
  git.run(['update-ref', 'refs/tags/v1', odd]);
  git.run(['notes', 'add', '-m', 'first', odd]);
  git.run(['notes', '--ref=reviews', 'add', '-m', 'second', odd]);
  git.run(['notes', 'add', '-m', 'of root', root]);
  const { get } = await served(t, git);
  t.same((await get(`/commits/${odd}`)).json, {
    oid: odd,
    message: '\n two\nlines\n\nbody ä\n',
    is_message_truncated: false,
    tree,
    parents: [root],
    author: { name: 'Ä', email: 'a@x', date: '2023-11-14T23:43:20+01:30' },
    committer: { name: 'C', email: 'c@x', date: '2023-11-14T20:13:29-02:00' },
    encoding: 'ISO-8859-1',
    signature: '-----BEGIN\n\nabc\n-----END',
    headers: [{ name: 'change-id', value: '42' }],
    refs: ['refs/heads/main', 'refs/tags/v1'],
    notes: [
      {
        ref: 'refs/notes/commits',
        oid: git.run(['notes', 'list', odd]),
        size: 6,
        encoding: 'utf-8',
        content: 'first\n',
        is_truncated: false,
      },
      {
        ref: 'refs/notes/reviews',
        oid: git.run(['notes', '--ref=reviews', 'list', odd]),
        size: 7,
        encoding: 'utf-8',
        content: 'second\n',
        is_truncated: false,
      },
    ],
  });
  t.equal((await get('/graph')).json.items[0].subject, git.run(['log', '-1', '--format=%s', odd]));
  t.match((await get(`/commits/${root}`)).json, {
    parents: [],
    refs: [],
    notes: [{ content: 'of root\n' }],
    headers: [],
  });
  const listed = (json: { items: { target: string; note: string }[] }) =>
    json.items.map(({ target, note }) => `${note} ${target}`);
  t.same(listed((await get('/notes')).json), git.run(['notes', 'list']).split('\n'));
  const first = (await get('/notes?limit=1')).json;
  const second = (await get(`/notes?limit=1&cursor=${first.next_cursor}`)).json;
  t.same([...listed(first), ...listed(second)], git.run(['notes', 'list']).split('\n'));
  t.same(
    listed((await get('/notes?ref=refs/notes/reviews')).json),
    git.run(['notes', '--ref=reviews', 'list']).split('\n'),
  );
  t.match(await get('/notes?ref=refs/notes/none'), { status: 404 });
  for (const [path, status] of [
    [`/commits/${tree}`, 404],
    [`/commits/${'1'.repeat(40)}`, 404],
    ['/commits/main', 400],
  ] as const)
    t.match(await get(path), { status }, path);
});

t.test('long messages and subjects are truncated', async (t) => {
  using git = new ScratchGit();
  const long = git.run(['commit-tree', git.run(['mktree'])], `${'ä'.repeat(2_000_000)}\n`);
  git.run(['update-ref', 'refs/heads/main', long]);
  const { get } = await served(t, git);
  const { message, is_message_truncated } = (await get(`/commits/${long}`)).json;
  t.same([message.length, is_message_truncated], [1024 * 1024, true]);
  t.equal((await get('/graph')).json.items[0].subject, `${'ä'.repeat(512)}…`);
});
