import t from 'tap';
import { commitTime } from '../git/test/history.js';
import { sample } from '../test/sample.js';
import { objectsOf, stage } from './test/test-stage.js';

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
  for (const version of sample(t, ['0', '2'], 1)) {
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
  for (const [index, filter] of sample(t, [...filters.entries()], 5)) {
    for (const version of index % 4 === 0 ? ['0', '2'] : ['2']) {
      const protocol = ['-c', `protocol.version=${version}`];
      const clone = `clone-${index}-${version}`;
      await bench.git('.', ...protocol, 'clone', '-q', '--bare', `--filter=${filter}`, server.url(), clone);
      const held = await bench.git(clone, 'cat-file', '--batch-all-objects', '--batch-check=%(objectname)');
      t.same(
        held.split('\n').sort(),
        await objectsOf(bench, 'work', '--all', `--filter=${filter}`),
        `${filter} ${version}`,
      );
    }
  }
  await bench.git('.', 'clone', '-q', '--filter=tree:0', server.url(), 'lazy');
  await bench.git('lazy', 'log', '-p', '-5', 'main~3');
  await bench.git('lazy', 'checkout', '-q', 'v20');
  await bench.git('lazy', 'fsck', '--strict', '--no-dangling');
  await bench.git('work', 'commit', '-q', '--allow-empty', '-m', 'one more');
  await bench.git('work', 'push', '-q', server.url(), 'main');
  await bench.git('lazy', 'fetch', '-q', 'origin');
  t.equal(await bench.git('lazy', 'rev-parse', 'origin/main'), await bench.git('work', 'rev-parse', 'main'));
  const { stderr } = await bench.try('.', 'clone', '--bare', '--filter=sparse:oid=main:x', server.url(), 'sparse');
  t.match(stderr, /sparse/);
});
