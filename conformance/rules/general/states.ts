import { packLines, sendPack } from '../../api/commit-pack.js';
import { restore, restoreMetadata } from '../../api/requests.js';
import type { ApiResponse } from '../../check/api-response.js';
import { expectSame, expectStatus, expectTrue } from '../../check/expect.js';
import type { RuleContext } from '../../check/rule-context.js';
import { sampleFile } from '../../fixtures/content.js';
import { groupRepository } from '../../fixtures/repositories.js';
import type { AmbiguityCode } from '../../specification/ambiguities.js';
import { documentedOperation } from '../documented-operations.js';
import { defineWritingRules, on, rulesBy } from '../rule.js';
import { forEachPlace, ofReads } from '../token-places.js';

/**
 * Documented operations that the target may refuse because of the state of a repository, such as a running sync: name
 * to the name used in reports.
 */
const OPERATIONS = {
  repo: 'repo',
  commit: 'commit',
  file: 'file',
  archive: 'archive',
  grep: 'grep',
  filemeta: 'file metadata',
  pack: 'commit-pack',
  restore: 'restore',
  notes: 'notes',
} as const;

/**
 * Calls each operation once while the emulator is forced into a state. Returns pairs of the name of the operation in
 * reports and its response.
 */
async function underFault(t: RuleContext, fault: string): Promise<(readonly [string, ApiResponse])[]> {
  const { name } = await groupRepository(t);
  const responses: (readonly [string, ApiResponse])[] = [];
  for (const [operation, label] of Object.entries(OPERATIONS)) {
    responses.push([label, await documentedOperation(operation).send(t, name, { fault, faultIsOptional: true })]);
  }
  return responses;
}

/**
 * Expects each operation in `labels` to be refused, either with the error code of the repository state or as
 * unavailable.
 */
async function refuses(
  t: RuleContext,
  decision: AmbiguityCode,
  state: string,
  fault: string,
  ...labels: readonly string[]
) {
  for (const [label, response] of await underFault(t, fault)) {
    if (labels.includes(label)) t.tolerate(decision, `${state}, ${label}`, response, [`409 ${fault}`, '503']);
  }
}

export const states = defineWritingRules('States', 'states', [
  {
    id: 'state.active',
    says: 'A repository in the normal state answers every read.',
    writes: false,
    check: on(sampleFile, (t) => forEachPlace(t, ofReads, async ({ ask }) => void expectStatus(await ask({}), 200))),
  },
  ...rulesBy(
    refuses,
    [
      [
        'state.thawing.409',
        'A repository that is being restored from cold storage refuses operations with 409 repository_thawing.',
        ...(['A04', 'thawing', 'repository_thawing', 'commit', 'file', 'archive', 'commit-pack'] as const),
      ],
      [
        'state.syncing.409',
        'A repository with a running upstream sync refuses writes with 409 sync_in_progress.',
        ...(['A05', 'syncing', 'sync_in_progress', 'commit-pack', 'restore', 'notes'] as const),
      ],
    ],
    { reach: 'emulator' },
  ),
  {
    id: 'state.which-operations',
    says: 'The specification does not say which operations each state refuses.',
    level: 'UNSPECIFIED',
    reach: 'emulator',
    check: async (t) => {
      for (const fault of ['repository_thawing', 'sync_in_progress']) {
        const responses = await underFault(t, fault);
        const outcomes = responses.map(([operation, { outcome }]) => [operation, outcome]);
        t.observe(fault, Object.fromEntries(outcomes));
      }
    },
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
