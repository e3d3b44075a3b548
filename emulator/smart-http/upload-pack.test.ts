import t from 'tap';
import { bytesOf } from '../git/object/bytes.js';
import { linearHistory } from '../git/test/history.js';
import { createRepository } from '../git/test/memory-repository.js';
import { Workbench } from '../git/test/workbench.js';
import { TestServer } from './test/test-server.js';
import { objectsOf, stage } from './test/test-stage.js';

const VERSIONS = ['0', '1', '2'] as const;

const refsOf = (bench: Workbench, folder: string) =>
  bench.git(folder, 'for-each-ref', '--format=%(objectname) %(refname)');

t.test('a clone equals the repository, in every protocol version', async (t) => {
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
      linearHistory(9, { branch: 'more', from: 'refs/heads/main^0', tags: false }),
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
    const ahead = linearHistory(70, { branch: 'side', files: 1, from: 'refs/heads/side^0', tags: false });
    await bench.feed(ahead, clone, 'fast-import', '--quiet');
    await bench.git(clone, '-c', `protocol.version=${version}`, 'fetch', '-q', 'origin', 'main');
    t.equal(await bench.git(clone, 'rev-parse', 'FETCH_HEAD'), await bench.git('work', 'rev-parse', 'main'));
    await bench.git(clone, 'fsck', '--strict', '--no-dangling');
  }
});

t.test('any object of the repository can be fetched by its id, and no other', async (t) => {
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

t.test('empty repositories, unborn and detached HEADs', async (t) => {
  await using bench = await Workbench.create();
  const repository = createRepository(bytesOf('trunk'));
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
  const first = await bench.oid('work', 'rev-parse', 'main~2');
  await repository.transact((transaction) => transaction.updateHead({ oid: first }));
  for (const version of VERSIONS) {
    const clone = `detached-${version}`;
    await bench.git('.', '-c', `protocol.version=${version}`, 'clone', '-q', server.url(), clone);
    t.equal(await bench.git(clone, 'rev-parse', 'HEAD'), first);
  }
});

t.test('gitlinks are sent, and their commits are not required', async (t) => {
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
