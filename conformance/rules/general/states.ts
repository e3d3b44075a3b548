import { packLines, sendPack } from '../../api/commit-pack.js';
import {
  archive,
  fileMetadata,
  getCommit,
  getFile,
  getRepo,
  grep,
  restore,
  restoreMetadata,
  writeNote,
} from '../../api/requests.js';
import { expectSame, expectStatus, expectTrue } from '../../check/expect.js';
import type { RequestOptions, RuleContext } from '../../check/rule-context.js';
import { isTooLarge, sampleFile } from '../../fixtures/content.js';
import { groupRepository } from '../../fixtures/repositories.js';
import { defineWritingRules, on } from '../rule.js';

/** Every documented operation once, with a state forced on it. */
async function underFault(t: RuleContext, fault: string) {
  const { name, tip } = await groupRepository(t);
  const options: RequestOptions = { fault, faultIsOptional: true };
  return {
    repo: await getRepo(t, name, options),
    commit: await getCommit(t, name, 'main', options),
    file: await getFile(t, name, { path: 'README.md' }, options),
    archive: await archive(t, name, {}, options),
    grep: await grep(t, name, { query: { pattern: 'e' } }, options),
    'file metadata': await fileMetadata(t, name, {}, options),
    'commit-pack': await sendPack(t, name, packLines({ 'state.txt': 'x' }), options),
    restore: await restore(t, name, restoreMetadata(tip), options),
    notes: await writeNote(t, name, { sha: tip, action: 'append', note: 'x' }, options),
  };
}

export const states = defineWritingRules('States', 'states', [
  {
    id: 'state.active',
    says: 'A repository in the normal state answers every read.',
    writes: false,
    check: on(sampleFile, async (t, { name, branch, path }) => {
      expectStatus(await getRepo(t, name), 200);
      expectStatus(await getCommit(t, name, branch), 200);
      expectStatus(await getFile(t, name, { path }), 200);
      const files = await fileMetadata(t, name);
      if (!isTooLarge(t, files)) expectStatus(files, 200);
      expectStatus(await grep(t, name, { query: { pattern: 'e' } }), 200);
      expectStatus(await archive(t, name), 200);
    }),
  },
  {
    id: 'state.thawing.409',
    says: 'A repository that is being restored from cold storage refuses operations with 409 repository_thawing.',
    reach: 'emulator',
    check: async (t) => {
      const answers = await underFault(t, 'repository_thawing');
      for (const operation of ['commit', 'file', 'archive', 'commit-pack'] as const) {
        t.tolerate('A04', `thawing, ${operation}`, answers[operation], ['409 repository_thawing', '503']);
      }
    },
  },
  {
    id: 'state.syncing.409',
    says: 'A repository with a running upstream sync refuses writes with 409 sync_in_progress.',
    reach: 'emulator',
    check: async (t) => {
      const answers = await underFault(t, 'sync_in_progress');
      for (const operation of ['commit-pack', 'restore', 'notes'] as const) {
        t.tolerate('A05', `syncing, ${operation}`, answers[operation], ['409 sync_in_progress', '503']);
      }
    },
  },
  {
    id: 'state.which-operations',
    says: 'The specification does not say which operations each state refuses.',
    level: 'UNSPECIFIED',
    reach: 'emulator',
    check: async (t) => {
      for (const fault of ['repository_thawing', 'sync_in_progress']) {
        const answers = await underFault(t, fault);
        const outcomes = Object.entries(answers).map(([operation, { outcome }]) => [operation, outcome]);
        t.observe(fault, Object.fromEntries(outcomes));
      }
    },
  },
  {
    id: 'state.ref-outcome-in-body',
    says: 'result.status and result.success report the outcome for the branch, whatever the HTTP status is.',
    check: on(groupRepository, async (t, { name }) => {
      const written = await sendPack(t, name, packLines({ 'outcome.txt': t.uniqueName() }));
      const { success, status } = written.record('result');
      expectSame([success, status], [true, 'ok'], 'a success says so');
      const tip = written.string('commit', 'commit_sha');
      const nothing = await restore(t, name, restoreMetadata(tip));
      expectSame(nothing.find('result', 'success'), false, 'a restore of nothing says so');
      expectTrue(typeof nothing.find('result', 'status') === 'string', 'with a status');
    }),
  },
]);
