import fc from 'fast-check';
import t from 'tap';
import { MemoryObjects } from '../test/memory-objects.js';
import { ScratchGit } from '../test/workbench.js';
import { commitLinks, parseCommit, payloadOf, readCommit, writeCommit } from './commit.js';
import { formatDate } from './identity.js';
import { MalformedObject } from './malformed-object.js';
import { EMPTY_TREE_OID } from './object.js';

const TREE = EMPTY_TREE_OID;
const PARENT = '1'.repeat(40);
const AUTHOR = 'A U Thor <author@example.com> 1700000000 +0100';
const COMMITTER = 'C O Mitter <committer@example.com> 1700000060 -0330';
const HEAD = `tree ${TREE}\nauthor ${AUTHOR}\ncommitter ${COMMITTER}\n`;

const bytes = (text: string) => Buffer.from(text, 'latin1');

t.test('what Git wrote is read field by field and written back byte for byte', (t) => {
  using git = new ScratchGit();
  const first = git.run(['commit-tree', TREE, '-m', 'first']);
  const other = git.run(['commit-tree', TREE, '-m', 'other']);
  const oid = git.run(['commit-tree', TREE, '-p', first, '-p', other], 'subject\n\nbody \u00c3\u00a9\n\n');
  const body = git.try(['cat-file', 'commit', oid]).stdout;
  const commit = parseCommit(body);
  t.same(commit.parents, [first, other]);
  t.same(commit.author, { name: 'A U Thor', email: 'author@example.com', seconds: 1700000000, offset: '+0100' });
  t.equal(commit.committer.offset, '-0330');
  t.match(commit.message, /^subject\n\nbody/);
  t.same(writeCommit(commit), body);
  t.same(commitLinks(body), { tree: TREE, parents: [first, other], authoredAt: 1700000000, committedAt: 1700000060 });
  t.equal(formatDate(commit.author), git.run(['log', '-1', '--format=%aI', oid]));
  t.equal(formatDate(commit.committer), git.run(['log', '-1', '--format=%cI', oid]));
  t.end();
});

t.test('a signature is separated, and the payload is the commit without it', (t) => {
  const before = HEAD;
  const after = 'change-id abc\nmergetag object 1\n type commit\n';
  const signed = `${before}gpgsig -----BEGIN-----\n \n line\n -----END-----\n${after}\nsubject\n`;
  const commit = parseCommit(bytes(signed));
  t.equal(commit.signature, '-----BEGIN-----\n\nline\n-----END-----');
  t.same(commit.extra, [
    ['change-id', 'abc'],
    ['mergetag', 'object 1\ntype commit'],
  ]);
  t.equal(payloadOf(bytes(signed)).toString(), `${before}${after}\nsubject\n`);
  const plain = bytes(`${HEAD}\ngpgsig in the message\n`);
  t.equal(payloadOf(plain), plain, 'an unsigned commit is its own payload');
  t.equal(payloadOf(bytes(`${HEAD}gpgsig a\n b\ngpgsig-sha256 c\n\nm`)).toString(), `${HEAD}\nm`);
  t.equal(payloadOf(bytes(`${HEAD}gpgsig a\n b`)).toString(), HEAD, 'without a message');
  t.end();
});

t.test('a signature and other headers survive a round trip', (t) => {
  const commit = { ...parseCommit(bytes(`${HEAD}\nm`)), signature: 'a\n\nb', extra: [['x', 'y\nz']] as const };
  t.same(parseCommit(writeCommit(commit)), commit);
  t.end();
});

t.test('only ASCII white space is removed from the end of a name, as in git log', (t) => {
  using git = new ScratchGit();
  // Include names that end with the byte 0xa0, which is the last byte of a UTF-8 character. It must stay, although it
  // is a space in ISO 8859-1.
  for (const name of ['Voil\u00e0', '\u0413\u0415\u0420', '\u2020', 'a \t', 'a\u00a0', '']) {
    const header = `tree ${TREE}\nauthor ${name} <a@example.com> 1 +0000\ncommitter ${COMMITTER}\n\nm\n`;
    const oid = git.add('commit', Buffer.from(header));
    const shown = git.try(['log', '-1', '--format=%an', oid]).stdout.toString('utf8').replace(/\n$/, '');
    t.equal(parseCommit(Buffer.from(header)).author.name, shown, JSON.stringify(name));
  }
  t.end();
});

t.test('text is decoded by the encoding header, as in git log', (t) => {
  using git = new ScratchGit();
  const cases = [
    ['', '\xc3\xa9'],
    ['encoding ISO-8859-1\n', '\xe9'],
    ['encoding latin1\n', '\xe9'],
    ['encoding windows-1251\n', '\xc0'],
    ['encoding Shift_JIS\n', '\x83\x65\x83\x58\x83\x67'],
    ['encoding EUC-JP\n', '\xa5\xc6\xa5\xb9\xa5\xc8'],
    ['encoding KOI8-R\n', '\xc1\xc2'],
  ] as const;
  for (const [header, text] of cases) {
    const body = `tree ${TREE}\nauthor ${text} <a@b> 1 +0000\ncommitter ${text} <a@b> 1 +0000\n${header}\n${text}\n`;
    const oid = git.add('commit', body);
    const shown = git.try(['log', '-1', '--format=%an%n%B', oid]).stdout.toString('utf8').trimEnd();
    const commit = parseCommit(bytes(body));
    t.equal(`${commit.author.name}\n${commit.message.trimEnd()}`, shown, header);
  }
  t.equal(parseCommit(bytes(`${HEAD}\n\xe9`)).message, '\u00e9', 'bytes that are not UTF-8 are ISO 8859-1');
  t.equal(parseCommit(bytes(`${HEAD}encoding nonsense\n\n\xc3\xa9`)).message, '\u00e9', 'unknown label');
  t.equal(parseCommit(bytes(`${HEAD}\n\xef\xbb\xbfx`)).message, '\ufeffx', 'a byte order mark is text');
  t.end();
});

t.test('identities are read as leniently as git log reads them', (t) => {
  using git = new ScratchGit();
  const lines = [
    'A <a@b> 1 +0000',
    'A<a@b> 1 +0000',
    '<a@b> 1 +0000',
    ' <> 1 +0000',
    'A <a@b> x> 12 +0100',
    'A <a <b> 12 +0100',
    'A <a@b>',
    'A <a@b> ',
    'A <a@b> soon',
    'A <a@b> 12',
    'A <a@b> 12 0100',
    'A <a@b> 12   +0100',
    'A <a@b>12 +0100',
    'A <a@b> 007 +0000',
    'A <a@b> 99999999999999999999 +0000',
    'A a@b 12 +0000',
    'A <a@b 12 +0000',
    'A  B\t <a@b> 123456 -1130',
    '',
  ];
  for (const line of lines) {
    const body = `tree ${TREE}\nauthor ${line}\ncommitter ${line}\n\nm\n`;
    const [name, email, date] = git.run(['log', '-1', '--format=%an%n%ae%n%aI', git.add('commit', body)]).split('\n');
    const { author } = parseCommit(bytes(body));
    const shown = [author.name, author.email, formatDate(author)];
    // Git prints the placeholder `%aI` if it cannot parse the date. Replace it with the date that the API returns in
    // this case.
    t.same(
      shown,
      [name, email, date!.replace('%aI', '1970-01-01T00:00:00Z').replace('+00:00', 'Z')],
      JSON.stringify(line),
    );
  }
  t.end();
});

t.test('malformed tree and parent lines are refused; everything else is accepted', (t) => {
  const bad = [
    '',
    'tree ',
    `tree ${TREE}`,
    `tree ${'g'.repeat(40)}\n`,
    `parent ${PARENT}\n`,
    `tree ${TREE}\nparent 123\nauthor ${AUTHOR}\n`,
    `tree ${TREE}\nparent ${PARENT}x\n`,
  ];
  for (const body of bad) {
    t.throws(() => parseCommit(bytes(body)), MalformedObject, body);
    t.throws(() => commitLinks(bytes(body)), MalformedObject, body);
  }
  for (const body of [
    `tree ${TREE}\n`,
    `tree ${TREE}\n\n`,
    `tree ${TREE}\nparent ${PARENT}\n\nm`,
    `tree ${TREE}\nx`,
    `tree ${TREE}\nparent 123\n`,
  ]) {
    t.equal(parseCommit(bytes(body)).tree, TREE, JSON.stringify(body));
    t.equal(commitLinks(bytes(body)).committedAt, 0);
  }
  t.equal(parseCommit(bytes(`tree ${TREE}\n\nm`)).message, 'm', 'a commit without any other header');
  t.end();
});

t.test('no text in a commit can end its field early or add a header', (t) => {
  const text = fc.string({ unit: fc.constantFrom('a', ' ', '<', '>', '\n', '\0', '\u00e9', '\ud83d\ude00', '.') });
  const identity = fc.record({
    name: text,
    email: text,
    seconds: fc.oneof(fc.integer(), fc.double()),
    offset: fc.constantFrom('+0000', '+1400', '0100', '-1', '\n'),
  });
  fc.assert(
    fc.property(identity, text, (author, message) => {
      const commit = parseCommit(writeCommit({ tree: TREE, parents: [], author, committer: author, message }));
      t.equal(commit.message, message.replaceAll('\0', ''));
      t.equal(commit.author.email, author.email.replace(/[<>\n\0]/g, ''));
      t.equal(commit.extra, undefined);
      t.match(commit.author.offset, /^[+-]\d{4}$/);
    }),
  );
  t.end();
});

t.test('dates keep the time zone of their author and conform to RFC 3339', (t) => {
  const cases = [
    [0, '+0000', '1970-01-01T00:00:00Z'],
    [1767319445, '+0100', '2026-01-02T03:04:05+01:00'],
    [1767319445, '-0330', '2026-01-01T22:34:05-03:30'],
    [1767319445, '-0000', '2026-01-02T02:04:05Z'],
    [1767319445, '+051800', '2026-01-02T02:04:05Z'],
    [1767319445, '+2400', '2026-01-02T02:04:05Z'],
    [1767319445, '+00130', '2026-01-02T03:34:05+01:30'],
    [1767319445, '+0060', '2026-01-02T02:04:05Z'],
    [253402300799, '+0000', '9999-12-31T23:59:59Z'],
    [253402300799, '+0100', '9999-12-31T23:59:59Z'],
    [253402300800, '-0100', '1970-01-01T00:00:00Z'],
    [9007199254740991, '+0100', '1970-01-01T00:00:00Z'],
    [1140, '-1200', '1969-12-31T12:19:00-12:00'],
    [0, '-2359', '1969-12-31T00:01:00-23:59'],
    [-1, '+0100', '1970-01-01T00:00:00Z'],
  ] as const;
  for (const [seconds, offset, text] of cases) t.equal(formatDate({ seconds, offset }), text);
  t.end();
});

t.test('every date is the same point in time as in git log, in every time zone', (t) => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  const tree = objects.add('tree', '');
  const times = [
    '0',
    '1',
    '1140',
    '43199',
    '43200',
    '86400',
    '1700000000',
    '4294967296',
    '253402300799',
    '-1',
    '-1140',
  ];
  const zones = ['+0000', '-0000', '+0100', '-1200', '+1345', '-0030', '+1400', '-2359', '+2400', '+9999', '-9999'];
  const spellings = ['+0060', '+5', '-100', '+00130', '1200', '+', '+0100 x', '-0930x', '+01:00'];
  const dates = times.flatMap((time) =>
    [...zones, ...spellings].flatMap((zone) => [`${time} ${zone}`, `${time}${zone}`]),
  );
  const more = ['\v1 +0000', '1\v+0000', '\t 12 \t +0100', '007 +0100', '9223372036854775807 +0100', '', ' ', 'x'];
  const oids = [...dates, ...more].map((date) => {
    const line = `A <a@example.com> ${date}`;
    return objects.add('commit', `tree ${tree}\nauthor ${line}\ncommitter ${line}\n\nm\n`);
  });
  git.copy(objects);
  const shown = git.run(['log', '--no-walk=unsorted', '--stdin', '--format=%at'], `${oids.join('\n')}\n`).split('\n');
  for (const [index, oid] of oids.entries()) {
    const { author } = readCommit(objects, oid);
    // Git prints the placeholder `%at` if it cannot parse the date. Dates after the year 9999 must become 0, because
    // RFC 3339 cannot represent them.
    const seconds = Number(shown[index]!.replace('%at', '0'));
    const expected = seconds > 253_402_300_799 ? 0 : seconds;
    t.equal(Date.parse(formatDate(author)) / 1000, expected, JSON.stringify([...dates, ...more][index]));
  }
  t.end();
});
