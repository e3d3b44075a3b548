import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import t from 'tap';
import { optionRows } from '../../config/options.js';
import { packageFile } from '../../system/package-root.js';

/**
 * Instructions of the Dockerfile, with continued lines joined. The test verifies the image properties that the
 * documents promise.
 */
const instructions = readFileSync(packageFile('emulator', 'Dockerfile'), 'utf8')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => /^(\w+) (.*)$/.exec(line)!)
  .map(([, name = '', rest = '']) => ({ name, rest }));
const start = instructions.findLastIndex(({ name }) => name === 'FROM');
const last = instructions.slice(start);
const only = (name: string) => {
  const [one, ...more] = last.filter((instruction) => instruction.name === name);
  if (one === undefined || more.length > 0) throw new Error(`${name} is there ${more.length + 1} times`);
  return one.rest;
};

t.test('every stage is a slim image of a Node that is supported', (t) => {
  for (const { rest } of instructions.filter(({ name }) => name === 'FROM')) {
    t.match(rest, /^node:(22|24)-slim( AS \w+)?$/);
  }
  t.end();
});

t.test('it runs as a user without rights, and writes to /tmp only', (t) => {
  t.equal(only('USER'), 'node');
  t.equal(only('VOLUME'), '/tmp');
  const names = last.map(({ name }) => name);
  t.ok(names.lastIndexOf('RUN') < names.indexOf('USER'), 'nothing is installed by that user');
  t.end();
});

t.test('the container runs an existing command', (t) => {
  const health = /CMD (\[.*\])$/.exec(only('HEALTHCHECK'))![1]!;
  t.same(JSON.parse(health), ['emulator', 'health']);
  t.same(JSON.parse(only('ENTRYPOINT')), ['emulator']);
  const [command, ...flags] = JSON.parse(only('CMD')) as string[];
  t.equal(command, 'start');
  const known = optionRows().map(({ flag }) => `--${flag}`);
  for (const flag of flags.filter((word) => word.startsWith('--'))) t.ok(known.includes(flag), flag);
  const port = optionRows().find(({ flag }) => flag === 'port')!.shownDefault;
  t.equal(only('EXPOSE'), port);
  const { status } = spawnSync(process.execPath, [
    packageFile('bin/emulator.js'),
    'health',
    '--url',
    'http://127.0.0.1:1',
  ]);
  t.equal(status, 3, 'a check that fails');
  t.end();
});

t.test('the container copies the files of the package', (t) => {
  const [copied = ''] = last.filter(({ name }) => name === 'COPY').map(({ rest }) => rest);
  const folder = copied.split(' ').at(-1)!;
  const { name, bin } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));
  t.ok(copied.includes(`/node_modules/${name} `));
  for (const command of ['emulator', 'conformance']) {
    const link = `ln -s ${folder}/${bin[command]} /usr/local/bin/${command}`;
    t.ok(only('RUN').includes(link), link);
  }
  t.end();
});
