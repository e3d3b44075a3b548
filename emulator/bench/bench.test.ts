import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { packageFile } from '../system/package-root.js';
import { parseBenchArguments } from './arguments.js';
import { ancestorBehind, generatedFixture } from './fixture.js';
import { git } from './git.js';
import { historyStream } from './history-stream.js';
import { chooseWords, fetchRequest, lsRefsRequest } from './questions.js';
import { appendEntry, cellsOf, readEntries, replacePart, SERVICE, shorten, writeReport } from './report.js';
import { measureRow, type Result, type Row, summarize } from './row.js';
import { ROWS_OF_REPOSITORY, ROWS_OF_SERVICE } from './rows/index.js';
import { Tally } from './soak/tally.js';
import { commitBody } from './soak/user.js';
import { median, quantile } from './statistics.js';

// needs: git

t.test('every row has an id of its own and a bar', async (t) => {
  const rows = [...ROWS_OF_SERVICE, ...ROWS_OF_REPOSITORY];
  t.same(new Set(rows.map(({ id }) => id)).size, rows.length);
  t.ok(rows.every(({ id, bar }) => /^[a-z]+(-[a-z0-9]+)*$/.test(id) && bar > 0));
});

t.test('medians and quantiles', async (t) => {
  t.equal(median([3, 1, 2]), 2);
  t.equal(median([4, 1, 2, 3]), 2.5, 'an even number: half-way between the middle two');
  t.equal(quantile([1, 2, 3, 4, 5], 0), 1);
  t.equal(quantile([1, 2, 3, 4, 5], 1), 5);
  t.equal(quantile([0, 10], 0.99), 9.9);
  t.ok(Number.isNaN(median([])));
  const values = [3, 1, 2];
  median(values);
  t.same(values, [3, 1, 2], 'the values stay as they are');
});

const head = { id: 'x', title: 'a thing', peer: 'git thing', unit: 'ms', bar: 0.5 } as const;

t.test('a row', async (t) => {
  t.test('is run on both sides in meter, each first in every other round', async (t) => {
    const order: string[] = [];
    const side = (name: string, figure: number) => async (round: number) => {
      order.push(`${name}${round}`);
      return figure;
    };
    const row: Row<string> = {
      ...head,
      mostRounds: 3,
      open: (place, use) => {
        for (const name of ['first', 'second']) {
          use({ [Symbol.asyncDispose]: async () => void order.push(`${name} disposed of`) });
        }
        return { ours: side(place, 1), native: side('native', 4) };
      },
    };
    const result = await measureRow(row, 'here', 10);
    t.same(order, [
      'here0',
      'native0',
      'native1',
      'here1',
      'here2',
      'native2',
      'second disposed of',
      'first disposed of',
    ]);
    t.match(result, { ratio: 0.25, firstRatio: 0.25, isReached: true });
  });
  t.test('has at least one round, and no other that would end too late', async (t) => {
    const rounds = async (seconds: number) => {
      const ours = async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return 1;
      };
      const row: Row<undefined> = { ...head, mostRounds: 2, open: () => ({ ours }) };
      return (await measureRow(row, undefined, seconds)).samples.ours.length;
    };
    t.equal(await rounds(0.001), 1);
    t.equal(await rounds(1000), 2);
  });
  t.test('disposes of what it used when it fails', async (t) => {
    let isDisposed = false;
    const row: Row<undefined> = {
      ...head,
      open: (_place, use) => {
        use({
          [Symbol.asyncDispose]: async () => {
            isDisposed = true;
          },
        });
        return {
          ours: async () => {
            throw new Error('no');
          },
        };
      },
    };
    await t.rejects(measureRow(row, undefined, 10), { message: 'no' });
    t.ok(isDisposed);
  });
  t.test('compares the sides of each round, so that a slow spell of the machine drops out', async (t) => {
    t.equal(summarize(head, { ours: [1, 2, 90, 4], native: [10, 20, 300, 40] }).ratio, 0.1);
  });
  t.test('is checked by the side of the bar that counts', async (t) => {
    const samples = { ours: [40], native: [100] };
    t.equal(summarize(head, samples).isReached, true);
    t.equal(summarize({ ...head, isMoreBetter: true }, samples).isReached, false);
    t.equal(summarize({ ...head, bar: 39 }, { ours: [40], native: [] }).isReached, false, 'without a peer');
    t.equal(summarize({ ...head, bar: 41 }, { ours: [40], native: [] }).isReached, true, 'without a peer');
  });
});

t.test('tables', async (t) => {
  const results = [
    summarize(head, { ours: [1, 3], native: [10, 10] }),
    summarize({ ...head, title: 'memory', peer: 'VmHWM', unit: 'MB', bar: 700 }, { ours: [1234], native: [] }),
    summarize({ ...head, id: 'y', title: 'another' }, { ours: [2], native: [5] }),
  ];
  const entry = (column: string, result: Result) => ({ machine: '2 cores', column, size: '9 objects', result });
  t.equal(
    writeReport(
      results.map((result, at) => entry(SERVICE, { ...result, id: `row-${at}` })),
      [{ id: 'row-0' }, { id: 'row-1' }, { id: 'row-2' }],
    ),
    [
      '2 cores. A figure that misses its bar is marked ✗.',
      '',
      '|  | ours | peer | ours / peer | first round | bar |  |',
      '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
      '| a thing | 2.00 ms | 10.0 ms (git thing) | 0.20 | 0.10 | ≤ 0.50 | ✓ |',
      '| memory | 1,234 MB | VmHWM |  |  | ≤ 700 MB | ✗ |',
      '| another | 2.00 ms | 5.00 ms (git thing) | 0.40 | 0.40 | ≤ 0.50 | ✓ |',
      '',
    ].join('\n'),
  );
  t.equal(
    writeReport(
      [
        entry(SERVICE, results[1]!),
        entry('small', { ...results[0]!, ratio: 0.6, isReached: false }),
        entry('large', { ...results[0]!, bar: 0.1, isReached: false }),
        entry('large', results[2]!),
        entry('small', results[0]!),
        { ...entry('small', results[0]!), result: { ...results[0]!, id: 'gone' } },
      ],
      [{ id: 'x' }, { id: 'y' }],
    ),
    [
      '2 cores. A figure that misses its bar is marked ✗.',
      '',
      '|  | ours | peer | ours / peer | first round | bar |  |',
      '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
      '| memory | 1,234 MB | VmHWM |  |  | ≤ 700 MB | ✗ |',
      '',
      '|  | bar | small (9 objects) | large (9 objects) |',
      '| --- | ---: | ---: | ---: |',
      '| a thing | ≤ 0.50 (small), ≤ 0.10 (large) | 0.20 | 0.20 ✗ |',
      '| another | ≤ 0.50 |  | 0.40 |',
      '',
    ].join('\n'),
    'of two results of a row the last counts, and one of a row that is gone does not',
  );
  t.same(cellsOf(results[0]!), ['a thing', '2.00 ms', '10.0 ms (git thing)', '0.20', '0.10', '≤ 0.50', '✓']);
  t.same([shorten(0.123), shorten(12.34), shorten(123.4), shorten(12_345)], ['0.12', '12.3', '123', '12,345']);
});

t.test('the same history comes out of the same arguments', async (t) => {
  const digest = (commits: number, seed?: number) => {
    const hash = createHash('sha256');
    for (const piece of historyStream(commits, seed)) hash.update(piece);
    return hash.digest('hex');
  };
  t.equal(digest(300), digest(300));
  t.not(digest(300), digest(300, 2));
});

t.test('git fsck accepts a generated history', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-test-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const fixture = await generatedFixture(folder, 400);
  t.equal(await git(fixture.path, ['fsck', '--strict', '--no-progress']), '');
  t.equal(fixture.line[0], await git(fixture.path, ['rev-parse', 'main']));
  t.same(
    fixture.refs.map(({ name }) => name),
    ['refs/heads/main', 'refs/tags/v0.1', 'refs/tags/v0.2', 'refs/tags/v0.3', 'refs/tags/v0.4'],
  );
  const count = async (...args: string[]) => Number(await git(fixture.path, ['rev-list', '--count', ...args, 'main']));
  t.equal(await count(), 400);
  t.ok((await count('--merges')) > 5, 'with merges');
  t.match(
    await git(fixture.path, ['log', '--diff-filter=R', '-M', '--name-status', '--format=', 'main']),
    /^R/,
    'renames',
  );
  t.match(await git(fixture.path, ['log', '--diff-filter=D', '--name-only', '--format=', 'main']), /^src/, 'deletions');
  const have = await ancestorBehind(fixture, 0, 100);
  t.ok(Number(await git(fixture.path, ['rev-list', '--count', 'main', `^${have}`])) >= 100, 'a fetch of 100 commits');
  const again = await generatedFixture(folder, 400);
  t.equal(again.line[0], fixture.line[0], 'and is made once');
  const { literal, expression } = await chooseWords(fixture);
  t.match(await git(fixture.path, ['grep', '-E', '-h', literal, 'main']), new RegExp(literal));
  t.match(await git(fixture.path, ['grep', '-E', '-h', expression, 'main']), new RegExp(expression));
});

t.test('requests are what a git client sends', async (t) => {
  t.match(lsRefsRequest().toString(), /^0014command=ls-refs\n.*0001.*0000$/s);
  const want = 'a'.repeat(40);
  t.match(fetchRequest([want], [], 'deepen 1').toString(), /000cdeepen 10032want a{40}0009done\n0000$|deepen 1\n/);
  t.notMatch(fetchRequest([want], []).toString(), /deepen|have/);
});

t.test('what the soak tallies', async (t) => {
  const tally = new Tally();
  for (let round = 0; round < 30; round++) tally.expect(false, `finding ${round}`);
  tally.expect(true, 'nothing');
  t.equal(tally.findings.length, 30);
  tally.time('read', 1);
  tally.time('read', 3);
  t.equal(tally.quantile('read', 0.5), 2);
  t.ok(Number.isNaN(tally.quantile('write', 0.5)));
  t.equal(tally.requests, 2);
  const lines = commitBody(new Map([['a', Buffer.from('x')]])).map((line) => JSON.parse(line.toString()));
  t.match(lines, [
    { metadata: { target_branch: 'main', files: [{ path: 'a', content_id: 'c0' }] } },
    { blob_chunk: { content_id: 'c0', data: 'eA==', eof: true } },
  ]);
});

t.test('results in a file', async (t) => {
  const file = join(t.testdir(), 'results.ndjson');
  const result = summarize(head, { ours: [1], native: [4] });
  const another = summarize({ ...head, id: 'y' }, { ours: [2], native: [] });
  const entries = [result, another].map((each) => ({ machine: 'm', column: 'c', size: '', result: each }));
  for (const entry of entries) await appendEntry(file, entry);
  const rows = [{ id: 'y' }, { id: 'x' }];
  t.equal(writeReport(await readEntries(file), rows), writeReport(entries, rows), 'come back as they were');
  await appendFile(file, '{"machine":"m","col');
  t.equal((await readEntries(file)).length, 2, 'a line that was broken off is left out');
  await appendFile(file, '\n');
  await t.rejects(readEntries(file), { message: /^Line 3 of .*results.ndjson is no result of npm run bench\.$/ });
  await t.rejects(readEntries(`${file}.none`), { message: /results.ndjson.none cannot be read: ENOENT\.$/ });
});

t.test('a printed part of a document', async (t) => {
  const part = 'figures';
  const [begin, end] = ['<!-- figures: printed by npm run bench -- --write -->', '<!-- end of figures -->'];
  const written = replacePart(`a\n${begin}\nold\n${end}\nb\n`, part, '| new |\n');
  t.equal(written, `a\n${begin}\n\n| new |\n\n${end}\nb\n`, 'what is around it stays');
  t.equal(replacePart(written, part, '| new |\n'), written);
  for (const document of ['', begin, `${end}${begin}`, `${begin}${end}${begin}${end}`]) {
    t.throws(() => replacePart(document, part, ''), { message: /lacks the markers of figures/ });
  }
  const readme = await readFile(packageFile('emulator/bench/README.md'), 'utf8');
  for (const one of ['figures', 'peers'] as const) t.doesNotThrow(() => replacePart(readme, one, ''), one);
});

t.test('arguments', async (t) => {
  t.match(parseBenchArguments([]), { seconds: 12, repositories: [], generated: [4000] });
  const several = ['--repo', 'git/git=/r/git.git', '--repo', '/r/koa.git', '--generated', '5', '--generated', '6'];
  t.match(parseBenchArguments(several), {
    repositories: [
      { name: 'git/git', path: '/r/git.git' },
      { name: 'koa', path: '/r/koa.git' },
    ],
    generated: [5, 6],
  });
  t.same(parseBenchArguments(['--repo', '/r/koa/.git']), parseBenchArguments(['--repo', 'koa=/r/koa/.git']));
  t.match(parseBenchArguments(['--join', 'a', '--write']), { join: 'a', writes: true });
  t.match(parseBenchArguments(['--seconds', '2', '--only', '^git-']), { seconds: 2, only: /^git-/ });
  const refused: readonly (readonly [RegExp, ...string[]])[] = [
    [/^--seconds takes a whole number/, '--seconds', '0'],
    [/^--seconds takes a whole number/, '--seconds', ''],
    [/^--generated takes a whole number/, '--generated', '1e3'],
    [/take each name and number once/, '--generated', '5', '--generated', '5'],
    [/take each name and number once/, '--repo', '/a/x.git', '--repo', '/b/x.git'],
    [/^--repo takes PATH, or NAME=PATH/, '--repo', '=/a'],
    [/^--repo takes PATH, or NAME=PATH/, '--repo', 'x='],
    [/^--only takes a regular expression/, '--only', '('],
    [/^--resume needs --json/, '--resume'],
  ];
  for (const [message, ...argv] of refused) t.throws(() => parseBenchArguments(argv), { message }, argv.join(' '));
  t.throws(() => parseBenchArguments(['--what']));
  const main = packageFile('dist/emulator/bench/main.js');
  t.match(spawnSync(process.execPath, [main, '--help']), { status: 0, stdout: /--only PATTERN/ });
  t.match(spawnSync(process.execPath, [main, '--resume']), { status: 2, stderr: /^--resume needs/ });
});
