import t, { type Test } from 'tap';
import { MemoryCache } from '../../memory/memory-cache.js';
import { Meter, WorkLimitExceeded } from '../../schedule/meter.js';
import { Schedule } from '../../schedule/schedule.js';
import { unlimited } from '../../schedule/test/unlimited.js';
import { RandomText } from '../diff/test/random-text.js';
import { type ByteString, bytesOf, NO_BYTES } from '../object/bytes.js';
import { COMMIT, type Oid } from '../object/object.js';
import { CommitGraph } from '../revwalk/commit-graph.js';
import { type Content, MemoryObjects } from '../test/memory-objects.js';
import { oid } from '../test/oid.js';
import { ScratchGit } from '../test/workbench.js';
import { type BlameRequest, blame, NoSuchFile } from './blame.js';
import { BlameMemory } from './blame-memory.js';
import { BadLineRange } from './line-ranges.js';

const F = bytesOf('f');

function pathsIn(files: Content): ByteString[] {
  return Object.keys(files).map(bytesOf);
}

function commit(objects: MemoryObjects, content: Content, parents: readonly Oid[], seconds: number): Oid {
  const lines = parents.map((parent) => `parent ${parent}\n`).join('');
  const who = `A <a@x> ${seconds} +0000`;
  const tree = objects.tree(content);
  return objects.write(COMMIT, `tree ${tree}\n${lines}author ${who}\ncommitter ${who}\n\nm\n`);
}

/**
 * Runs `git blame`. Returns one text per line of the file, with the line's commit, line numbers, and origin (previous
 * version, boundary, file name).
 */
function blamedByGit(git: ScratchGit, oid: Oid, path: string, options: readonly string[]): string[] {
  const lines: string[] = [];
  let fields: string[] = [];
  for (const line of git.run(['blame', '--line-porcelain', ...options, oid, '--', path]).split('\n')) {
    if (line.startsWith('\t')) lines.push(fields.join(' '));
    else if (/^[0-9a-f]{40} /.test(line)) fields = line.split(' ').slice(0, 3);
    else if (/^(?:previous|boundary|filename)/.test(line)) fields.push(line);
  }
  return lines;
}

async function blamedHere(objects: MemoryObjects, request: BlameRequest): Promise<string[]> {
  const runs = await blame(objects, new CommitGraph(objects), request);
  return runs.flatMap((run) =>
    Array.from({ length: run.count }, (_, index) => {
      const fields = [run.commit, run.originalStart + index + 1, run.start + index + 1];
      const previous = run.previous ? [`previous ${run.previous.commit} ${run.previous.path}`] : [];
      return [...fields, ...(run.isBoundary ? ['boundary'] : []), ...previous, `filename ${run.originalPath}`].join(
        ' ',
      );
    }),
  );
}

async function compare(t: Test, git: ScratchGit, objects: MemoryObjects, request: BlameRequest): Promise<void> {
  const ranges = (request.ranges ?? []).flatMap((range) => ['-L', range]);
  const options = [...ranges, ...(request.detectMoves ? ['-M', '-C', '-C'] : [])];
  const expected = blamedByGit(git, request.commit, request.path, options);
  t.same(await blamedHere(objects, request), expected, `${request.path} ${options.join(' ')}`);
}

/**
 * Writes a random history. It contains merges of up to three parents, renames, copies and moved lines. Returns its
 * commits, oldest first.
 */
function randomHistory(objects: MemoryObjects, random: RandomText, length: number): { oid: Oid; files: Content }[] {
  const commits: { oid: Oid; files: Record<string, string> }[] = [];
  for (let step = 0; step < length; step++) {
    const parents = commits.length === 0 ? [] : [commits.at(-1 - random.below(Math.min(3, commits.length)))!];
    while (parents.length > 0 && parents.length < 3 && random.below(4) === 0) {
      const other = random.pick(commits);
      if (!parents.includes(other)) parents.push(other);
    }
    const files = { ...parents[0]?.files };
    for (const parent of parents.slice(1)) mergeFiles(random, files, parent.files);
    for (let count = random.below(3); count >= 0; count--) changeFiles(random, files);
    const time = 1_700_000_000 + step * 60 - (random.below(5) === 0 ? random.below(300) : 0);
    commits.push({
      oid: commit(
        objects,
        files,
        parents.map(({ oid }) => oid),
        time,
      ),
      files,
    });
  }
  return commits;
}

function mergeFiles(random: RandomText, files: Record<string, string>, other: Record<string, string>): void {
  for (const [path, content] of Object.entries(other)) {
    const own = files[path];
    if (own === undefined || random.below(3) === 0) files[path] = content;
    else if (random.below(2) === 0) {
      const middle = random.below(own.split('\n').length);
      files[path] = [...own.split('\n').slice(0, middle), ...content.split('\n').slice(middle)].join('\n');
    }
  }
}

function changeFiles(random: RandomText, files: Record<string, string>): void {
  const path = random.pick(Object.keys(files));
  const content = path === undefined ? undefined : files[path]!;
  const kind = content === undefined ? 0 : random.below(8);
  const name = random.pick(['a.ts', 'b.ts', 'c.ts', 'd.ts', 'e.ts']);
  if (path === undefined || content === undefined || kind === 0) {
    files[name] ??= random.file(random.lines().slice(0, 60));
  } else if (kind === 1 && files[name] === undefined) {
    delete files[path];
    files[name] = random.below(2) === 0 ? content : random.file(random.edit(content.trimEnd().split('\n')));
  } else if (kind === 2) {
    const lines = content.split('\n');
    const from = random.below(lines.length);
    files[name] = `${files[name] ?? ''}${lines.slice(from, from + 12).join('\n')}\n`;
  } else if (kind === 3) {
    const lines = content.split('\n');
    const moved = lines.splice(random.below(lines.length), 10);
    lines.splice(random.below(lines.length), 0, ...moved);
    files[path] = lines.join('\n');
  } else {
    files[path] = random.file(random.edit(content.trimEnd().split('\n')));
  }
}

t.test('random histories are blamed as by git blame, with and without moved lines', async (t) => {
  for (const seed of [1, 2, 3]) {
    using git = new ScratchGit();
    const objects = new MemoryObjects();
    const commits = randomHistory(objects, new RandomText(seed), 40);
    git.copy(objects);
    for (const { oid, files } of [commits.at(-1)!, commits.at(-8)!]) {
      for (const path of pathsIn(files)) {
        await compare(t, git, objects, { meter: unlimited(), commit: oid, path });
        await compare(t, git, objects, { meter: unlimited(), commit: oid, path, detectMoves: true });
      }
    }
  }
});

t.test('cached blame results of other commits and files change no result', async (t) => {
  for (const seed of [4, 5]) {
    const objects = new MemoryObjects();
    const commits = randomHistory(objects, new RandomText(seed), 40);
    const known = new BlameMemory(new MemoryCache(1 << 20).group()).of('one');
    let hits = 0;
    const counted = {
      ...known,
      get(commit: Oid, path: ByteString) {
        const blamed = known.get(commit, path);
        if (blamed) hits++;
        return blamed;
      },
    };
    for (const [at, { oid, files }] of [...commits, ...commits.toReversed()].entries()) {
      for (const path of pathsIn(files)) {
        for (const ranges of at % 3 === 0 ? [['3,5', '8,12']] : [[], ['2,+9']]) {
          const inFile = {
            commit: oid,
            path,
            ranges: ranges.filter(() => (files[path] as string).split('\n').length > 13),
          };
          const request = { ...inFile, detectMoves: at % 10 === 7 };
          t.same(
            await blamedHere(objects, { meter: unlimited(), ...request, known: counted }),
            await blamedHere(objects, { meter: unlimited(), ...request }),
          );
        }
      }
    }
    t.ok(hits > 100, `${hits} times something was known`);
    t.same(
      new BlameMemory(new MemoryCache(1 << 20).group()).of('one').get(commits[0]!.oid, bytesOf('a.ts')),
      undefined,
    );
  }
});

t.test('a copy with several equally good sources is traced to the one that git chooses', async (t) => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  const block = (name: string) =>
    Array.from({ length: 12 }, (_, line) => `${name} says something on line ${line}\n`).join('');
  const [one, two] = [block('one'), block('two')];
  const root = commit(objects, { a: `${one}x\n${one}y\n${two}`, b: `z\n${one}`, c: two }, [], 1000);
  const changed = commit(objects, { a: `${two}${one}x\n`, b: 'z\n', c: two, d: one + two }, [root], 2000);
  const tip = commit(
    objects,
    { a: `${two}${one}x\n${two}`, b: one, e: `q\n${one}`, c: two, d: two + one },
    [changed, root],
    3000,
  );
  git.copy(objects);
  for (const oid of [changed, tip]) {
    for (const path of oid === tip ? ['a', 'b', 'c', 'd', 'e'] : ['a', 'b', 'c', 'd']) {
      const request = { meter: unlimited(), commit: oid, path: bytesOf(path), detectMoves: true };
      await compare(t, git, objects, request);
    }
  }
});

const SOURCE = `import x from 'x';

function first() {
  return 1;
}

const between = 2;

function second() {
  // second /slash/
  return x(first());
}
`;

t.test('ranges select the lines git blame -L selects', async (t) => {
  using git = new ScratchGit();
  const objects = new MemoryObjects();
  const root = commit(objects, { f: SOURCE.replace('1;', '0;'), empty: '' }, [], 1000);
  const tip = commit(objects, { f: SOURCE, empty: '' }, [root], 2000);
  git.copy(objects);
  const lists = [
    ['2,4'],
    ['4,2'],
    ['3'],
    ['3,'],
    [',3'],
    ['3,+2'],
    ['9,-3'],
    ['2,-9'],
    ['5,99'],
    ['/first/'],
    ['/first/,/}/'],
    ['/first/,+3'],
    ['4,/second/'],
    ['1,2', '/return/'],
    ['8,9', '^/return/,+1'],
    [':first'],
    [':second'],
    ['1,8', ':function'],
    ['1,2', '2,4', '9,10'],
    ['10,11', '1,3'],
    ['/\\/slash/'],
  ];
  for (const ranges of lists) await compare(t, git, objects, { meter: unlimited(), commit: tip, path: F, ranges });
  const refused = [
    '99',
    '0',
    '0,3',
    '3,+0',
    'x',
    '1,2,3',
    '/nowhere/',
    '/[/',
    ':nothing',
    '',
    '1;2',
    '+3',
    '-2',
    '/a',
    '1,^/a/',
  ];
  for (const range of refused) {
    const { status } = git.try(['blame', '-L', range, tip, '--', 'f']);
    const ours = blame(objects, new CommitGraph(objects), {
      meter: unlimited(),
      commit: tip,
      path: F,
      ranges: [range],
    });
    if (status === 0) await t.resolves(ours, `git takes ${range}`);
    else await t.rejects(ours, BadLineRange, range);
  }
  t.same(
    await blame(objects, new CommitGraph(objects), { meter: unlimited(), commit: tip, path: bytesOf('empty') }),
    [],
  );
});

t.test('folders, submodules and missing paths cannot be blamed', async (t) => {
  const objects = new MemoryObjects();
  const tip = commit(objects, { folder: { f: 'x\n' }, sub: [0o160000, oid('1'.repeat(40))] }, [], 1000);
  for (const path of [NO_BYTES, ...['none', 'folder', 'sub', 'folder/f/x'].map(bytesOf)]) {
    await t.rejects(
      blame(objects, new CommitGraph(objects), { meter: unlimited(), commit: tip, path }),
      NoSuchFile,
      path,
    );
  }
});

t.test('the blame of a long history yields to other work and ends at the deadline', async (t) => {
  const objects = new MemoryObjects();
  let tip = commit(objects, { f: 'x\n' }, [], 1000);
  for (let step = 1; step < 500; step++) tip = commit(objects, { f: 'x\n', other: `${step}\n` }, [tip], 1000 + step);
  await t.rejects(
    blame(objects, new CommitGraph(objects), {
      commit: tip,
      path: F,
      meter: new Meter({ schedule: new Schedule(), limit: 0.1 }),
    }),
    WorkLimitExceeded,
  );
  let turns = 0;
  const timer = setInterval(() => turns++);
  let now = 0;
  const meter = new Meter({ schedule: new Schedule({ now: () => now++ }) });
  const runs = await blame(objects, new CommitGraph(objects), { meter, commit: tip, path: F });
  clearInterval(timer);
  t.equal(runs.length, 1);
  t.ok(turns > 0, 'the event loop turned');
});
