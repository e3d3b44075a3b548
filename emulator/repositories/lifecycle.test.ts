import t from 'tap';
import type { OperationId } from '../config/operation-ids.js';
import { type Variants, variantRows } from '../config/variants.js';
import { type Effect, type RepositoryState, refusalOf, stateProblem } from './lifecycle.js';

/**
 * Returns the default value of each variant (point that the specification leaves open). `changes` replaces some of
 * them.
 */
function variants(changes: Partial<Variants> = {}): Variants {
  const defaults = Object.fromEntries(variantRows().map(({ name, values }) => [name, values[0]]));
  return { ...(defaults as unknown as Variants), ...changes };
}

/** Tested operations: one per effect, and those that some states of a repository refuse in a special way. */
const OPERATIONS = {
  read: ['getCommit', 'read'],
  write: ['commitPack', 'write'],
  delete: ['deleteRepository', 'delete'],
  metadata: ['fileMetadata', 'read'],
  grep: ['grep', 'read'],
  credential: ['createCredential', 'write'],
} as const satisfies Record<string, readonly [OperationId, Effect]>;

type Answers = Record<keyof typeof OPERATIONS, string | undefined>;

function answersOf(state: RepositoryState, changes?: Partial<Variants>): Answers {
  const rows = Object.entries(OPERATIONS).map(([name, [id, effect]]) => [
    name,
    refusalOf(state, { id, effect }, variants(changes)),
  ]);
  return Object.fromEntries(rows);
}

/** Returns the expected error code of each operation. It is `code`, except for the operations in `others`. */
const all = (code: string | undefined, others: Partial<Answers> = {}): Answers => ({
  read: code,
  write: code,
  delete: code,
  metadata: code,
  grep: code,
  credential: code,
  ...others,
});

const BUSY = 'sync_in_progress';
const COLD = 'repository_thawing';
const LATER = 'service_unavailable';
const ENDPOINTS_WHILE_SYNCING = all(BUSY, { read: undefined, metadata: LATER, grep: LATER });

t.test('a repository in use refuses nothing', async (t) => {
  t.same(answersOf('active'), all(undefined));
  t.same(answersOf('active', { thawing: '503', syncing: '503', syncBlocks: 'all' }), all(undefined));
});

t.test('a deleted repository is not found, except that a second deletion is a conflict', async (t) => {
  t.same(answersOf('deleted'), all('repository_not_found', { delete: 'repository_deleted' }));
  t.same(answersOf('deleted', { deletedRepository: '409' }), all('repository_deleted'));
  t.same(answersOf('deleted', { thawing: '503', syncing: '503', syncBlocks: 'all' }), answersOf('deleted'));
});

t.test('a repository in cold storage refuses everything, also before its restore has begun', async (t) => {
  for (const state of ['archived', 'thawing'] as const) {
    t.same(answersOf(state), all(COLD, { metadata: LATER }));
    t.same(answersOf(state, { thawing: '409' }), all(COLD));
    t.same(answersOf(state, { thawing: '503' }), all(LATER));
    t.same(answersOf(state, { syncing: '503', syncBlocks: 'all' }), answersOf(state), 'what syncs has no say');
  }
});

t.test('a sync refuses writes, also that of a credential', async (t) => {
  t.same(answersOf('syncing'), ENDPOINTS_WHILE_SYNCING);
  t.same(answersOf('syncing', { syncing: '409' }), all(BUSY, { read: undefined }));
  t.same(answersOf('syncing', { syncing: '503' }), all(LATER, { read: undefined }));
  t.same(answersOf('syncing', { syncBlocks: 'all' }), { ...ENDPOINTS_WHILE_SYNCING, read: BUSY });
  t.same(answersOf('syncing', { thawing: '503' }), ENDPOINTS_WHILE_SYNCING, 'what thaws has no say');
});

t.test('temporary states have Retry-After, and deletion does not', async (t) => {
  const refuse = (state: RepositoryState, [id, effect]: readonly [OperationId, Effect]) => {
    const code = refusalOf(state, { id, effect }, variants());
    if (code === undefined) return undefined;
    const { options, detail } = stateProblem(state, code, 7);
    return [code, options.headers, detail] as const;
  };
  const later = { 'retry-after': '7' };
  const { read, write, metadata } = OPERATIONS;
  t.equal(refuse('active', write), undefined);
  t.equal(refuse('syncing', read), undefined);
  t.match(refuse('syncing', write), [BUSY, later, /sync/]);
  t.match(refuse('archived', read), [COLD, later, /cold storage/]);
  t.match(refuse('thawing', metadata), [LATER, later, /cold storage/]);
  t.match(refuse('deleted', OPERATIONS.delete), ['repository_deleted', undefined, /was deleted/]);
  t.same(
    refuse('deleted', read),
    ['repository_not_found', undefined, 'The repository does not exist, or the token does not cover it.'],
    'as one that never was',
  );
});
