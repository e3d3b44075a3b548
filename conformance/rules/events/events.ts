import { createHmac } from 'node:crypto';
import { commitFiles } from '../../api/commit-pack.js';
import { createRepo, deleteRepo, repositoryPath, writeNote, writer } from '../../api/requests.js';
import { changeState } from '../../check/admin.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectAbsent, expectOneOf, expectSame, expectSuccess, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { newRepository } from '../../fixtures/repositories.js';
import { clone } from '../../git/git-client.js';
import { defineRules, type RuleRow } from '../rule.js';
import { forEachPlace } from '../token-places.js';
import { type Delivery, eventOf, Receiver, SECRET, type UpstreamKind } from './receiver.js';

const FAILED = 'repo.sync.failed';

/** Defines a rule whose check gets a receiver: a local server to which the target delivers events. */
function eventRule(
  id: string,
  says: string,
  check: (t: RuleContext, receiver: Receiver) => Promise<void>,
  clauses?: RuleRow['clauses'],
): RuleRow {
  return {
    id,
    says,
    ...(clauses && { clauses }),
    reach: 'emulator',
    writes: true,
    check: async (t) => {
      await using receiver = await Receiver.open(t);
      await check(t, receiver);
    },
  };
}

/**
 * Creates a repository whose first sync fails as `failure` says. Returns the repository and the delivered event about
 * the sync.
 */
async function firstFailure(receiver: Receiver, failure: UpstreamKind) {
  const repo = await receiver.follow(failure);
  const delivery = await receiver.next(repo);
  expectSame(eventOf(delivery), FAILED, 'the delivery must be a repo.sync.failed event');
  return { repo, delivery };
}

function tryPull(t: RuleContext, repo: string): Promise<ApiResponse> {
  return t.post(`${repositoryPath(repo)}/pull-upstream`, { as: writer(repo), json: {}, mustSucceed: true });
}

async function pull(t: RuleContext, repo: string): Promise<void> {
  expectSuccess(await tryPull(t, repo));
}

export const events = defineRules('Events', 'events', [
  eventRule(
    'event.sync-failed.sent',
    'A failed sync run sends the event repo.sync.failed.',
    async (t, receiver) => {
      const good = await receiver.follow('empty');
      const { repo } = await firstFailure(receiver, 'absent');
      await pull(t, repo);
      await receiver.next(repo, 2);
      expectSame(receiver.about(repo).map(eventOf), [FAILED, FAILED], 'each failed run must send one event');
      // The target accepts another sync only after the first one has ended.
      await t.eventually(async () => (await tryPull(t, good)).status < 300, 'the first sync must end');
      // Wait for a later failure. Events arrive in order, so an event about the first sync would have arrived before it.
      await firstFailure(receiver, 'absent');
      expectSame(receiver.about(good).map(eventOf), [], 'a run that succeeds must send no event');
    },
    { success: 'A sync run that succeeds sends no event.' },
  ),
  eventRule(
    'event.sync-failed.retries-exhausted',
    'The event repo.sync.failed is sent when the last retry has failed.',
    async (t, receiver) => {
      const { repo, delivery } = await firstFailure(receiver, 'overloaded');
      const times = [...receiver.asked].flatMap(([path, asked]) => (path.startsWith('/overloaded/') ? asked : []));
      expectTrue(times.length > 0, 'the upstream must be contacted', times.length);
      t.observe('times asked', times.length);
      await t.run.sleep(100);
      const later = [...receiver.asked.values()].flat().filter((at) => at > delivery.at);
      expectSame(later.length, 0, 'the upstream must not be contacted again after the event');
      expectSame(receiver.about(repo).length, 1, 'the retries of a run must send one event together');
    },
  ),
  eventRule(
    'event.sync-failed.infrastructure',
    'The event repo.sync.failed is sent after a failure of the infrastructure.',
    async (_t, receiver) => {
      await firstFailure(receiver, 'unreachable');
    },
  ),
  eventRule(
    'event.sync-failed.not-on-cancel',
    'The event repo.sync.failed is not sent if the service cancels the run.',
    async (t, receiver) => {
      const repo = await receiver.follow('silent');
      const isAsked = () => [...receiver.asked.keys()].some((path) => path.startsWith('/silent/'));
      await t.eventually(async () => isAsked(), 'the sync must be running');
      await changeState(t, { repositories: { [repo]: { state: 'active' } } });
      // Wait for a later failure. Events arrive in order, so an event about the cancelled sync would have arrived
      // before it.
      await firstFailure(receiver, 'absent');
      expectSame(receiver.about(repo).map(eventOf), [], 'a run cancelled by the service must not send an event');
    },
  ),
  eventRule(
    'event.run_count',
    'run_count includes the run that just finished.',
    async (t, receiver) => {
      const { repo } = await firstFailure(receiver, 'absent');
      for (const count of [2, 3]) {
        await pull(t, repo);
        await receiver.next(repo, count);
      }
      const counts = receiver.about(repo).map(({ payload }) => payload.run_count);
      expectSame(counts, [1, 2, 3], 'run_count of the first, second and third run must be 1, 2 and 3');
      const { delivery } = await firstFailure(receiver, 'absent');
      expectSame(delivery.payload.run_count, 1, 'run_count of the first run of another repository must be 1');
    },
    {
      includes: 'run_count of the first run is 1, and that of each later run is one higher.',
      repository: 'run_count counts the runs of one repository only.',
    },
  ),
  eventRule(
    'event.no-others',
    'No operation of the API sends an event other than repo.sync.failed.',
    async (t, receiver) => {
      const { name, tip } = await newRepository(t);
      const { sha } = await commitFiles(
        t,
        name,
        { 'event.txt': 'x' },
        { target_branch: 'side', base_branch: t.defaultBranch },
      );
      expectSuccess(await writeNote(t, name, { sha: tip, note: 'event' }));
      const { git } = await clone(t, name, 'side');
      await git.branch('pushed', sha);
      expectAbsent(await git.push(name, ['pushed']), 'the push must succeed');
      expectSuccess(await deleteRepo(t, name));
      expectSuccess(await createRepo(t, t.uniqueName()));
      await forEachPlace(
        t,
        () => true,
        async ({ ask }) => void (await ask({})),
      );
      // Wait for one last failure. Events arrive in order, so all events of the actions above have arrived before it.
      await firstFailure(receiver, 'absent');
      for (const delivery of receiver.deliveries)
        expectOneOf(eventOf(delivery), [FAILED], 'the event must be repo.sync.failed');
    },
    {
      writes: 'No write of commits, refs or notes sends an event.',
      reads: 'No read sends an event.',
      repositories: 'Neither the creation nor the deletion of a repository sends an event.',
      git: 'No fetch and no push of Git sends an event.',
    },
  ),
  {
    level: 'UNSPECIFIED',
    ...eventRule(
      'event.delivery',
      'The specification does not show the payload, headers, signature and retries of a delivery.',
      async (t, receiver) => {
        receiver.refusesFirst = true;
        const { repo, delivery } = await firstFailure(receiver, 'absent');
        const again = await receiver.next(repo, 2);
        t.observe('payload', Object.keys(delivery.payload));
        const headers = Object.keys(delivery.headers).filter((name) => /^x-|^user-agent$|^content-type$/.test(name));
        t.observe('headers', headers);
        t.observe('signature', describeSignature(delivery));
        t.observe('again after a 500', again.bytes.equals(delivery.bytes) ? 'the same body' : 'another body');
      },
    ),
  },
]);

/**
 * Verifies the signature of a delivered event, as published clients do. Its form is `t=<unix seconds>,sha256=<hex>`,
 * with the HMAC over `<t>.<body>`.
 */
function describeSignature({ headers, bytes }: Delivery): string {
  const name = Object.keys(headers).find((one) => one.endsWith('-signature'));
  const match = name === undefined ? null : /^t=(\d+),sha256=([0-9a-f]{64})$/.exec(String(headers[name]));
  if (match === null) return name === undefined ? 'none' : 'of another form';
  const digest = createHmac('sha256', SECRET).update(`${match[1]}.`).update(bytes).digest('hex');
  return digest === match[2] ? 'HMAC-SHA256 over time and body' : 'wrong';
}
