import t from 'tap';
import { type Service, startService } from '../service.js';
import { stateDigest } from '../world/state-digest.js';

// Tests commits that commit-pack creates over the API, with unusual combinations of paths, modes, messages and authors.

const PACK = '/api/v1/repos/commit-pack';

type Entry = { path: unknown; mode?: unknown; operation?: unknown; content?: string };

/** Builds a commit-pack body with one file operation per entry (`upsert` by default). Each file has its own content. */
function bodyOf(entries: readonly Entry[], extra: Record<string, unknown> = {}): string {
  const files = entries.map(({ content: _, ...entry }, n) => ({ ...entry, content_id: `c${n}` }));
  const chunks = entries.flatMap(({ operation, content = 'x' }, n) =>
    operation === 'delete'
      ? []
      : [{ blob_chunk: { content_id: `c${n}`, data: Buffer.from(content).toString('base64'), eof: true } }],
  );
  const metadata = { target_branch: 'main', commit_message: 'm', author: { name: 'A', email: 'a@x' }, files, ...extra };
  return [{ metadata }, ...chunks].map((line) => `${JSON.stringify(line)}\n`).join('');
}

async function start(t: { teardown(f: () => unknown): unknown }): Promise<Service> {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  await service.seed('team/app', { a: 'file\n', 'd/e/f': 'f\n', 'd/g': 'g\n' });
  return service;
}

async function treeOf(service: Service): Promise<string[]> {
  const { json } = await service.call('GET', '/api/v1/repos/files');
  return json.entries.map(({ mode, path }: { mode: string; path: string }) => `${mode} ${path}`);
}

t.test('valid paths are accepted and invalid paths are refused', async (t) => {
  const service = await start(t);
  const bad = [
    '',
    '/',
    '//',
    '///',
    'a//b',
    'a/',
    'x/',
    '.',
    './x',
    'x/.',
    'x/./y',
    '..',
    '../x',
    'x/..',
    'x/../y',
    '.git',
    '.git/x',
    '.GIT/x',
    '.Git',
    'x/.git',
    'x/.git/y',
    'git~1',
    'GIT~1/x',
    '.git ',
    '.git.',
    '.git. .',
    '.git::$INDEX_ALLOCATION',
    '.git:x',
    '.g\u200cit',
    '.\u200dgit',
    '.gi\ufefft/x',
    'x\u0000y',
    'x\ny',
    'x'.repeat(256),
    `${'x/'.repeat(2048)}y`,
    'x/'.repeat(3000),
    '\ud800',
    'x\udfff',
    7,
    null,
    undefined,
    ['x'],
    {},
  ];
  for (const path of bad) {
    const before = stateDigest(service.world);
    const response = await service.call('POST', PACK, { body: bodyOf([{ path }]) });
    t.equal(response.status, 400, `${JSON.stringify(path)?.slice(0, 60)}: ${response.text.slice(0, 160)}`);
    t.equal(stateDigest(service.world), before);
  }
  const good: [given: string, stored?: string][] = [
    ['/x1', 'x1'],
    ['///x2/y', 'x2/y'],
    ['a\\b'],
    ['x\ty'],
    [' '],
    ['.gitx'],
    ['git'],
    ['.gitignore'],
    ['...'],
    ['x y'],
    ['größe'],
    ['e\u0301'],
    ['\u00e9'],
    ['😀'],
    ['-x'],
    ['con'],
    ['__proto__'],
    ['constructor/prototype'],
    ['x'.repeat(255)],
    [`${'y/'.repeat(2047)}y`],
    ['"q"'],
    [':(glob)*'],
    ['\x01\x7f'],
  ];
  const response = await service.call('POST', PACK, { body: bodyOf(good.map(([path]) => ({ path, content: path }))) });
  t.equal(response.status, 201, response.text);
  const tree = await treeOf(service);
  for (const [given, stored = given] of good) {
    t.ok(tree.includes(`100644 ${stored}`), JSON.stringify(stored).slice(0, 60));
    const file = await service.call('GET', `/api/v1/repos/file?path=${encodeURIComponent(stored)}`);
    t.match(file, { status: 200, text: given });
  }
});

t.test('the four file modes and their requirements', async (t) => {
  const service = await start(t);
  const id = '0123456789abcdef0123456789abcdef01234567';
  const bad: unknown[] = [
    '040000',
    '40000',
    '100664',
    '0100644',
    '644',
    '100600',
    '',
    '100644 ',
    100644,
    null,
    '__proto__',
    ['100644'],
  ];
  for (const mode of bad)
    t.equal((await service.call('POST', PACK, { body: bodyOf([{ path: 'x', mode }]) })).status, 400, String(mode));
  for (const content of ['x', id.toUpperCase(), `${id}\n`, id.slice(1), '']) {
    t.equal(
      (await service.call('POST', PACK, { body: bodyOf([{ path: 'm', mode: '160000', content }]) })).status,
      400,
      content,
    );
  }
  t.equal((await service.call('POST', PACK, { body: bodyOf([{ path: '.gitmodules', mode: '120000' }]) })).status, 400);
  t.equal((await service.call('POST', PACK, { body: bodyOf([{ path: 'x', operation: 'rename' }]) })).status, 400);
  const all = [
    { path: 'm/file', mode: '100644' },
    { path: 'm/run', mode: '100755' },
    { path: 'm/link', mode: '120000', content: '../a' },
    { path: 'm/module', mode: '160000', content: id },
  ];
  const written = await service.call('POST', PACK, { body: bodyOf(all) });
  t.match(written, { status: 201, json: { commit: { blob_count: 3 } } });
  t.same(
    (await treeOf(service)).filter((line) => line.includes(' m/')),
    ['100644 m/file', '120000 m/link', '160000 m/module', '100755 m/run'],
  );
  const link = await service.call('GET', '/api/v1/repos/file?path=m/link');
  t.equal(link.text, '../a', 'a link is read as its target');
  t.equal((await service.call('GET', '/api/v1/repos/file?path=m/module')).status, 404);
  t.equal((await service.call('POST', PACK, { body: bodyOf([{ path: 'm/run', content: 'again' }]) })).status, 201);
  t.ok((await treeOf(service)).includes('100755 m/run'), 'no mode keeps the mode');
});

t.test('several file operations on the same or nested paths', async (t) => {
  const rows: [what: string, entries: Entry[], tree: string[] | undefined][] = [
    ['the same path twice', [{ path: 'x' }, { path: 'x' }], undefined],
    ['the same path, once with a slash', [{ path: 'x' }, { path: '/x' }], undefined],
    ['upsert and delete', [{ path: 'x' }, { path: 'x', operation: 'delete' }], undefined],
    ['a file and a folder', [{ path: 'x' }, { path: 'x/y' }], undefined],
    ['a folder below a file that is there', [{ path: 'a/b' }], undefined],
    ['a file where a folder is', [{ path: 'd' }], undefined],
    ['below a file that goes', [{ path: 'a/b' }, { path: 'a', operation: 'delete' }], ['a/b', 'd/e/f', 'd/g']],
    ['a file for a folder that goes', [{ path: 'd', operation: 'delete' }, { path: 'd' }], undefined],
    [
      'a file for the last files of a folder',
      [{ path: 'd/e/f', operation: 'delete' }, { path: 'd/e' }],
      ['a', 'd/e', 'd/g'],
    ],
    ['a folder goes', [{ path: 'd', operation: 'delete' }], ['a']],
    ['a file of a folder goes', [{ path: 'd/e/f', operation: 'delete' }], ['a', 'd/g']],
    [
      'what is not there goes',
      [
        { path: 'none', operation: 'delete' },
        { path: 'd/none', operation: 'delete' },
      ],
      ['a', 'd/e/f', 'd/g'],
    ],
    ['nothing', [], ['a', 'd/e/f', 'd/g']],
    [
      'everything goes',
      [
        { path: 'a', operation: 'delete' },
        { path: 'd/e/f', operation: 'delete' },
        { path: 'd/g', operation: 'delete' },
      ],
      [],
    ],
  ];
  for (const [what, entries, tree] of rows) {
    const service = await start(t);
    const before = stateDigest(service.world);
    const response = await service.call('POST', PACK, { body: bodyOf(entries) });
    t.equal(response.status, tree ? 201 : 400, `${what}: ${response.text.slice(0, 200)}`);
    if (tree)
      t.same(
        (await treeOf(service)).map((line) => line.split(' ')[1]),
        tree,
        what,
      );
    else t.equal(stateDigest(service.world), before, what);
  }
});

t.test('missing members and wrong types are refused with the name of the member', async (t) => {
  const service = await start(t);
  const good = { target_branch: 'main', commit_message: 'm', author: { name: 'A', email: 'a@x' }, files: [] };
  const send = (metadata: unknown) => service.call('POST', PACK, { body: `${JSON.stringify({ metadata })}\n` });
  const before = stateDigest(service.world);
  for (const member of Object.keys(good)) {
    for (const value of [
      undefined,
      null,
      7,
      {},
      ...(member === 'files' ? ['x'] : [[]]),
      ...(member === 'author' ? ['A <a@x>'] : []),
    ]) {
      const response = await send({ ...good, [member]: value });
      t.equal(response.status, 400, `${member} ${JSON.stringify(value)}`);
      t.match(response.json.detail, new RegExp(member.split('_')[0]!));
    }
  }
  const people = [
    { name: 'A' },
    { email: 'x' },
    { name: '', email: 'x' },
    { name: 'A', email: '' },
    { name: '<>', email: 'x' },
    { name: ' \n', email: 'x' },
    { name: 'A', email: '<>' },
    { name: 'a\u0000b', email: 'x' },
    { name: 1, email: 'x' },
  ];
  for (const person of people) {
    t.equal((await send({ ...good, author: person })).status, 400, `author ${JSON.stringify(person)}`);
    t.equal((await send({ ...good, committer: person })).status, 400, `committer ${JSON.stringify(person)}`);
  }
  for (const message of ['', ' ', '\n\n', 'a\u0000b'])
    t.equal((await send({ ...good, commit_message: message })).status, 400);
  for (const flag of ['ephemeral', 'ephemeral_base', 'target_is_ephemeral', 'base_is_ephemeral']) {
    for (const value of ['true', 1, null])
      t.equal((await send({ ...good, [flag]: value })).status, 400, `${flag} ${value}`);
  }
  t.equal(stateDigest(service.world), before);
  const odd = {
    ...good,
    author: { name: 'Eve\ncommitter <x@y>', email: 'e@x>\nparent 0' },
    commit_message: 'gpgsig x\n tree y\n\nencoding z',
  };
  const written = await send(odd);
  t.equal(written.status, 201);
  t.match((await service.call('GET', '/api/v1/repos/commit?sha=main')).json.commit, {
    author_name: /^Eve/,
    message: odd.commit_message,
  });
  t.equal((await service.call('GET', '/api/v1/repos/commit?sha=main')).json.commit.parent_shas.length, 1);
});
