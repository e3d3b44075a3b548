import t from 'tap';
import { unlimited } from '../../schedule/test/unlimited.js';
import { bytesOf, concatBytes, NO_BYTES, SLASH, splitBytes } from '../object/bytes.js';
import { GeneratedHistory } from '../test/generated-history.js';
import { oid } from '../test/oid.js';
import { History } from './history.js';
import { enumerate } from './test/enumerate.js';

const SHAPES = [
  { seed: 1, commits: 120, skew: 0 },
  { seed: 2, commits: 120, skew: 40 },
  { seed: 3, commits: 120, skew: 400 },
];

for (const shape of SHAPES) {
  t.test(`histories as git reads them (seed ${shape.seed}, clocks off by up to ${shape.skew} s)`, async (t) => {
    using generated = new GeneratedHistory(shape);
    const { git, objects } = generated;
    const history = new History(objects);

    await t.test('logs list what git rev-list lists, in its order', async (t) => {
      for (let round = 0; round < 20; round++) {
        const tips = generated.pickSome(3);
        t.same([...history.log({ tips })], generated.lines('rev-list', ...tips), `${tips.length}`);
      }
    });

    await t.test('merge bases, ancestry and counts are those of git', async (t) => {
      for (let round = 0; round < 25; round++) {
        const [a, b] = [generated.pick(), generated.pick()];
        const { status, stdout } = git.try(['merge-base', '--all', a, b]);
        t.same(history.mergeBases(a, b), status === 0 ? stdout.toString().trim().split('\n') : []);
        t.equal(history.isAncestor(a, b), history.mergeBases(a, b)[0] === a);
        const { ahead, behind } = history.aheadBehind(a, b);
        for (const max of [3, 1_000])
          t.same(history.logSince(a, b, max), generated.lines('rev-list', `--max-count=${max}`, `${a}..${b}`));
        t.equal(`${ahead}\t${behind}`, git.run(['rev-list', '--left-right', '--count', `${a}...${b}`]));
      }
    });

    for (const isIndexed of [false, true]) {
      await t.test(
        `path logs are simplified as git does, ${isIndexed ? 'by the index' : 'without the index'}`,
        async (t) => {
          if (isIndexed) await enumerate(history, { wants: generated.commits });
          for (let round = 0; round < 25; round++) {
            const tips = generated.pickSome(2);
            const paths = splitBytes(generated.git.run(['ls-tree', '-rtz', '--name-only', tips[0]!]), '\0').slice(
              0,
              -1,
            );
            const path = paths[generated.random(paths.length)] ?? bytesOf('a');
            t.same([...history.log({ tips, path })], revList(path, ...tips), path);
          }
        },
      );
    }

    await t.test('each path of a tree was last touched by the commit git log -1 shows', async (t) => {
      for (let round = 0; round < 4; round++) {
        const tip = generated.pick();
        const found = await history.lastModified(tip, unlimited());
        const paths = splitBytes(generated.git.run(['ls-tree', '-rz', '--name-only', tip]), '\0').slice(0, -1);
        t.same([...found.keys()], paths);
        for (const path of paths) t.equal(found.get(path), revList(path, '-1', tip)[0], path);
      }
    });

    await t.test('each entry of a folder was last touched by the commit git log -1 shows', async (t) => {
      for (let round = 0; round < 4; round++) {
        const tip = generated.pick();
        // Format of each entry: `<mode> SP <type> SP <oid> TAB <path>`.
        const listed = splitBytes(generated.git.run(['ls-tree', '-rdz', tip]), '\0').slice(0, -1);
        const trees = listed.filter((line) => line.startsWith('040000 tree ')).map((line) => splitBytes(line, '\t'));
        const folders = trees.map(([entry, path]) => [path!, entry!.slice(-40)] as const);
        for (const [folder, tree] of [[NO_BYTES, `${tip}^{tree}`] as const, ...folders]) {
          const base = folder === '' ? NO_BYTES : concatBytes(folder, SLASH);
          const names = splitBytes(generated.git.run(['ls-tree', '-z', '--name-only', tree]), '\0').slice(0, -1);
          const found = await history.lastModifiedEntries(tip, folder, unlimited());
          t.same([...found.keys()], names, folder);
          for (const name of names) {
            const path = concatBytes(base, name);
            t.equal(found.get(name), revList(path, '-1', tip)[0], path);
          }
        }
        t.same(await history.lastModifiedEntries(tip, bytesOf('none'), unlimited()), new Map());
      }
    });

    await t.test('many commits are asked for at once as one by one', async (t) => {
      for (let round = 0; round < 25; round++) {
        const [tips, commits] = [generated.pickSome(3), generated.pickSome(4)];
        // Use a new history index each time. The functions must also work if commits are not loaded yet.
        const fresh = new History(objects);
        const left = commits.filter((commit) => !tips.some((tip) => history.isAncestor(commit, tip)));
        t.same((await fresh.unreached(tips, commits, unlimited())).sort(), [...new Set(left)].sort());
        const all = tips.every((tip) => commits.some((commit) => history.isAncestor(commit, tip)));
        t.equal(await fresh.allReach(tips, [...commits, oid('e'.repeat(40))], unlimited()), all);
      }
      t.same(await history.unreached([], generated.commits.slice(0, 2), unlimited()), generated.commits.slice(0, 2));
      t.equal(await history.allReach([], [], unlimited()), true);
      t.equal(await history.allReach([generated.pick()], [], unlimited()), false);
    });

    function revList(path: string, ...args: string[]): string[] {
      // Send revisions and path on standard input, because it allows paths that are not valid UTF-8.
      const flags = args.filter((arg) => arg.startsWith('-'));
      const revisions = args.filter((arg) => !arg.startsWith('-'));
      const input = Buffer.from([...revisions, '--', path, ''].join('\n'), 'latin1');
      const out = git.run(['--literal-pathspecs', 'rev-list', ...flags, '--stdin'], input);
      return out === '' ? [] : out.split('\n');
    }
  });
}
