import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { parseBenchArguments } from './arguments.js';
import { fetchRequest, lsRefsRequest } from './fetch-requests.js';
import { ancestorBehind, generatedFixture } from './fixture.js';
import { historyStream } from './history/history-stream.js';
import { Random } from './history/random.js';
import { git } from './native-git.js';
import { measureRow, type Row, summarize } from './row.js';
import { API_ROWS } from './rows/api.js';
import { CLIENT_ROWS } from './rows/client.js';
import { CONFORMANCE_ROWS } from './rows/conformance.js';
import { ENGINE_ROWS } from './rows/engine.js';
import { SERVICE_ROWS } from './rows/service.js';
import { WIRE_ROWS } from './rows/wire.js';
import { WORLD_ROWS } from './rows/worlds.js';
import { chooseWords } from './search-words.js';
import { Tally } from './soak/tally.js';
import { commitBody } from './soak/user.js';
import { median, pairedRatio, quantile } from './statistics.js';
import { shorten, writeGrowthTable, writeTable } from './table.js';

t.test('every row has an id of its own and a bar', async (t) => {
  const rows = [
    ...SERVICE_ROWS,
    ...WORLD_ROWS,
    ...CONFORMANCE_ROWS,
    ...WIRE_ROWS,
    ...ENGINE_ROWS,
    ...CLIENT_ROWS,
    ...API_ROWS,
  ];
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

t.test('a slow spell of the machine drops out of the ratio', async (t) => {
  t.equal(pairedRatio([1, 2, 30, 4], [10, 20, 300, 40]), 0.1);
  t.equal(pairedRatio([1, 2], [2]), 0.5, 'a round that only one side has does not count');
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
      open: (place) => ({
        ours: side(place, 1),
        native: side('native', 4),
        close: async () => void order.push('closed'),
      }),
    };
    const result = await measureRow(row, 'here', 3);
    t.same(order, ['here0', 'native0', 'native1', 'here1', 'here2', 'native2', 'closed']);
    t.match(result, { ratio: 0.25, firstRatio: 0.25, isReached: true, isServed: true });
  });
  t.test('is closed when it fails', async (t) => {
    let isClosed = false;
    const open = () => ({
      ours: async () => {
        throw new Error('no');
      },
      close: async () => {
        isClosed = true;
      },
    });
    await t.rejects(measureRow({ ...head, open }, undefined, 1), { message: 'no' });
    t.ok(isClosed);
  });
  t.test('that is not served is no reached bar', async (t) => {
    const open = () => ({ ours: async () => undefined, native: async () => 5 });
    t.match(await measureRow({ ...head, open }, undefined, 4), { isServed: false, isReached: false, ratio: undefined });
  });
  t.test('is checked by the side of the bar that counts', async (t) => {
    const samples = { ours: [40], native: [100] };
    t.equal(summarize(head, true, samples).isReached, true);
    t.equal(summarize({ ...head, isMoreBetter: true }, true, samples).isReached, false);
    t.equal(summarize({ ...head, bar: 39 }, true, { ours: [40], native: [] }).isReached, false, 'without a peer');
    t.equal(summarize({ ...head, bar: 41 }, true, { ours: [40], native: [] }).isReached, true, 'without a peer');
  });
});

t.test('tables', async (t) => {
  const results = [
    summarize(head, true, { ours: [1, 3], native: [10, 10] }),
    summarize({ ...head, title: 'memory', peer: 'VmHWM', unit: 'MB', bar: 700 }, true, { ours: [1234], native: [] }),
    summarize({ ...head, title: 'absent' }, false, { ours: [], native: [5] }),
  ];
  t.equal(
    writeTable(results),
    [
      '|  | ours | peer | ours / peer | first round | bar |  |',
      '| --- | ---: | ---: | ---: | ---: | ---: | ---: |',
      '| a thing | 2.00 ms | 10.0 ms (git thing) | 0.20 | 0.10 | ≤ 0.50 | ✓ |',
      '| memory | 1,234 MB | VmHWM |  |  | ≤ 700 MB | ✗ |',
      '| absent | not served | 5.00 ms (git thing) |  |  | ≤ 0.50 | – |',
      '',
    ].join('\n'),
  );
  t.equal(
    writeGrowthTable([
      { label: 'small', results: [results[0]!] },
      { label: 'large', results: [] },
    ]),
    '|  | small | large |\n| --- | ---: | ---: |\n| a thing | 2.00 / 10.0 ms = 0.20 |  |\n',
  );
  t.same([shorten(0.123), shorten(12.34), shorten(123.4), shorten(12_345)], ['0.12', '12.3', '123', '12,345']);
});

t.test('chance repeats', async (t) => {
  const draw = (seed: number) => {
    const random = new Random(seed);
    return Array.from({ length: 1000 }, () => random.next());
  };
  t.same(draw(1), draw(1));
  t.notSame(draw(1), draw(2));
  t.ok(draw(3).every((value) => value >= 0 && value < 1));
  t.same(draw(1).slice(0, 2), [0.6270739405881613, 0.002735721180215478], 'on every machine');
});

t.test('the same history comes out of the same options', async (t) => {
  const digest = (commits: number, seed?: number) => {
    const hash = createHash('sha256');
    for (const piece of historyStream(seed === undefined ? { commits } : { commits, seed })) hash.update(piece);
    return hash.digest('hex');
  };
  t.equal(digest(300), digest(300));
  t.not(digest(300), digest(300, 2));
});

t.test('a generated history is one Git has nothing to say against', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'bench-test-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const fixture = await generatedFixture(folder, 400);
  t.equal(fixture.commits, 400);
  t.equal(await git(fixture.path, ['fsck', '--strict', '--no-progress']), '');
  t.equal(fixture.line[0], await git(fixture.path, ['rev-parse', 'main']));
  t.same(
    fixture.refs.map(({ name }) => name),
    ['refs/heads/main', 'refs/tags/v0.1', 'refs/tags/v0.2', 'refs/tags/v0.3', 'refs/tags/v0.4'],
  );
  const count = async (...args: string[]) => Number(await git(fixture.path, ['rev-list', '--count', ...args, 'main']));
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
  t.match(fetchRequest({ wants: [want], depth: 1 }).toString(), /000cdeepen 10032want a{40}0009done\n0000$|deepen 1\n/);
  t.notMatch(fetchRequest({ wants: [want] }).toString(), /deepen|have/);
});

t.test('what the soak tallies', async (t) => {
  const tally = new Tally();
  for (let round = 0; round < 30; round++) tally.expect(false, `finding ${round}`);
  tally.expect(true, 'nothing');
  t.equal(tally.broken, 30, 'all are counted');
  t.equal(tally.findings.length, 20, 'some are kept');
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

t.test('arguments', async (t) => {
  t.match(parseBenchArguments([]), { rounds: 7, isQuick: false, growth: false, json: undefined, repo: undefined });
  t.match(parseBenchArguments(['--quick', '--only', '^git-']), { rounds: 2, only: /^git-/ });
  t.equal(parseBenchArguments(['--help']), 'help');
  t.throws(() => parseBenchArguments(['--rounds', '0']), { message: /whole number/ });
  t.throws(() => parseBenchArguments(['--what']));
});
