import t from 'tap';
import { unlimited } from '../../schedule/test/unlimited.js';
import type { Oid } from '../object/object.js';
import { GeneratedHistory } from '../test/generated-history.js';
import { oid } from '../test/oid.js';
import { INFINITE_DEPTH } from './depth.js';
import { History } from './history.js';

for (const [seed, skew] of [
  [31, 0],
  [32, 30],
] as const) {
  t.test(`boundaries are those of git upload-pack (seed ${seed})`, async (t) => {
    using generated = new GeneratedHistory({ seed, commits: 80, skew });
    const { git, objects, commits, random } = generated;
    const history = new History(objects);
    const refOf = (oid: Oid) => `refs/heads/b${commits.indexOf(oid)}`;
    const pickShallow = () => (random(3) === 0 ? [] : generated.pickSome(3));

    await t.test('by depth', async (t) => {
      for (let round = 0; round < 30; round++) {
        const wants = generated.pickSome(3);
        const clientShallow = pickShallow();
        const depth = round === 0 ? INFINITE_DEPTH : 1 + random(6);
        const expected = ask(wants, clientShallow, [`deepen ${depth}`]);
        t.same(
          sorted(await history.shallowBoundary({ wants, clientShallow, depth }, unlimited())),
          expected,
          `${depth}`,
        );
      }
    });

    await t.test('by depth below the old boundary', async (t) => {
      for (let round = 0; round < 30; round++) {
        const wants = generated.pickSome(3);
        const clientShallow = pickShallow();
        const depth = 1 + random(4);
        const expected = ask(wants, clientShallow, [`deepen ${depth}`], 'deepen-relative');
        const boundary = await history.shallowBoundary(
          { wants, clientShallow, depth, relative: true, tips: commits },
          unlimited(),
        );
        t.same(sorted(boundary), expected, `${depth}`);
      }
    });

    await t.test('by date and by ref', async (t) => {
      for (let round = 0; round < 60; round++) {
        const wants = generated.pickSome(3);
        const clientShallow = pickShallow();
        const not = round % 3 === 0 ? [] : generated.pickSome(2);
        const since = round % 3 === 1 ? undefined : history.commit(generated.pick()).committedAt;
        const lines = not.map((oid) => `deepen-not ${refOf(oid)}`);
        if (since !== undefined) lines.push(`deepen-since ${since}`);
        const expected = ask(wants, clientShallow, lines);
        const request = { wants, clientShallow, not, ...(since !== undefined && { since }) };
        if (expected) t.same(sorted(await history.shallowBoundary(request, unlimited())), expected, lines.join());
        else await t.rejects(history.shallowBoundary(request, unlimited()), { name: 'NothingSelected' });
      }
    });

    /**
     * Asks real Git (`upload-pack`, protocol version 0) for the boundary of a shallow fetch. Returns Git's `shallow`
     * and `unshallow` lines. Undefined if Git aborts.
     */
    function ask(wants: Oid[], shallow: Oid[], deepen: string[], capability = 'no-progress'): Answer | undefined {
      const [first, ...others] = wants;
      const lines = [
        `want ${first} ${capability}`,
        ...others.map((oid) => `want ${oid}`),
        ...shallow.map((oid) => `shallow ${oid}`),
        ...deepen,
      ];
      const request = `${lines.map((line) => packet(`${line}\n`)).join('')}0000${packet('done\n')}`;
      const { stdout } = git.try(['upload-pack', '--stateless-rpc', '.'], request);
      const response: Answer = { shallow: [], unshallow: [] };
      for (let at = 0; at < stdout.length; ) {
        const length = Number.parseInt(stdout.toString('latin1', at, at + 4), 16);
        if (length === 0) return { shallow: response.shallow.sort(), unshallow: response.unshallow.sort() };
        const [word, id] = stdout
          .toString('latin1', at + 4, at + length)
          .trim()
          .split(' ');
        if (word === 'shallow' || word === 'unshallow') response[word].push(oid(id!));
        at += length;
      }
      return undefined;
    }
  });
}

t.test('a client boundary that is not known here does not matter', async (t) => {
  using generated = new GeneratedHistory({ seed: 33, commits: 10, skew: 0 });
  const history = new History(generated.objects);
  const wants = [generated.commits[9]!];
  const { boundary, unshallow } = await history.shallowBoundary(
    { wants, clientShallow: [oid('e'.repeat(40))], depth: 1 },
    unlimited(),
  );
  t.same([...boundary], wants);
  t.same(unshallow, []);
});

t.test('the boundary is the one that the client will have', async (t) => {
  using generated = new GeneratedHistory({ seed: 34, commits: 60, skew: 0 });
  const history = new History(generated.objects);
  for (let round = 0; round < 20; round++) {
    const clientShallow = generated.pickSome(4);
    const { shallow, unshallow, boundary } = await history.shallowBoundary(
      {
        wants: generated.pickSome(2),
        clientShallow,
        depth: 3,
      },
      unlimited(),
    );
    const expected = [...clientShallow.filter((oid) => !unshallow.includes(oid)), ...shallow];
    t.same([...boundary].sort(), expected.sort());
  }
});

interface Answer {
  readonly shallow: Oid[];
  readonly unshallow: Oid[];
}

function sorted({ shallow, unshallow }: Answer): Answer {
  return { shallow: [...shallow].sort(), unshallow: [...unshallow].sort() };
}

function packet(line: string): string {
  return (line.length + 4).toString(16).padStart(4, '0') + line;
}
