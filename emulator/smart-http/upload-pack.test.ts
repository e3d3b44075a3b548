import { gzipSync } from 'node:zlib';
import t from 'tap';
import type { GitRepository } from '../git/repository.js';
import { packet } from './pkt-line.js';
import { commitTime, createRepository, linearHistory, Workbench } from './test-git.js';
import { TestServer, type TestServerOptions } from './test-server.js';

const VERSIONS = ['0', '1', '2'] as const;

interface Stage extends AsyncDisposable {
  readonly bench: Workbench;
  readonly repository: GitRepository;
  readonly server: TestServer;
}

/** A repository with 60 commits, two merged side branches and tags; `work` is the same as the real git has it. */
const MERGES = [
  linearHistory(40),
  linearHistory(8, { branch: 'side', files: 6, from: 'v20^{commit}' }).replaceAll(/tag v\d+\n[\s\S]*$/g, ''),
];

async function stage(options: TestServerOptions = {}): Promise<Stage> {
  const bench = await Workbench.create();
  const repository = createRepository();
  const server = await TestServer.start(repository, options);
  await bench.import('work', MERGES[0]!);
  await bench.feed(MERGES[1]!, 'work', 'fast-import', '--quiet');
  await bench.git('work', 'reset', '-q', '--hard', 'main');
  await bench.git('work', 'merge', '-q', '--no-ff', '-s', 'ours', '-m', 'merge', 'side');
  await bench.git('work', 'commit', '-q', '--allow-empty', '-m', 'top');
  await bench.git('work', 'tag', 'light', 'main~4');
  await bench.git('work', 'tag', '-a', '-m', 'of a tag', 'nested', 'v30');
  await bench.git('work', 'push', '-q', server.url(), 'main', 'side', '--tags');
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

const objectsOf = async (bench: Workbench, folder: string, ...revisions: string[]) =>
  (
    await bench.git(
      folder,
      'rev-list',
      '--objects',
      '--no-object-names',
      ...(revisions.length > 0 ? revisions : ['--all']),
    )
  )
    .split('\n')
    .sort();

const refsOf = (bench: Workbench, folder: string) =>
  bench.git(folder, 'for-each-ref', '--format=%(objectname) %(refname)');

t.test('a clone is the repository, in every version', async (t) => {
  await using s = await stage();
  const { bench, server } = s;
  for (const version of VERSIONS) {
    const clone = `clone-${version}`;
    await bench.git('.', '-c', `protocol.version=${version}`, 'clone', '-q', '--mirror', server.url(), clone);
    await bench.git(clone, 'fsck', '--strict', '--no-dangling');
    t.equal(await refsOf(bench, clone), await refsOf(bench, 'work'));
    t.same(await objectsOf(bench, clone), await objectsOf(bench, 'work'));
    t.equal(await bench.git(clone, 'symbolic-ref', 'HEAD'), 'refs/heads/main');
  }
  t.equal(
    await bench.git('.', 'ls-remote', server.url()),
    await bench.git('.', 'ls-remote', `file://${bench.path}/work`),
  );
});

t.test('one branch comes with the tags on it', async (t) => {
  await using s = await stage();
  const { bench, server } = s;
  for (const version of VERSIONS) {
    const clone = `clone-${version}`;
    await bench.git(
      '.',
      '-c',
      `protocol.version=${version}`,
      'clone',
      '-q',
      '--single-branch',
      '-b',
      'side',
      server.url(),
      clone,
    );
    await bench.git(clone, 'fsck', '--strict', '--no-dangling');
    t.equal(await bench.git(clone, 'tag'), 'v10\nv20');
    t.same(await objectsOf(bench, clone), await objectsOf(bench, 'work', 'side', 'v10', 'v20'));
  }
});

t.test('fetches bring what is new, with and without thin packs', async (t) => {
  await using s = await stage();
  const { bench, server } = s;
  for (const version of VERSIONS) {
    await bench.git('.', '-c', `protocol.version=${version}`, 'clone', '-q', server.url(), `clone-${version}`);
  }
  for (let round = 0; round < 3; round++) {
    await bench.feed(
      linearHistory(9, { branch: 'more', from: 'refs/heads/main^0' }).replaceAll(/tag v\d+\n[\s\S]*$/g, ''),
      'work',
      'fast-import',
      '--quiet',
      '--force',
    );
    await bench.git('work', 'reset', '-q', '--hard', 'more');
    await bench.git('work', 'push', '-q', server.url(), 'main');
    for (const version of VERSIONS) {
      const thin = round === 1 ? '--no-thin' : '--thin';
      const clone = `clone-${version}`;
      const fetched = await bench.git(clone, '-c', `protocol.version=${version}`, 'fetch', '-q', 'origin');
      t.equal(fetched, '', thin);
      await bench.git(clone, 'fsck', '--strict', '--no-dangling');
      t.equal(await bench.git(clone, 'rev-parse', 'origin/main'), await bench.git('work', 'rev-parse', 'main'));
    }
  }
});

t.test('a client ahead of the server finds the common ground', async (t) => {
  await using s = await stage();
  const { bench, server } = s;
  for (const version of VERSIONS) {
    const clone = `ahead-${version}`;
    await bench.git('.', 'clone', '-q', '-b', 'side', '--single-branch', server.url(), clone);
    for (let index = 0; index < 70; index++) await bench.git(clone, 'commit', '-q', '--allow-empty', '-m', `${index}`);
    await bench.git(clone, '-c', `protocol.version=${version}`, 'fetch', '-q', 'origin', 'main');
    t.equal(await bench.git(clone, 'rev-parse', 'FETCH_HEAD'), await bench.git('work', 'rev-parse', 'main'));
    await bench.git(clone, 'fsck', '--strict', '--no-dangling');
  }
});

t.test('shallow clones deepen and become whole as with git', async (t) => {
  await using s = await stage();
  const { bench, server } = s;
  const steps: string[][] = [
    ['--depth', '3'],
    ['--depth', '7'],
    ['--deepen', '2'],
    [`--shallow-since=${commitTime(30)}`],
    ['--shallow-exclude=v10'],
    ['--shallow-exclude=side'],
    ['--depth', '2'],
    ['--unshallow'],
  ];
  for (const version of VERSIONS) {
    const protocol = ['-c', `protocol.version=${version}`];
    const [ours, theirs] = [`ours-${version}`, `theirs-${version}`];
    await bench.git('.', ...protocol, 'clone', '-q', '--depth', '1', server.url(), ours);
    await bench.git('.', ...protocol, 'clone', '-q', '--depth', '1', `file://${bench.path}/work`, theirs);
    for (const step of [[], ...steps]) {
      for (const clone of [ours, theirs]) await bench.git(clone, ...protocol, 'fetch', '-q', ...step, 'origin', 'main');
      const name = `version ${version}, fetch ${step.join(' ')}`;
      const boundary = async (clone: string) =>
        (await bench.git(clone, 'rev-list', '--all', '--min-parents=0')).split('\n').sort();
      const shallow = async (clone: string) => (await bench.run(clone, 'sh', ['-c', 'sort .git/shallow'])).stdout;
      t.equal(await shallow(ours), await shallow(theirs), name);
      t.same(await boundary(ours), await boundary(theirs), name);
      t.same(await objectsOf(bench, ours), await objectsOf(bench, theirs), name);
      await bench.git(ours, 'fsck', '--strict', '--no-dangling');
    }
  }
});

t.test('a shallow client follows new commits', async (t) => {
  await using s = await stage();
  const { bench, server } = s;
  await bench.git('.', 'clone', '-q', '--depth', '2', server.url(), 'clone');
  await bench.git('work', 'commit', '-q', '--allow-empty', '-m', 'one more');
  await bench.git('work', 'push', '-q', server.url(), 'main');
  await bench.git('clone', 'fetch', '-q', 'origin');
  await bench.git('clone', 'fsck', '--strict', '--no-dangling');
  t.equal(await bench.git('clone', 'rev-list', '--count', 'origin/main'), '3');
  t.not((await bench.try('clone', 'fetch', `--shallow-since=${commitTime(10_000)}`)).status, 0);
});

t.test('partial clones leave out what they say and fetch it later', async (t) => {
  await using s = await stage();
  const { bench, server } = s;
  const filters = [
    'blob:none',
    'blob:limit=700',
    'blob:limit=1k',
    'tree:0',
    'tree:1',
    'tree:2',
    'object:type=commit',
    'object:type=tag',
    'object:type=tree',
    'combine:tree:3+blob:none',
    'combine:blob:limit=700+object:type=blob',
  ];
  await bench.git('work', 'config', 'uploadpack.allowFilter', 'true');
  for (const [index, filter] of filters.entries()) {
    for (const version of ['0', '2']) {
      const protocol = ['-c', `protocol.version=${version}`];
      const [ours, theirs] = [`ours-${index}-${version}`, `theirs-${index}-${version}`];
      await bench.git('.', ...protocol, 'clone', '-q', '--bare', `--filter=${filter}`, server.url(), ours);
      await bench.git(
        '.',
        ...protocol,
        'clone',
        '-q',
        '--bare',
        `--filter=${filter}`,
        `file://${bench.path}/work`,
        theirs,
      );
      const held = async (clone: string) =>
        (await bench.git(clone, 'cat-file', '--batch-all-objects', '--batch-check=%(objectname)')).split('\n').sort();
      t.same(await held(ours), await held(theirs), `${filter}, version ${version}`);
    }
  }
  await bench.git('.', 'clone', '-q', '--filter=tree:0', server.url(), 'lazy');
  await bench.git('lazy', 'log', '-p', '--all');
  await bench.git('lazy', 'checkout', '-q', 'v20');
  await bench.git('lazy', 'fsck', '--strict', '--no-dangling');
  await bench.git('work', 'commit', '-q', '--allow-empty', '-m', 'one more');
  await bench.git('work', 'push', '-q', server.url(), 'main');
  await bench.git('lazy', 'fetch', '-q', 'origin');
  t.equal(await bench.git('lazy', 'rev-parse', 'origin/main'), await bench.git('work', 'rev-parse', 'main'));
  const { stderr } = await bench.try('.', 'clone', '--bare', '--filter=sparse:oid=main:x', server.url(), 'sparse');
  t.match(stderr, /sparse/);
});

t.test('any object that is there can be fetched by its id, and no other', async (t) => {
  await using s = await stage();
  const { bench, server } = s;
  await bench.git('.', 'init', '-q', 'by-id');
  const [commit, tag] = [await bench.git('work', 'rev-parse', 'main~7'), await bench.git('work', 'rev-parse', 'v10')];
  for (const version of VERSIONS) {
    for (const oid of [commit, tag])
      await bench.git('by-id', '-c', `protocol.version=${version}`, 'fetch', '-q', server.url(), oid);
    const { stderr } = await bench.try(
      'by-id',
      '-c',
      `protocol.version=${version}`,
      'fetch',
      server.url(),
      '1'.repeat(40),
    );
    t.match(stderr, /remote error: upload-pack: not our ref 1{40}/);
  }
  await bench.git('work', 'push', '-q', server.url(), 'main:refs/heads/gone');
  await bench.git('work', 'commit', '-q', '--amend', '--allow-empty', '-m', 'lost');
  await bench.git('work', 'push', '-q', server.url(), 'main:refs/heads/lost');
  const lost = await bench.git('work', 'rev-parse', 'main');
  await bench.git('work', 'push', '-q', server.url(), ':refs/heads/lost');
  const { stderr } = await bench.try('by-id', '-c', 'protocol.version=0', 'fetch', server.url(), lost);
  t.match(stderr, /not our ref/, 'version 0 serves what a ref leads to');
});

t.test('empty, unborn and detached', async (t) => {
  await using bench = await Workbench.create();
  const repository = createRepository('trunk');
  await using server = await TestServer.start(repository);
  for (const version of VERSIONS) {
    await bench.git('.', '-c', `protocol.version=${version}`, 'clone', '-q', server.url(), `empty-${version}`);
    const expected = version === '2' ? 'refs/heads/trunk' : /refs\/heads\/ma(in|ster)/;
    t.match(await bench.git(`empty-${version}`, 'symbolic-ref', 'HEAD'), expected, 'version 2 names the unborn branch');
  }
  await bench.import('work', linearHistory(3));
  await bench.git('work', 'push', '-q', server.url(), 'main');
  t.equal((await bench.git('.', 'ls-remote', '--symref', server.url())).includes('HEAD'), false, 'HEAD still unborn');
  await bench.git('.', 'clone', '-q', '-b', 'main', server.url(), 'clone');
  const first = await bench.git('work', 'rev-parse', 'main~2');
  repository.setRefs(repository.refs.withHead({ oid: first }));
  for (const version of VERSIONS) {
    const clone = `detached-${version}`;
    await bench.git('.', '-c', `protocol.version=${version}`, 'clone', '-q', server.url(), clone);
    t.equal(await bench.git(clone, 'rev-parse', 'HEAD'), first);
  }
});

t.test('links to other repositories are carried, not followed', async (t) => {
  await using bench = await Workbench.create();
  const repository = createRepository();
  await using server = await TestServer.start(repository);
  await bench.git('.', 'init', '-q', '-b', 'main', 'work');
  await bench.git('work', 'update-index', '--add', '--cacheinfo', `160000,${'12'.repeat(20)},sub`);
  await bench.git('work', 'commit', '-q', '-m', 'a gitlink');
  await bench.git('work', 'push', '-q', server.url(), 'main');
  for (const extra of [[], ['--depth=1'], ['--filter=blob:none']]) {
    await bench.git('.', 'clone', '-q', ...extra, server.url(), `clone${extra.join()}`);
    t.match(await bench.git(`clone${extra.join()}`, 'ls-tree', 'HEAD'), /^160000 commit (12){20}\tsub/);
  }
});

async function ask(server: TestServer, body: Buffer | string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${server.url()}/git-upload-pack`, {
    method: 'POST',
    body: new Uint8Array(Buffer.from(body as string)),
    headers: { 'content-type': 'application/x-git-upload-pack-request', 'git-protocol': 'version=2', ...headers },
  });
}

const askText = async (...request: Parameters<typeof ask>) =>
  Buffer.from(await (await ask(...request)).arrayBuffer()).toString('latin1');

/** `(a, b, '|', c)` as packets: `|` is a delimiter, and a flush ends it. */
const command = (...lines: string[]) =>
  `${lines.map((line) => (line === '|' ? '0001' : packet(`${line}\n`).toString())).join('')}0000`;

t.test('headers are those git http-backend sends', async (t) => {
  await using s = await stage();
  const { server } = s;
  for (const service of ['git-upload-pack', 'git-receive-pack']) {
    const { status, headers } = await fetch(`${server.url()}/info/refs?service=${service}`);
    t.equal(status, 200);
    t.equal(headers.get('content-type'), `application/x-${service}-advertisement`);
    t.equal(headers.get('cache-control'), 'no-cache, max-age=0, must-revalidate');
    t.equal(headers.get('expires'), 'Fri, 01 Jan 1980 00:00:00 GMT');
    t.equal(headers.get('pragma'), 'no-cache');
  }
  const answer = await ask(server, command('command=ls-refs', '|'));
  t.equal(answer.headers.get('content-type'), 'application/x-git-upload-pack-result');
  t.equal(answer.headers.get('cache-control'), 'no-cache, max-age=0, must-revalidate');
  const wrong = await ask(server, '0000', { 'content-type': 'application/x-git-receive-pack-request' });
  t.equal(wrong.status, 415);
  t.match(
    await wrong.text(),
    /^Expected POST with Content-Type 'application\/x-git-upload-pack-request', but received/,
  );
});

t.test('advertisements are worded as documented', async (t) => {
  await using s = await stage();
  const { server, bench } = s;
  const refs = async (service: string, version: string) =>
    (
      await fetch(`${server.url()}/info/refs?service=${service}`, { headers: { 'git-protocol': `version=${version}` } })
    ).text();
  const main = await bench.git('work', 'rev-parse', 'main');
  const v2 = await refs('git-upload-pack', '2');
  t.match(v2, /^000eversion 2\n[0-9a-f]{4}agent=git\/test\n/);
  t.match(v2, 'ls-refs=unborn\n');
  t.match(v2, 'fetch=shallow wait-for-done filter ref-in-want\n');
  t.match(v2, /session-id=session-\d+\n0000$/);
  const v1 = await refs('git-upload-pack', '1');
  t.match(v1, `001e# service=git-upload-pack\n0000000eversion 1\n`);
  const v0 = await refs('git-upload-pack', '0');
  t.match(
    v0,
    new RegExp(
      `^001e# service=git-upload-pack\\n0000[0-9a-f]{4}${main} HEAD\\0multi_ack .* symref=HEAD:refs/heads/main `,
    ),
  );
  t.match(v0, /refs\/tags\/v10\^\{\}\n/);
  const push = await refs('git-receive-pack', '2');
  t.match(
    push,
    /^001f# service=git-receive-pack\n0000[0-9a-f]{4}[0-9a-f]{40} refs\/heads\/main\0report-status report-status-v2 /,
  );
  t.notMatch(push, /\^\{\}|HEAD/);
});

t.test('ls-refs shows what is asked for', async (t) => {
  await using s = await stage();
  const { server, bench } = s;
  const oid = (revision: string) => bench.git('work', 'rev-parse', revision);
  const list = async (...lines: string[]) =>
    [...(await askText(server, command('command=ls-refs', '|', ...lines))).matchAll(/[0-9a-f]{4}(.*)\n/g)].map(
      (match) => match[1],
    );
  t.same(await list('ref-prefix HEAD', 'symrefs'), [`${await oid('main')} HEAD symref-target:refs/heads/main`]);
  t.same(await list('peel', 'ref-prefix refs/tags/v1'), [
    `${await oid('v10')} refs/tags/v10 peeled:${await oid('v10^{}')}`,
  ]);
  t.same(
    await list('ref-prefix refs/heads/s', 'ref-prefix refs/heads/side', 'ref-prefix refs/heads/', 'ref-prefix x'),
    [`${await oid('main')} refs/heads/main`, `${await oid('side')} refs/heads/side`],
  );
  t.equal((await list('peel')).length, 1 + 2 + 4 + 2);
  t.match(await askText(server, command('command=ls-refs', '|', 'nonsense')), /ERR unexpected line: 'nonsense'/);
});

t.test('the other commands of version 2', async (t) => {
  await using s = await stage();
  const { server, bench } = s;
  const oid = (revision: string) => bench.git('work', 'rev-parse', revision);
  const [main, blob] = [await oid('main'), await oid('main:folder-1/deep/file-1.txt')];
  const size = await bench.git('work', 'cat-file', '-s', blob);
  t.equal(
    await askText(server, command('command=object-info', '|', 'size', `oid ${blob}`, `oid ${'1'.repeat(40)}`)),
    `0009size\n${packet(`${blob} ${size}\n`)}${packet(`${'1'.repeat(40)} \n`)}0000`,
  );
  const fetch = (...lines: string[]) =>
    askText(server, command('command=fetch', 'agent=test', 'server-option=x', 'object-format=sha1', '|', ...lines));
  t.equal(await fetch(`want ${main}`, `have ${'1'.repeat(40)}`), `0014acknowledgments\n0008NAK\n0000`);
  const ready = await fetch(`want ${main}`, `have ${await oid('main~3')}`, 'no-progress');
  t.ok(ready.startsWith(`0014acknowledgments\n${packet(`ACK ${await oid('main~3')}\n`)}000aready\n0001000dpackfile\n`));
  t.match(ready, /PACK[\s\S]*0000$/);
  const waits = await fetch(`want ${main}`, `have ${await oid('main~3')}`, 'wait-for-done');
  t.equal(waits, `0014acknowledgments\n${packet(`ACK ${await oid('main~3')}\n`)}0000`);
  const wanted = await fetch('want-ref refs/heads/side', 'done', 'no-progress', 'deepen 1');
  t.ok(
    wanted.startsWith(
      `0011shallow-info\n${packet(`shallow ${await oid('side')}`)}00010010wanted-refs\n${packet(`${await oid('side')} refs/heads/side\n`)}0001000dpackfile\n`,
    ),
  );
  t.equal(await fetch('done'), '', 'nothing wanted');
  t.match(await fetch('want-ref refs/heads/none'), /ERR unknown ref refs\/heads\/none/);
  t.match(await fetch('want-ref refs/heads/side', 'want-ref refs/heads/side'), /ERR duplicate want-ref/);
  t.match(await fetch(`want ${main}`, 'filter blob:nonsense', 'done'), /ERR invalid filter-spec 'blob:nonsense'/);
  t.match(await fetch(`want ${main}`, 'deepen 1', 'deepen-since 5', 'done'), /ERR .*cannot be used together/);
  t.match(
    await fetch(`want ${main}`, 'deepen-not nowhere', 'done'),
    /ERR upload-pack: deepen-not is not a ref: nowhere/,
  );
  t.match(await fetch(`want ${main}`, 'deepen 0', 'done'), /ERR Invalid deepen/);
  t.match(await fetch(`want main`), /ERR protocol error, expected to get object ID/);
});

t.test('requests that are none are answered, not served', async (t) => {
  await using s = await stage({ limits: { lines: 500, fetchBytes: 100_000 } });
  const { server } = s;
  t.equal(await askText(server, '0000'), '');
  t.equal(await askText(server, ''), '');
  t.match(await askText(server, command('command=nonsense', '|')), /ERR invalid command 'nonsense'/);
  t.match(
    await askText(server, command('command=fetch', 'command=ls-refs', '|')),
    /ERR command 'ls-refs' requested after/,
  );
  t.match(await askText(server, command('agent=x')), /ERR no command requested/);
  t.match(await askText(server, command('command=fetch', 'nonsense', '|')), /ERR unknown capability 'nonsense'/);
  t.match(await askText(server, command('command=fetch', 'object-format=sha256', '|')), /ERR mismatched object format/);
  t.match(
    await askText(server, command('command=fetch', '|').slice(0, -4)),
    /ERR expected flush after fetch arguments/,
  );
  t.match(await askText(server, command('command=ls-refs', '|', ...Array(600).fill('peel'))), /ERR too many lines/);
  const bomb = gzipSync(
    Buffer.from(command('command=ls-refs', '|', ...Array(400).fill(`ref-prefix ${'x'.repeat(400)}`))),
  );
  t.equal((await ask(server, bomb, { 'content-encoding': 'gzip' })).status, 413);
  t.match(
    await askText(server, command('nonsense'), { 'git-protocol': '' }),
    /ERR protocol error, expected to get object ID/,
  );
});

t.test('the same clone twice is the same bytes, kept', async (t) => {
  await using s = await stage();
  const { server, bench } = s;
  const main = await bench.git('work', 'rev-parse', 'main');
  const request = command('command=fetch', '|', `want ${main}`, 'ofs-delta', 'done');
  const [first, second] = [await askText(server, request), await askText(server, request)];
  t.equal(first, second);
  t.equal(await askText(server, gzipSync(request), { 'content-encoding': 'gzip' }), first, 'compressed too');
});
