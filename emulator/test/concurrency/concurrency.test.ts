import t from 'tap';
import { randomNumbers } from '../../git/test/random-numbers.js';
import { Workbench } from '../../git/test/workbench.js';
import { oidOf, packOf, pushBody, pushRaw, reportOf } from '../git/raw-push.js';
import { commitObjects, RecordedClients, ZERO } from '../journal/recorded-clients.js';
import { startService } from '../service.js';
import { findViolations } from './linearizability.js';

const CLIENTS = 8;
const OPERATIONS = 1_200;
const BRANCHES = ['a', 'b', 'c'];
/**
 * Refs that each push of this test moves together. A push is atomic, so a reader must never see that only some of them
 * have moved.
 */
const TRIPLE = ['refs/heads/t1', 'refs/heads/t2', 'refs/heads/t3'];
const NOTES = 'refs/notes/commits';

t.test('the results of concurrent writers and readers are linearizable', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  await service.call('POST', '/api/repos');
  const first = commitObjects('nonce-0', ZERO);
  const root = oidOf(first[0]);
  const refs = [...BRANCHES.map((branch) => `refs/heads/${branch}`), ...TRIPLE];
  const all = ['refs/heads/main', ...refs].map((ref) => ({ ref, old: ZERO, new: root }));
  const seeded = await pushRaw(service, 'team/app', pushBody(all, packOf(first)));
  t.equal(reportOf(seeded).filter((line) => line.startsWith('ok ')).length, all.length);

  const random = randomNumbers(1);
  const pick = <T>(from: readonly T[]): T => from[random(from.length)]!;
  const token = await service.token({ repo: 'team/app' });
  const clients = new RecordedClients(service, token, random);
  const mixed: string[] = [];
  let left = OPERATIONS;
  let notes = ZERO;

  async function act(known: Map<string, string>): Promise<void> {
    const branch = pick(BRANCHES);
    const tip = known.get(branch) ?? root;
    const way = random(100);
    if (way < 14) known.set(branch, await clients.readBranch(branch));
    else if (way < 22) {
      const shown = await clients.readAdvertisement([...refs, NOTES]);
      for (const name of BRANCHES) known.set(name, shown.get(`refs/heads/${name}`)!);
      known.set('triple', shown.get(TRIPLE[0]!)!);
      notes = shown.get(NOTES) ?? ZERO;
      if (new Set(TRIPLE.map((ref) => shown.get(ref))).size > 1) mixed.push('a torn read of an atomic push');
    } else if (way < 32) {
      const kind = pick(['grep', 'archive', 'files'] as const);
      const seen = await clients.noncesOf(branch, kind);
      if (seen.size !== 1) mixed.push(`${kind} showed ${[...seen].join()}`);
    } else if (way < 52) await clients.commitPack(branch, tip);
    else if (way < 62) await clients.commitPack(branch, undefined);
    else if (way < 76) await clients.push([`refs/heads/${branch}`], tip, random(10) === 0);
    else if (way < 84) await clients.push(TRIPLE, known.get('triple') ?? root, random(10) === 0);
    else if (way < 89) await clients.restore(branch, pick([...known.values(), root]), tip);
    else if (way < 96) notes = await clients.note(root, notes);
    else await clients.abortCommitPack(branch);
  }
  const client = async () => {
    const known = new Map<string, string>();
    for (; left > 0; left--) await act(known);
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: CLIENTS }, client));
  const seconds = (performance.now() - started) / 1000;
  await clients.readAdvertisement([...refs, NOTES]);

  const { events } = clients;
  const findings = findViolations(
    events,
    new Map([...refs.map((ref): [string, string] => [ref, root]), [NOTES, ZERO]]),
  );
  t.same(findings, [], 'no violation of linearizability');
  t.same(mixed, [], 'no content or refs of two moments in one answer');
  const count = (outcome: string) =>
    events.filter((event) => event.kind === 'write' && event.outcome === outcome).length;
  const [ok, fail, info] = [count('ok'), count('fail'), count('info')];
  t.ok(
    ok > OPERATIONS / 10 && fail > OPERATIONS / 20 && info > 5,
    `${ok} done, ${fail} conflicts, ${info} without answer`,
  );
  t.comment(`${OPERATIONS} operations in ${seconds.toFixed(1)} s`);

  await using bench = await Workbench.create();
  await bench.git('.', 'clone', '-q', '--mirror', await service.remote('team/app'), 'mirror.git');
  await bench.git('mirror.git', 'fsck', '--strict', '--no-dangling');
  const history = await bench.git('mirror.git', 'log', '--all', '--format=%s');
  t.notMatch(history, /aborted/, 'nothing that was cut off is in the history');
});

t.test('of concurrent writers with the same expected tip exactly one succeeds, over API and Git', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  const clients = new RecordedClients(service, await service.token({ repo: 'team/app' }), randomNumbers(2));
  const root = await service.seed('team/app');
  const second = (await service.commit('team/app', { x: 'x' })).json.commit.commit_sha;
  let tip: string = second;
  for (let round = 0; round < 40; round++) {
    const before = clients.events.length;
    await Promise.all([
      clients.commitPack('main', tip),
      clients.push(['refs/heads/main'], tip, false),
      clients.commitPack('main', tip),
      clients.restore('main', root, tip),
      clients.push(['refs/heads/main'], tip, false),
    ]);
    const made = clients.events.slice(before).filter((event) => event.kind === 'write' && event.outcome === 'ok');
    if (made.length !== 1) t.fail(`round ${round}: ${made.length} winners`);
    tip = await clients.readBranch('main');
  }
  t.same(findViolations(clients.events, new Map([['refs/heads/main', second]])), []);
});

t.test('four concurrent pushes prove that the ref update is a compare-and-swap', async (t) => {
  const service = await startService();
  t.teardown(() => service.emulator.close());
  await service.call('POST', '/api/repos');
  const a = commitObjects('nonce-a', ZERO);
  const b = commitObjects('nonce-b', oidOf(a[0]));
  const c = commitObjects('nonce-c', oidOf(a[0]));
  const ref = 'refs/heads/x';
  const push = async (old: string, objects: ReturnType<typeof commitObjects>) => {
    const body = pushBody([{ ref, old, new: oidOf(objects[0]) }], packOf(objects));
    return reportOf(await pushRaw(service, 'team/app', body))[1]!.slice(0, 2);
  };
  t.equal(await push(ZERO, a), 'ok', 'created');
  t.equal(await push(oidOf(a[0]), b), 'ok', 'moved on');
  t.equal(await push(oidOf(a[0]), c), 'ng', 'a stale value is refused');
  t.equal(await push(ZERO, c), 'ng', 'what exists is not created again');
  t.equal((await service.call('GET', '/api/v1/repos/branch?name=x')).json.branch.head_sha, oidOf(b[0]));
});
