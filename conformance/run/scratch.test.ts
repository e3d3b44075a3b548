import { mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { openScratch, readScratch, ScratchFailure } from './scratch.js';

const target = { baseUrl: 'http://127.0.0.1:1', org: 'demo' };
const now = () => Date.parse('2026-01-01T00:00:00Z');

t.test(
  'a name is written to the journal before its repository is created, and removed after its deletion',
  async (t) => {
    const file = join(t.testdir({}), 'new', 'scratch.ndjson');
    const scratch = await openScratch({ target, file, now });
    await scratch.add('cf-1/a');
    t.same(
      readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
      [{ base_url: target.baseUrl, org: 'demo', name: 'cf-1/a', time: '2026-01-01T00:00:00.000Z' }],
    );
    await scratch.add('cf-1/b');
    await scratch.add('cf-1/a');
    t.same([scratch.made, scratch.left()], [2, ['cf-1/a', 'cf-1/b']]);
    t.same(
      (await readScratch(file)).map(({ name }) => name),
      ['cf-1/a', 'cf-1/b'],
    );
    await scratch.remove(['cf-1/a']);
    t.same(
      (await readScratch(file)).map(({ name }) => name),
      ['cf-1/b'],
    );
    t.same([scratch.made, scratch.left()], [2, ['cf-1/b']]);
    await scratch.remove(['cf-1/b']);
    t.throws(() => statSync(file), { code: 'ENOENT' }, 'a journal without entries goes as well');
  },
);

t.test('several runs share a journal', async (t) => {
  const file = join(t.testdir({}), 'scratch.ndjson');
  const runs = await Promise.all(
    ['one', 'two', 'three'].map((org) => openScratch({ target: { ...target, org }, file, now })),
  );
  await Promise.all(
    runs.map(async (run) => {
      for (let index = 0; index < 10; index++) await run.add(`cf-1/${index}`);
      await run.remove(run.left().slice(0, 5));
    }),
  );
  const left = await readScratch(file);
  t.equal(left.length, 15);
  t.same([...new Set(left.map(({ org }) => org))].sort(), ['one', 'three', 'two']);
  t.same(
    [...new Set(left.map(({ name }) => name))].sort(),
    ['5', '6', '7', '8', '9'].map((name) => `cf-1/${name}`),
  );
});

t.test('the lock of a process that has ended is removed', async (t) => {
  const file = join(t.testdir({}), 'scratch.ndjson');
  mkdirSync(`${file}.lock`);
  utimesSync(`${file}.lock`, 1, 1);
  const scratch = await openScratch({ target, file, now });
  await scratch.add('cf-1/a');
  t.equal((await readScratch(file)).length, 1);
});

t.test(
  'without a file, names are kept in memory; with a file that cannot be written, nothing is created',
  async (t) => {
    const memory = await openScratch({ target });
    await memory.add('cf-1/a');
    t.same(memory.left(), ['cf-1/a']);
    const folder = t.testdir({ file: 'x' });
    await t.rejects(openScratch({ target, file: join(folder, 'file', 'journal') }), ScratchFailure);
    await t.rejects(openScratch({ target, file: folder }), {
      message: /^the scratch journal .* cannot be written: EISDIR/,
    });
    const full = await openScratch({ target, file: '/dev/full' });
    await t.rejects(full.add('cf-1/a'), { name: 'ScratchFailure', message: /cannot be written: ENOSPC/ });
    t.same([full.made, full.left()], [0, []], 'so it is not made either');
  },
);

t.test('a file that is not a journal is not changed', async (t) => {
  const file = join(t.testdir({}), 'notes.txt');
  for (const text of ['buy milk\n', '{"name":"cf-1/a"}\n', '[]\n']) {
    writeFileSync(file, text);
    await t.rejects(readScratch(file), {
      name: 'ScratchFailure',
      message: /notes\.txt:1 is not an entry of a scratch journal/,
    });
    t.equal(readFileSync(file, 'utf8'), text);
  }
  await t.rejects(readScratch('/dev/zero'), { message: /cannot be read: it is larger than 1 MiB$/ });
  await t.rejects(readScratch(`${file}.none`), {
    name: 'ScratchFailure',
    message: /cannot be read: no such file/,
  });
});
