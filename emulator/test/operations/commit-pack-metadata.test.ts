import { Readable } from 'node:stream';
import fc from 'fast-check';
import t from 'tap';
import { commitPack } from '../../api/operations/commit-pack.js';
import { Workbench } from '../../git/test/workbench.js';
import { Problem } from '../../http/problem.js';
import { Meter } from '../../schedule/meter.js';
import { startService } from '../service.js';

/** Number of random commits to create. */
const COMMITS = 4_000;
const BATCH = 2_000;
const AT_ONCE = 16;

/**
 * Generator of pieces for random names and messages. Most pieces have a special meaning in a Git commit or tree, such
 * as the delimiters of an author.
 */
const pieces = fc.constantFrom(
  ...[
    '<',
    '>',
    '\n',
    '\r',
    '\0',
    ' ',
    '.',
    ',',
    ';',
    '"',
    "'",
    '\\',
    '\t',
    '\x01',
    '\x7f',
    '\u00a0',
    '\ufeff',
    '\u2028',
  ],
  ...[
    'Ada',
    'größe',
    '😀',
    '\ud800',
    'author ',
    'parent 0',
    'tree ',
    'gpgsig ',
    'encoding ',
    '-----BEGIN PGP SIGNATURE-----',
  ],
  ...['<>', '> 1 +0000', '@', 'a@x', '0', '-1', '/', '.git', '..', 'git~1', 'a/b', '~', '*', ':', 'refs/', '\n\n', '#'],
);
const text = fc.oneof(
  fc.array(pieces, { maxLength: 6 }).map((all) => all.join('')),
  fc.string({ unit: 'binary', maxLength: 12 }),
);
const person = fc.record({ name: text, email: text });
const upsert = fc.record({
  path: text,
  mode: fc.constantFrom('100644', '100755', '120000', '160000'),
  content_id: fc.constantFrom('a', 'b'),
});
const metadata = fc.record(
  {
    commit_message: text,
    author: fc.oneof(
      { weight: 1, arbitrary: person },
      { weight: 2, arbitrary: fc.constant({ name: 'A', email: 'a@x' }) },
    ),
    committer: person,
    files: fc.array(upsert, { maxLength: 2 }),
  },
  { requiredKeys: ['commit_message', 'author', 'files'] },
);
const contents = fc.constantFrom('', 'x', '0123456789abcdef0123456789abcdef01234567', '[submodule "x"]\n\tpath = -x\n');

t.test(`${COMMITS} commits of random metadata are clean under git fsck --strict, or refused`, async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  await using bench = await Workbench.create();
  await service.seed('team/app');
  const { world } = service;
  const repository = world.state.repositories.find('demo', 'team/app')!;
  const drawn = fc.sample(fc.tuple(metadata, contents, contents), { numRuns: COMMITS, seed: 42 });
  const statuses = new Map<number | string, number>();
  const write = async ([meta, a, b]: (typeof drawn)[number], branch: string) => {
    const used = new Set(meta.files.map(({ content_id }) => content_id));
    const chunk = (content_id: string, content: string) => ({
      blob_chunk: { content_id, data: Buffer.from(content).toString('base64'), eof: true },
    });
    const body = [
      { metadata: { ...meta, target_branch: branch, base_branch: 'main' } },
      ...(used.has('a') ? [chunk('a', a)] : []),
      ...(used.has('b') ? [chunk('b', b)] : []),
    ];
    const bytes = Buffer.from(body.map((line) => `${JSON.stringify(line)}\n`).join(''));
    // Call the operation's handler directly. Thousands of HTTP requests would take longer than the commits themselves.
    const meter = new Meter({ schedule: world.engine.schedule });
    const call = { world, repository, claims: { policy: [] }, meter, stream: () => Readable.from([bytes]) };
    const status = await Promise.resolve(
      commitPack.handle(call as unknown as Parameters<typeof commitPack.handle>[0]),
    ).then(
      (reply) => reply.status,
      (error) => (error instanceof Problem ? error.status : `${error.stack} ${JSON.stringify(meta)}`),
    );
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  };
  const remote = await service.remote('team/app');
  await bench.git('.', 'init', '-q', '-b', 'main', '--bare', 'mirror.git');
  for (let start = 0; start < COMMITS; start += BATCH) {
    const queue = drawn.slice(start, start + BATCH);
    // Give each concurrent writer its own branch, because each commit must be based on the writer's previous commit.
    const writer = async (branch: string) => {
      for (let next = queue.pop(); next; next = queue.pop()) await write(next, branch);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => writer(`w${n}`)));
    await bench.git('mirror.git', 'fetch', '-q', remote, '+refs/*:refs/*');
    const checked = await bench.try('mirror.git', 'fsck', '--strict', '--no-dangling');
    t.same([checked.status, checked.stderr], [0, ''], `after ${start + BATCH}`);
  }
  t.same([...statuses.keys()].sort(), [201, 400]);
  t.ok(statuses.get(201)! > COMMITS / 10 && statuses.get(400)! > COMMITS / 10, JSON.stringify([...statuses]));
});
