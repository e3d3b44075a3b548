import { packLines, sendPack } from '../../api/commit-pack.js';
import { deleteRepo, getRepo, reader, restore, restoreMetadata } from '../../api/requests.js';
import { changeState } from '../../check/admin.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectSame, expectStatus, expectSuccess, expectTrue, isMember } from '../../check/expect.js';
import { AssertionFailure } from '../../check/outcomes.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleFile } from '../../fixtures/content.js';
import { groupRepository, newRepository, sampleRepository } from '../../fixtures/repositories.js';
import { shared } from '../../fixtures/shared.js';
import { listRefs } from '../../git/refs.js';
import type { AmbiguityCode } from '../../specification/ambiguities.js';
import { defineWritingRules, on, type RuleRow } from '../rule.js';
import { forEachPlace, ofReads, showsNothing } from '../token-places.js';
import { prepareRequests, type StateRequest } from './state-requests.js';

interface StateFixture {
  readonly name: string;
  readonly requests: readonly StateRequest[];
}

const FIXTURE = 'requests of every operation';

/**
 * Returns a repository, and one request for each operation on it. The requests succeed while the repository is active.
 * All rules of a run share the repository and the requests.
 */
function statesRepository(t: RuleContext): Promise<StateFixture> {
  return shared(t, FIXTURE, async (maker) => {
    const repository = await newRepository(maker);
    return { name: repository.name, requests: await prepareRequests(maker, repository) };
  });
}

/** State that the suite can give to an emulator's repository. `code` is the error code of requests in this state. */
interface State {
  readonly name: 'thawing' | 'syncing';
  readonly code: string;
  /** Code of the specification's contradiction about responses in this state. */
  readonly decision: AmbiguityCode;
  /** Operations whose table in the specification lists 503 for this state. Other operations have 409 with `code`. */
  readonly listed: readonly string[];
}

const THAWING: State = {
  name: 'thawing',
  code: 'repository_thawing',
  decision: 'A04',
  listed: ['file metadata'],
};
const SYNCING: State = {
  name: 'syncing',
  code: 'sync_in_progress',
  decision: 'A05',
  listed: ['file metadata', 'grep'],
};

/**
 * Sends each request while its repository is in the given state. Returns pairs of request and response. Fails the rule
 * unless another repository is still served meanwhile.
 */
async function sendIn(t: RuleContext, { name: state }: State, requests: readonly StateRequest[]) {
  const setState = (value: string) => {
    const repositories = requests.map(({ repo }) => [repo, { state: value }] as const);
    return changeState(t, { repositories: Object.fromEntries(repositories) });
  };
  const responses: (readonly [StateRequest, ApiResponse])[] = [];
  await setState(state);
  try {
    for (const request of requests) responses.push([request, await request.send(t)]);
    expectStatus(await getRepo(t, (await sampleRepository(t)).name), 200);
  } finally {
    await setState('active');
  }
  return responses;
}

/**
 * Sends the reading requests about a repository, so that a target with caches has their responses. A response from a
 * cache would not show the later state of the repository.
 */
async function fillCaches(t: RuleContext, name: string, requests: readonly StateRequest[]): Promise<void> {
  for (const { writes, repo, send } of requests) if (!writes && repo === name) await send(t);
}

/**
 * Sends every request while its repository is in the given state. Expects the requests selected by `mustRefuse` to be
 * refused and to change nothing. Other requests may also be refused, but only because of the state.
 */
async function refuses(t: RuleContext, state: State, mustRefuse: (request: StateRequest) => boolean): Promise<void> {
  const { name, requests } = await statesRepository(t);
  const before = await listRefs(t, name, reader(name));
  await fillCaches(t, name, requests);
  try {
    for (const [request, response] of await sendIn(t, state, requests)) {
      naming(request, () => {
        if (mustRefuse(request)) expectStateRefusal(t, state, request, response);
        else expectAllowed(state, request, response);
      });
    }
    const after = await listRefs(t, name, reader(name));
    expectSame([...after].sort(), [...before].sort(), `requests refused while ${state.name} must change no ref`);
  } catch (error) {
    // Forget the prepared requests, so that a repeated check prepares new ones. A write that was accepted once would
    // not succeed again.
    t.run.fixtures.delete(FIXTURE);
    throw error;
  }
}

/** Runs a check. If it fails, adds the operation's method and path to the message. */
function naming({ route }: StateRequest, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof AssertionFailure)) throw error;
    throw new AssertionFailure(`${route}: ${error.what}`, error.expected, error.actual);
  }
}

/** Expects that the state refuses a request, either with the state's own code or as unavailable (A04, A05). */
function expectStateRefusal(t: RuleContext, state: State, request: StateRequest, response: ApiResponse): void {
  if (request.isCodeless) showsNothing(response);
  const ways = [codeOf(state, request), '503'];
  if (state.listed.includes(request.name)) ways.reverse();
  t.tolerate(state.decision, `${state.name}, ${request.name}`, response, ways);
}

/**
 * Expects a request to succeed, or to be refused because of the state. The response is not recorded, because the
 * specification leaves open which requests a state refuses.
 */
function expectAllowed(state: State, request: StateRequest, response: ApiResponse): void {
  const ways = [codeOf(state, request), '503'];
  const isAllowed = response.status < 300 || ways.some((way) => isMember(response, way));
  expectTrue(isAllowed, `the response must be a success, ${ways.join(' or ')}`, response.outcome);
}

/**
 * Returns status and code of a refusal because of the state. Returns only the status if the operation's errors have no
 * code.
 */
function codeOf({ code }: State, { isCodeless }: StateRequest): string {
  return isCodeless ? '409' : `409 ${code}`;
}

const GONE = ['404 repository_not_found', '409 repository_deleted'];

/** Deletes a repository and expects every operation on it to be refused. */
async function refusesDeleted(t: RuleContext): Promise<void> {
  t.needsCompanion();
  const repository = await newRepository(t);
  const requests = await prepareRequests(t, repository);
  await fillCaches(t, repository.name, requests);
  expectSuccess(await deleteRepo(t, repository.name));
  await t.eventually(async () => (await getRepo(t, repository.name)).status > 299, 'a deleted repository is refused');
  for (const request of requests) {
    const { name, isGit, isCodeless, repo } = request;
    if (repo !== repository.name) continue;
    const response = await request.send(t);
    naming(request, () => {
      if (isGit) showsNothing(response);
      if (isGit) t.tolerate('A35', `deleted repository, ${name}`, response, ['404', '409', '403', '401']);
      else if (name === 'delete repository') t.tolerate('A16', 'second delete', response, [...GONE].reverse());
      else t.tolerate('A16', `deleted, ${name}`, response, isCodeless ? ['404', '409'] : GONE);
    });
  }
}

/**
 * Operations that have their own clause. The keys are the clauses; the texts name the operations at the beginning of a
 * sentence.
 */
const READS = {
  'repository-metadata': 'Reading the repository record',
  'one-commit': 'Reading one commit',
  'read-file': 'Reading a file',
  archive: 'Downloading an archive',
  search: 'A search',
  'file-metadata': 'Reading file metadata',
  branches: 'Listing branches',
  commits: 'Listing commits',
  diff: 'Reading a diff',
};
const WRITES = {
  'commit-pack': 'A commit from streamed content',
  restore: 'A restore with the route restore-commit',
  reset: 'A restore with the route reset-commits',
  notes: 'Writing a note',
};
const GIT = {
  'git-refs': 'The ref advertisement of a fetch',
  'git-fetch': 'A Git fetch',
  'git-push-refs': 'The ref advertisement of a push',
  'git-push': 'A Git push',
};
const COMPANION = { companion: 'A request by a route that only published clients show' };

/** Returns one clause per operation: the operation's text, then `ending`. */
function clausesOf(operations: Readonly<Record<string, string>>, ending: string): NonNullable<RuleRow['clauses']> {
  return Object.fromEntries(Object.entries(operations).map(([clause, begin]) => [clause, `${begin} ${ending}`]));
}

export const states = defineWritingRules('States', 'states', [
  {
    id: 'state.active',
    says: 'A repository in the normal state answers every read.',
    writes: false,
    check: on(sampleFile, (t) => forEachPlace(t, ofReads, async ({ ask }) => void expectStatus(await ask({}), 200))),
  },
  {
    id: 'state.thawing.409',
    says: 'A repository that is being restored from cold storage refuses operations with 409 repository_thawing.',
    clauses: {
      ...clausesOf({ ...READS, ...WRITES, ...GIT, ...COMPANION }, 'is refused while the repository thaws.'),
      'no-effect': 'A write that is refused while the repository thaws changes no ref.',
      'no-other': 'Other repositories are served while a repository thaws.',
      'read-before': 'A read is refused even if an equal one was answered before.',
    },
    reach: 'emulator',
    check: (t) => refuses(t, THAWING, () => true),
  },
  {
    id: 'state.syncing.409',
    says: 'A repository with a running upstream sync refuses writes with 409 sync_in_progress.',
    clauses: {
      ...clausesOf({ ...WRITES, ...COMPANION, 'git-push': GIT['git-push'] }, 'is refused during a sync.'),
      search: 'A search is refused during a sync.',
      'file-metadata': 'Reading file metadata is refused during a sync.',
      reads: 'Any other read that is refused during a sync has the code of a sync, or 503.',
      'no-effect': 'A write that is refused during a sync changes no ref.',
      'no-other': 'Other repositories are served during a sync of one repository.',
    },
    reach: 'emulator',
    check: (t) =>
      refuses(t, SYNCING, ({ name, writes }) => SYNCING.listed.includes(name) || (writes && name !== 'Git push refs')),
  },
  {
    id: 'state.which-operations',
    says: 'The specification does not say which operations each state refuses.',
    level: 'UNSPECIFIED',
    reach: 'emulator',
    check: async (t) => {
      const { requests } = await statesRepository(t);
      const documented = requests.filter(({ clause, isGit }) => !isGit && clause !== 'companion');
      for (const state of [THAWING, SYNCING]) {
        const responses = await sendIn(t, state, documented);
        t.observe(state.code, Object.fromEntries(responses.map(([{ name }, { outcome }]) => [name, outcome])));
      }
    },
  },
  {
    id: 'state.deleted.operations',
    says: 'A deleted repository refuses every operation with 404 repository_not_found or 409 repository_deleted.',
    clauses: {
      ...clausesOf({ ...READS, ...WRITES, ...GIT, ...COMPANION }, 'is refused after the deletion of the repository.'),
      'read-before': 'A read is refused even if an equal one was answered before the deletion.',
    },
    reach: 'needs-setup',
    check: refusesDeleted,
  },
  {
    id: 'state.ref-outcome-in-body',
    says: 'result.status and result.success report the outcome for the branch, whatever the HTTP status is.',
    check: on(groupRepository, async (t, { name }) => {
      const written = await sendPack(t, name, packLines(t, { 'outcome.txt': t.uniqueName() }));
      const { success, status } = written.record('result');
      expectSame([success, status], [true, 'ok'], 'a successful write must have success true and status ok');
      const tip = written.string('commit', 'commit_sha');
      const nothing = await restore(t, name, restoreMetadata(t, tip));
      expectSame(nothing.find('result', 'success'), false, 'a restore that changes nothing must have success false');
      expectTrue(
        typeof nothing.find('result', 'status') === 'string',
        'a restore that changes nothing must have a status',
      );
    }),
  },
]);
