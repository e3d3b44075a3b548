import t from 'tap';
import { runSync } from '../../schedule/steps.js';
import { COMMIT, EMPTY_TREE_OID as EMPTY, TAG } from '../object/object.js';
import { MemoryObjects } from '../test/memory-objects.js';
import { ScratchGit } from '../test/workbench.js';
import { Fsck, FsckError } from './fsck.js';

const WHO = 'A U Thor <a@example.com> 1700000000 +0100';

/** Returns the id of the first finding about a commit or tag. Undefined if absent. */
function findingOf(body: string): string | undefined {
  try {
    runSync(new Fsck().check(body.startsWith('tree') ? COMMIT : TAG, Buffer.from(body), EMPTY));
    return undefined;
  } catch (error) {
    if (!(error instanceof FsckError)) throw error;
    return error.findings[0]!.id;
  }
}

t.test('every author line is checked as git fsck checks it', (t) => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  objects.add('tree', '');
  const people = [
    'A <a@b>',
    ' <>',
    '<a@b>',
    'A<a@b>',
    'A <a@b',
    'A a@b>',
    'A> <a@b>',
    'A <a<b>',
    '',
    'A <a@b>>',
    'A\v<a@b>',
  ];
  const spaces = [' ', '', '  ', '\t', ' \t', ' \v', ' \n ', ' \n'];
  const numbers = [
    '0',
    '1',
    '01',
    '00',
    '-0',
    '-1',
    '-01',
    '+1',
    '+-1',
    '- 1',
    '-1140',
    '1140',
    'x',
    '',
    '1.5',
    '0x1',
    '1e9',
  ];
  const large = ['9223372036854775807', '9223372036854775808', '18446744073709551615', '18446744073709551616'];
  const zones = [
    ' +0000',
    ' -1200',
    ' +9999',
    '  +0000',
    ' 0000',
    ' +000',
    ' +00000',
    '+0000',
    '',
    ' ',
    ' +0000 ',
    '\t+0000',
  ];
  const dates = [
    ...[...numbers, ...large, ...large.map((number) => `-${number}`)].map((number) => ` ${number} +0000`),
    ...spaces.flatMap((space) => ['1', '01', '-1', 'x'].map((number) => `${space}${number} +0000`)),
    ...zones.flatMap((zone) => ['1', '-1', '01'].map((number) => ` ${number}${zone}`)),
  ];
  const lines = [
    ...dates.map((date) => `A <a@b>${date}`),
    ...people.flatMap((who) => [`${who} 1 +0000`, `${who} -1 +0000`]),
  ];
  const bodies = lines.flatMap((line) => [
    `tree ${EMPTY}\nauthor ${line}\ncommitter ${WHO}\n\nm\n`,
    `tree ${EMPTY}\nauthor ${WHO}\ncommitter ${line}\n\nm\n`,
    `object ${EMPTY}\ntype tree\ntag v1\ntagger ${line}\n\nm\n`,
  ]);
  const samples = new Map(bodies.map((body) => [objects.add(body.startsWith('tree') ? 'commit' : 'tag', body), body]));
  git.copy(objects);
  const { stderr } = git.try(['fsck', '--no-dangling']);
  const found = new Map(
    [...stderr.matchAll(/in (?:commit|tag) (\w+): (\w+):/g)].map((match) => [match[1]!, match[2]!]),
  );
  for (const [oid, body] of samples) {
    const own = findingOf(body);
    if (own !== found.get(oid)) t.fail(`${JSON.stringify(body)}: ${own} instead of ${found.get(oid)}`);
  }
  t.ok(found.size > lines.length);
  t.end();
});
