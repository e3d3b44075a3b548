import { commitFiles } from '../../api/commit-pack.js';
import {
  ABSENT_SHA,
  AUTHOR,
  COMMITTER,
  mustTipOf,
  reset,
  restore,
  restoreMetadata,
  tipOf,
} from '../../api/requests.js';
import {
  expectAbsent,
  expectOther,
  expectRefused,
  expectSame,
  expectSha,
  expectStatus,
  expectTrue,
} from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { groupRepository, otherRepository } from '../../fixtures/repositories.js';
import { defineWritingRules, leftOpen, on, rulesBy } from '../rule.js';
import { expectFailureBody, expectFailureKind } from '../write-failure.js';
import { moved } from './moved.js';

/**
 * Sends restore requests whose metadata has a missing or invalid member. Expects status 400 for each, and that no ref
 * moves.
 */
async function refusesMetadata(t: RuleContext, ...changes: readonly object[]): Promise<void> {
  const { name, seed, last } = await moved(t);
  for (const change of changes) {
    const metadata = Object.fromEntries(
      Object.entries(restoreMetadata(t, seed, change)).filter(([, value]) => value !== undefined),
    );
    expectStatus(await restore(t, name, metadata), 400);
  }
  expectSame(await mustTipOf(t, name), last.sha, 'the branch tip must not change');
}

async function refusesBody(t: RuleContext, ...bodies: readonly string[]): Promise<void> {
  const { name, last } = await moved(t);
  for (const body of bodies) {
    expectStatus(await restore(t, name, undefined, { body }), 400);
  }
  expectSame(await mustTipOf(t, name), last.sha, 'the branch tip must not change');
}

/** Requests a restore of a branch to the commit that is already its tip. */
async function already(t: RuleContext) {
  const { name } = await groupRepository(t);
  const tip = await mustTipOf(t, name);
  return { name, tip, response: await restore(t, name, restoreMetadata(t, tip)) };
}

const WITHOUT_COMMIT = { target_commit_sha: undefined };
const SPOILT_TYPES = [
  { target_branch: 5 },
  { target_commit_sha: 5 },
  { author: 'x' },
  { commit_message: 5 },
  { committer: 'x' },
  { author: { ...AUTHOR, name: 5 } },
  { target_branch: null },
  { target_commit_sha: null },
  { expected_head_sha: 5 },
  { author: { ...AUTHOR, email: 5 } },
  { committer: { ...COMMITTER, name: 5 } },
  { author: null },
  { author: [] },
];
const SPOILT_AUTHORS = [{ author: { email: AUTHOR.email } }, { author: { name: AUTHOR.name } }];

export const restoreRefusals = defineWritingRules('2. Restore', 'restore-refusals', [
  {
    id: 'restore.content-type',
    says: 'The body is one line of NDJSON: an object with the key metadata.',
    check: on(moved, async (t, { name, seed }) => expectStatus(await restore(t, name, restoreMetadata(t, seed)), 201)),
  },
  leftOpen(
    'restore.content-type.json',
    'The specification does not say whether the body of a restore may be sent as application/json.',
    moved,
    async (t, { name, seed }) =>
      t.observe('outcome', await restore(t, name, restoreMetadata(t, seed), { contentType: 'application/json' })),
  ),
  leftOpen(
    'restore.body.extra-key',
    'The specification does not describe further keys, further lines or a missing final newline in the body of a restore.',
    async (t) => {
      const forms: Record<string, (line: object) => string> = {
        'second key': (line) => `${JSON.stringify({ ...line, more: 1 })}\n`,
        'second line': (line) => `${JSON.stringify(line)}\n{}\n`,
        'no newline': (line) => JSON.stringify(line),
      };
      for (const [form, write] of Object.entries(forms)) {
        const { name, seed } = await moved(t);
        const body = write({ metadata: restoreMetadata(t, seed) });
        t.observe(form, await restore(t, name, undefined, { body }));
      }
    },
  ),
  ...rulesBy(refusesBody, [['restore.body.empty', 'An empty body is refused with 400.', '']]),
  ...rulesBy(
    refusesBody,
    [
      [
        'restore.body.no-metadata',
        'A line that is not valid JSON, or that has no metadata, is refused with 400.',
        ...['{\n', '{}\n', 'null\n', '[]\n', '{"metadata":null}\n', '{"metadata":[]}\n'],
      ],
    ],
    { clauses: { 'not-an-object': 'A line or metadata that is null or a list is refused.' } },
  ),
  ...rulesBy(
    refusesMetadata,
    [['restore.fields.invalid', 'A field whose value has the wrong type is refused with 400.', ...SPOILT_TYPES]],
    {
      clauses: {
        'target-branch': 'A target_branch that is not a string is refused.',
        'commit-message': 'A commit_message that is not a string is refused.',
        committer: 'A committer that is not an object is refused.',
        name: 'A name of the author that is not a string is refused.',
        null: 'A required field that is null is refused.',
        'expected-head': 'An expected_head_sha that is not a string is refused.',
        email: 'An email of the author that is not a string is refused.',
        'committer-name': 'A name of the committer that is not a string is refused.',
        'author-null': 'An author that is null is refused.',
        'author-list': 'An author that is a list is refused.',
      },
    },
  ),
  ...rulesBy(refusesMetadata, [
    [
      'restore.target_branch.required',
      'A restore without target_branch is refused with 400.',
      { target_branch: undefined },
    ],
  ]),
  leftOpen(
    'restore.target_branch.missing-branch',
    'The specification does not say how a target_branch that does not exist, or that begins with refs/, is refused; no branch may change.',
    moved,
    async (t, { name, seed }) => {
      const missing = await restore(t, name, restoreMetadata(t, seed, { target_branch: 'nope' }));
      expectRefused(missing);
      t.observe('missing branch', missing);
      expectAbsent(await tipOf(t, name, 'nope'), 'the branch must not be created');
      const full = `refs/heads/${t.defaultBranch}`;
      t.observe('full ref name', await restore(t, name, restoreMetadata(t, seed, { target_branch: full })));
      expectAbsent(await tipOf(t, name, `refs/heads/${full}`), `refs/heads/${full} must not be created`);
    },
  ),
  ...rulesBy(refusesMetadata, [
    ['restore.target_commit_sha.required', 'A restore without target_commit_sha is refused with 400.', WITHOUT_COMMIT],
  ]),
  leftOpen(
    'restore.target_commit_sha.unreachable',
    'The specification does not say whether target_commit_sha may be a short SHA or a commit outside the history of the branch.',
    moved,
    async (t, { name, seed }) => {
      t.observe('short SHA', await restore(t, name, restoreMetadata(t, seed.slice(0, 7))));
      const branch = { target_branch: 'aside', base_branch: t.defaultBranch };
      const { sha } = await commitFiles(t, name, { 'aside.txt': t.uniqueName() }, branch);
      t.observe('another branch', await restore(t, name, restoreMetadata(t, sha)));
    },
  ),
  ...rulesBy(refusesMetadata, [
    ['restore.author.required', 'A restore without author is refused with 400.', { author: undefined }],
  ]),
  ...rulesBy(
    refusesMetadata,
    [
      [
        'restore.author.name.required',
        'An author without a name or without an email is refused with 400.',
        ...SPOILT_AUTHORS,
      ],
    ],
    { clauses: { name: 'An author without a name is refused.', email: 'An author without an email is refused.' } },
  ),
  {
    id: 'restore.err.404.commit',
    says: 'A target commit that does not exist is refused with 404.',
    clauses: {
      'other-repository': 'A commit of another repository does not exist in this one.',
      malformed: 'Text that is no SHA is refused as a missing commit or as an invalid field.',
    },
    check: on(moved, async (t, { name, last }) => {
      const { tip: foreign } = await otherRepository(t);
      for (const sha of [ABSENT_SHA, foreign]) expectStatus(await restore(t, name, restoreMetadata(t, sha)), 404);
      expectStatus(await restore(t, name, restoreMetadata(t, 'no such commit')), 404, 400);
      expectSame(await mustTipOf(t, name), last.sha, 'the branch tip must not change');
    }),
  },
  {
    id: 'restore.failure-body',
    says: 'The body of the response to a failed restore is a restore result or a problem details object.',
    clauses: { 'missing-commit': 'The response about a target commit that does not exist has such a body.' },
    check: on(moved, async (t, { name, seed }) => {
      expectFailureKind(expectStatus(await restore(t, name, restoreMetadata(t, ABSENT_SHA)), 404));
      const response = expectStatus(await restore(t, name, restoreMetadata(t, seed, { expected_head_sha: seed })), 409);
      expectFailureBody(t, 'failed restore', response, 'result');
    }),
  },
  {
    id: 'restore.err.429.body',
    says: 'A throttled restore is answered with problem details.',
    clauses: { alias: 'The response to reset-commits is a problem details object too.' },
    reach: 'emulator',
    check: on(moved, async (t, { name, seed }) => {
      for (const send of [restore, reset]) {
        const response = await send(t, name, restoreMetadata(t, seed), { fault: 'rate_limited' });
        expectSame(response.outcome, '429 rate_limited', 'unexpected status or code');
        expectSame(response.mediaType, 'application/problem+json', 'unexpected media type');
      }
    }),
  },
]);

export const restoreAlready = defineWritingRules('2. Restore', 'restore-already', [
  {
    id: 'restore.already.commit-null',
    says: 'If a restore changes nothing, because the branch already has the content of the target commit, commit is null.',
    clauses: {
      'named-branch': 'A branch other than the default branch is compared with the target commit by its own content.',
    },
    check: on(already, async (t, { name, tip, response }) => {
      expectTrue('commit' in response.record(), 'the response must have the member commit');
      expectSame(response.find('commit'), null, 'commit must be null');
      const target_branch = t.uniqueRef('beside');
      await commitFiles(t, name, { 'beside.txt': 'x' }, { target_branch, base_branch: t.defaultBranch });
      const metadata = restoreMetadata(t, tip, { target_branch });
      const changed = expectStatus(await restore(t, name, metadata, { mustSucceed: true }), 201);
      expectSha(changed.find('commit', 'commit_sha'), 'the other branch must get a new commit');
    }),
  },
  {
    id: 'restore.already.result-empty',
    says: 'If a restore changes nothing, branch, old_sha and new_sha of result are empty.',
    check: async (t) => {
      const { branch, old_sha, new_sha } = (await already(t)).response.record('result');
      const empty = [branch, old_sha, new_sha].every((value) => value === '' || value === null || value === undefined);
      expectTrue(empty, 'branch, old_sha and new_sha must be empty', { branch, old_sha, new_sha });
      const kinds = ['empty string', 'null', 'absent'];
      t.tolerateValue('A08', 'empty', branch === '' ? 'empty string' : branch === null ? 'null' : 'absent', kinds);
    },
  },
  {
    id: 'restore.already.status',
    says: 'If a restore changes nothing, result.status is precondition_failed and result.success is false.',
    check: on(already, async (_t, { response }) => {
      expectSame(response.string('result', 'status'), 'precondition_failed', 'status');
      expectSame(response.boolean('result', 'success'), false, 'success');
    }),
  },
  {
    id: 'restore.already.message',
    says: 'If a restore changes nothing, result.message says why.',
    check: async (t) =>
      expectOther((await already(t)).response.string('result', 'message'), '', 'message must not be empty'),
  },
  leftOpen(
    'restore.already.http-status',
    'The specification does not say which HTTP status a restore has that changes nothing.',
    already,
    async (t, { response }) => {
      t.observe('status', response.status);
      t.tolerate('A09', 'already matches', response, ['409', '200', '201', '412']);
    },
  ),
  {
    id: 'restore.already.no-commit',
    says: 'If a restore changes nothing, the branch does not move.',
    check: on(already, async (t, { name, tip }) =>
      expectSame(await mustTipOf(t, name), tip, 'the branch tip must not change'),
    ),
  },
]);
