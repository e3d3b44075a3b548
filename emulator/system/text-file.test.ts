import { execFileSync } from 'node:child_process';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readTextFile } from './text-file.js';

t.test('a file is read up to the limit, and one byte more is refused', async (t) => {
  const file = join(t.testdir({}), 'file');
  for (const size of [0, 1, 65_536, 2 ** 20]) {
    writeFileSync(file, 'é'.repeat(size / 2));
    t.equal(Buffer.byteLength(readTextFile(file)), size - (size % 2));
  }
  writeFileSync(file, 'x'.repeat(2 ** 20 + 1));
  t.throws(() => readTextFile(file), { name: 'UnreadableFile', message: 'it is larger than 1 MiB' });
  t.equal(readTextFile(file, 2 ** 21).length, 2 ** 20 + 1);
});

t.test('a file without an end, or far above the limit, is refused without reading it into memory', async (t) => {
  const folder = t.testdir({ large: '' });
  const large = join(folder, 'large');
  truncateSync(large, 2 ** 40); // a sparse file, which takes no space on the disk
  t.throws(() => readTextFile(large, 2 ** 27), { message: 'it is larger than 128 MiB' });
  t.throws(() => readTextFile('/dev/zero', 2 ** 27), { message: 'it is larger than 1 MiB' });
  t.equal(readTextFile('/dev/null'), '');
  const before = process.memoryUsage().rss;
  for (let time = 0; time < 20; time++) t.throws(() => readTextFile('/dev/zero'), { message: /larger/ });
  t.ok(process.memoryUsage().rss - before < 256 * 2 ** 20);
});

t.test('a pipe is read like a file', async (t) => {
  const program = `import(${JSON.stringify(new URL('text-file.js', import.meta.url).href)}).then(({ readTextFile }) => {
    try { console.log(readTextFile('/dev/stdin')); } catch (error) { console.log(error.message); }
  })`;
  const read = (input: string) =>
    execFileSync('bash', ['-c', `cat | node -e "$PROGRAM"`], {
      input,
      env: { ...process.env, PROGRAM: program },
      encoding: 'utf8',
    });
  t.equal(read('some text'), 'some text\n');
  t.equal(read('x'.repeat(2 ** 20 + 1)), 'it is larger than 1 MiB\n');
});

t.test('the message is the error code of the system', async (t) => {
  t.throws(() => readTextFile('/absent'), { message: 'no such file or directory' });
  t.throws(() => readTextFile('/'), { message: 'illegal operation on a directory' });
  t.throws(() => readTextFile('a\0b'), { message: 'ERR_INVALID_ARG_VALUE' });
});
