import t from 'tap';
import { operations } from '../../api/index.js';
import { bytesOf } from '../../git/object/bytes.js';
import { ZERO_OID } from '../../git/object/object.js';
import { linearHistory } from '../../git/test/history.js';
import { randomNumbers } from '../../git/test/random-numbers.js';
import { GitUpstream, hasGit } from '../git/git-upstream.js';
import { oidOf, packOf, pushBody, pushRaw } from '../git/raw-push.js';
import { commitObjects, ZERO } from '../journal/recorded-clients.js';
import { type Service, startService } from '../service.js';
import { BRANCH_WRITERS, NOTES_WRITERS, type Result, type Situation, TAG_WRITERS, type Writer } from './ref-writers.js';

// Tests simultaneous writes of one ref by different operations. Some sequential order of the calls must explain all
// responses and the final value of the ref.

const ROUNDS = 40;
const AT_ONCE = 4;

interface HandlerContext {
  readonly name: string;
  readonly writer: Writer;
  readonly situation: Situation;
  readonly result: Result;
}

/**
 * Returns true if some sequential order explains the calls. Executed in this order from the ref value `state`, they
 * give the same responses and end with the value `end`.
 */
function hasOrder(calls: readonly HandlerContext[], state: string, end: string): boolean {
  if (calls.length === 0) return state === end;
  return calls.some((call) => {
    const { writer, situation, result } = call;
    if (writer.allows(state, situation) !== result.isDone) return false;
    if (result.isDone && result.old !== undefined && result.old !== state) return false;
    const next = result.isDone ? (result.new ?? writer.leaves!(situation)) : state;
    return hasOrder(
      calls.filter((other) => other !== call),
      next,
      end,
    );
  });
}

async function refOf(service: Service, ref: string): Promise<string> {
  const { text } = await service.call('GET', '/team/app.git/info/refs?service=git-upload-pack');
  return [...text.matchAll(/([0-9a-f]{40}) (refs\/[^\0\n]+)/g)].find((match) => match[2] === ref)?.[1] ?? ZERO;
}

async function stage() {
  const service = await startService();
  const root = await service.seed('team/app', { base: 'base' });
  await service.commit('team/app', { merged: 'merged' }, { target_branch: 'topic', base_branch: 'main' });
  return { service, root };
}

const KINDS = {
  'refs/heads/': BRANCH_WRITERS,
  'refs/tags/': TAG_WRITERS,
  'refs/notes/': NOTES_WRITERS,
};

for (const [folder, writers] of Object.entries(KINDS)) {
  t.test(`${folder}: any two concurrent writers are linearizable`, async (t) => {
    const { service, root } = await stage();
    t.teardown(() => service.emulator.close());
    const random = randomNumbers(5);
    const seen = new Map<string, number>();
    for (let round = 0; round < ROUNDS; round++) {
      const name = `r${round}`;
      const tip = round % 3 === 0 ? ZERO : await start(service, folder, name, root);
      const chosen = Array.from({ length: AT_ONCE }, (_, index) => {
        const names = Object.keys(writers);
        // Choose the first writer of each round in turn, so that each one takes part. Choose the others at random, so
        // that each writer competes with different ones.
        return names[(index === 0 ? round : random(names.length)) % names.length]!;
      });
      const calls = await Promise.all(
        chosen.map(async (writerName, index): Promise<HandlerContext> => {
          const writer = writers[writerName]!;
          const situation = { service, name, tip, root, nonce: `nonce-${round}-${index}` };
          return { name: writerName, writer, situation, result: await writer.call(situation) };
        }),
      );
      for (const { name: done, result } of calls) if (result.isDone) seen.set(done, (seen.get(done) ?? 0) + 1);
      const end = await refOf(service, folder + name);
      if (!hasOrder(calls, tip, end)) {
        t.fail(`round ${round}: ${JSON.stringify({ tip, end, calls: calls.map((call) => [call.name, call.result]) })}`);
      }
    }
    t.same([...seen.keys()].sort(), Object.keys(writers).sort(), 'each of them was done at least once');
  });
}

/** Creates the ref that a round of writers changes. Returns the id of the commit to which it points. */
async function start(service: Service, folder: string, name: string, root: string): Promise<string> {
  if (folder === 'refs/notes/') {
    const json = { sha: root, notes_ref: name, note: 'first' };
    return (await service.call('POST', '/api/v1/repos/notes', { json })).json.new_ref_sha;
  }
  const objects = commitObjects(`start-${name}`, root);
  const tip = oidOf(objects[0]);
  await pushRaw(service, 'team/app', pushBody([{ ref: folder + name, old: ZERO, new: tip }], packOf(objects)));
  return tip;
}

t.test('the writers include every operation that moves refs', (t) => {
  const called = new Set(Object.values(KINDS).flatMap((writers) => Object.values(writers).map((one) => one.operation)));
  const moving = operations.filter(
    ({ effect, group }) => effect === 'write' && ['Branches', 'Tags', 'Notes', 'Commits'].includes(group),
  );
  t.same(
    moving.map(({ id }) => id).filter((id) => !called.has(id)),
    [],
  );
  t.end();
});

t.test('a fork is a consistent snapshot of its source during writes', async (t) => {
  const { service, root } = await stage();
  t.teardown(() => service.emulator.close());
  const tips = new Set([root]);
  const token = await service.token({ repo: 'team/app' });
  const writing = (async () => {
    for (let n = 0; n < 30; n++) tips.add((await service.commit('team/app', { f: `${n}` })).json.commit.commit_sha);
  })();
  const forks = Array.from({ length: 10 }, async (_, n) => {
    const base_repo = { provider: 'code', name: 'team/app', auth: { token } };
    const made = await service.call('POST', '/api/repos', { repo: `fork/${n}`, json: { base_repo } });
    t.equal(made.status, 201, made.text);
    const branch = await service.call('GET', '/api/v1/repos/branch?name=main', { repo: `fork/${n}` });
    return branch.json.branch.head_sha as string;
  });
  const forked = await Promise.all(forks);
  await writing;
  t.same(
    forked.filter((oid) => !tips.has(oid)),
    [],
  );
});

t.test('a sync that waits for its upstream does not block earlier writers', { skip: !hasGit }, async (t) => {
  await using upstream = await GitUpstream.start();
  upstream.create('o/r', linearHistory(5));
  const service = await startService({ upstreamHost: { github: upstream.origin } });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  const { world } = service;
  const base_repo = { provider: 'github', owner: 'o', name: 'r', auth: { auth_type: 'public' } };
  await service.call('POST', '/api/repos', { json: { base_repo } });
  await world.background.syncs.idle();
  upstream.import('o/r', linearHistory(2, { branch: 'late', from: 'refs/heads/main^0', tags: false }));
  let go: () => void = () => undefined;
  const mayGo = new Promise<void>((resolve) => {
    go = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    upstream.answer = async ({ method, headers }) => {
      // Delay the second POST request of the sync. It fetches objects, and its body is longer than that of the first,
      // which lists refs.
      if (method === 'POST' && Number(headers['content-length'] ?? 0) > 200) {
        resolve();
        await mayGo;
      }
      return undefined;
    };
  });
  const { git } = world.state.repositories.find(service.emulator.org, 'team/app')!;
  const old = git.refs.get(bytesOf('refs/heads/main'))!;
  await service.call('POST', '/api/v1/repos/pull-upstream', { json: {} });
  await asked;
  await git.transact((transaction) =>
    transaction.update({ name: bytesOf('refs/heads/mine'), old: ZERO_OID, new: old }),
  );
  t.equal(git.refs.get(bytesOf('refs/heads/mine')), old, 'while the upstream says nothing');
  go();
  await world.background.syncs.idle();
  t.equal(git.refs.get(bytesOf('refs/heads/mine')), undefined, 'and the sync, planned anew, prunes it');
  t.ok(git.refs.get(bytesOf('refs/heads/late')));
});
