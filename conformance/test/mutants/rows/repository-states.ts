import { type Mutant, type Patch, patched, proxied } from '../mutant.js';
import { ARCHIVE, COMMIT, COMMITS, FILE, GREP, NOTES, PACK, REPO, RESET, RESTORE } from '../places.js';
import type { ProxiedResponse, Rewrite } from '../proxy.js';
import { changesStatus, isAt, type Place, setsHeader } from '../rewrites.js';
import { tokenOf } from '../tokens.js';

type State = 'thawing' | 'syncing' | 'deleted';

/** Rule that checks which operations the server refuses in each state of a repository. */
const RULES: Readonly<Record<State, string>> = {
  thawing: 'state.thawing.409',
  syncing: 'state.syncing.409',
  deleted: 'state.deleted.operations',
};

/** End of a sentence about the state of the repository, for the descriptions of mutants. */
const WHILE: Readonly<Record<State, string>> = {
  thawing: 'while the repository thaws',
  syncing: 'during a sync',
  deleted: 'after the deletion of the repository',
};

/**
 * Reading operations, by the clause that checks them. Each row has the operation's id and a description for messages.
 * `url` is a JavaScript condition that selects one of several routes. Without it, all routes are meant.
 */
const READS: Readonly<Record<string, readonly [id: string, does: string, url?: string]>> = {
  'repository-metadata': ['getRepository', 'reads the record'],
  'one-commit': ['getCommit', 'reads a commit'],
  'read-file': ['readFile', 'reads a file'],
  archive: ['archive', 'makes an archive'],
  branches: ['listBranches', 'lists branches'],
  commits: ['listCommits', 'lists commits'],
  diff: ['diffCommits', 'makes a diff'],
  'git-refs': ['gitInfoRefs', 'lists refs for a fetch', "url.includes('upload-pack')"],
  'git-fetch': ['gitUploadPack', 'serves a fetch'],
  'git-push-refs': ['gitInfoRefs', 'lists refs for a push', "url.includes('receive-pack')"],
};
const LISTED: typeof READS = {
  search: ['grep', 'searches'],
  'file-metadata': ['fileMetadata', 'lists file metadata'],
};
const WRITES: typeof READS = {
  'commit-pack': ['commitPack', 'makes a commit'],
  restore: ['restoreCommit', 'restores a commit', "url.includes('restore-commit')"],
  reset: ['restoreCommit', 'resets a branch', "url.includes('reset-commits')"],
  notes: ['writeNote', 'writes a note'],
  'git-push': ['gitReceivePack', 'serves a push'],
};

/** Makes the server answer reads that the state of the repository refuses, if it has answered them before. */
function cachesReads(place: Place, refusal: number): Rewrite {
  const answers = new Map<string, Pick<ProxiedResponse, 'headers' | 'body'>>();
  return {
    response: (response) => {
      const { request, status, headers, body } = response;
      if (!isAt(place, request)) return;
      const key = `${tokenOf(request)?.claims.repo} ${request.path}`;
      if (status === 200) answers.set(key, { headers, body });
      const answer = answers.get(key);
      if (status !== refusal || answer === undefined) return;
      response.status = 200;
      response.body = answer.body;
      Object.assign(headers, answer.headers);
    },
  };
}

/** Operations of published clients. */
const COMPANION: Readonly<Record<string, string>> = {
  getBranch: 'reads a branch',
  createBranch: 'creates a branch',
  deleteBranch: 'deletes a branch',
  merge: 'merges',
  mergePreview: 'previews a merge',
  blame: 'blames',
  listFiles: 'lists files',
  createTag: 'creates a tag',
  deleteTag: 'deletes a tag',
  listTags: 'lists tags',
  readNote: 'reads a note',
  deleteNote: 'deletes a note',
  updateRepository: 'updates the record',
};
const COMPANION_WRITES = [
  'createBranch',
  'deleteBranch',
  'merge',
  'createTag',
  'deleteTag',
  'deleteNote',
  'updateRepository',
];

/**
 * Companion operations that serve a deleted repository if they ignore its state. Only published clients use companion
 * operations. The handlers of the excluded operations refuse a deleted repository themselves.
 */
const COMPANION_OF_DELETED = Object.keys(COMPANION).filter(
  (id) => !['deleteBranch', 'deleteTag', 'updateRepository'].includes(id),
);

const CHECK = 'repository.meetState({';

/** Makes one operation serve a repository in this state, although it must refuse. */
function ignores(state: State, id: string, url = 'true'): Patch {
  return {
    file: 'pipeline/gate.js',
    find: CHECK,
    replace: `const { url } = context.request;
      if (repository.state === '${state}' && operation.id === '${id}' && ${url}) return;
      ${CHECK}`,
  };
}

function ignoring(state: State, operations: typeof READS): readonly Mutant[] {
  return Object.entries(operations).map(([clause, [id, does, url]]) =>
    patched(
      `state-${state}-ignored-by-${clause}`,
      `${RULES[state]}#${clause}`,
      `${does} ${WHILE[state]}`,
      ignores(state, id, url),
    ),
  );
}

function ignoringByCompanion(state: State, ids: readonly string[]): readonly Mutant[] {
  return ids.map((id) =>
    patched(
      `state-${state}-ignored-by-${kebab(id)}`,
      `${RULES[state]}#companion`,
      `${COMPANION[id]} ${WHILE[state]}`,
      ignores(state, id),
    ),
  );
}

const kebab = (id: string): string => id.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Defines a mutant (wrong server) that refuses an operation in this state with the wrong error code `code`. */
function refusing(state: State, clause: string, id: string, code: string): Mutant {
  const find = "if (state === 'deleted') {";
  return patched(
    `state-${state}-is-${kebab(code.replaceAll('_', '-'))}-to-${kebab(id)}`,
    `${RULES[state]}#${clause}`,
    `refuses ${id} with ${code} ${WHILE[state]}`,
    {
      file: 'repositories/lifecycle.js',
      find,
      replace: `if (state === '${state}' && operation.id === '${id}') return '${code}';
        ${find}`,
    },
  );
}

/** Defines a mutant (wrong server) that refuses to create a branch in this state, but creates it nevertheless. */
function writingNevertheless(state: State): Mutant {
  return patched(
    `state-${state}-refuses-a-branch-and-creates-it`,
    `${RULES[state]}#no-effect`,
    `refuses to create a branch ${WHILE[state]}, and creates it`,
    [
      {
        file: 'pipeline/gate.js',
        find: CHECK,
        replace: `if (repository.state === '${state}' && operation.id === 'createBranch') {
            context.refuseLate = () => ${CHECK.slice(0, -2)}({ id: operation.id, effect: purpose.effect }, world.variants);
            return;
          }
          ${CHECK}`,
      },
      {
        file: 'pipeline/handle.js',
        find: 'const accept = (reply) => {',
        replace: 'const accept = (reply) => { context.refuseLate?.();',
      },
    ],
  );
}

/**
 * Defines a mutant (wrong server) on which a companion route serves a repository in this state, although it must
 * refuse. Companion routes appear only in published clients, not in the specification.
 */
function ignoringAt(state: State, what: string, id: string, condition: string): Mutant {
  return patched(
    `state-${state}-ignored-by-${what}`,
    `${RULES[state]}#companion`,
    `serves the route ${what} ${WHILE[state]}`,
    ignores(state, id, condition),
  );
}

/**
 * Defines a mutant (wrong server) that refuses to read the records of active repositories while another repository is
 * in this state.
 */
function refusingOthers(state: State): Mutant {
  return patched(
    `state-${state}-keeps-other-repositories-away`,
    `${RULES[state]}#no-other`,
    `refuses to read the record of any other repository ${WHILE[state]}`,
    {
      file: 'pipeline/gate.js',
      find: 'context.found = repository;',
      replace: `context.found = repository;
        const others = world.state.repositories.list(context.organizationName, 0);
        if (operation.id === 'getRepository' && repository.state === 'active' && [...others].some(({ state }) => state === '${state}'))
          throw repositoryNotFound();`,
    },
  );
}

/** Operations that refuse a thawing repository without the header `Retry-After` on a wrong server. */
const WITHOUT_RETRY_AFTER: Readonly<Record<string, Place>> = {
  'the-record': REPO,
  'a-commit': COMMIT,
  'a-file': FILE,
  'an-archive': ARCHIVE,
  'a-search': GREP,
  commits: COMMITS,
  'a-commit-pack': PACK,
  'a-note': NOTES,
  'an-update': /^PATCH /,
  'a-deletion': /^DELETE \/api\/repos\/[^/]+$/,
  'a-merge': /^POST .*\/merge$/,
  'a-new-branch': /^POST .*\/branches\/create$/,
  'a-new-tag': /^POST .*\/tags$/,
  'a-credential': / .*\/git-credentials/,
  'a-pull': /^POST .*\/pull-upstream$/,
};

export const rows: readonly Mutant[] = [
  ...ignoring('thawing', { ...READS, ...LISTED, ...WRITES }),
  ...ignoringByCompanion('thawing', Object.keys(COMPANION)),
  ...ignoring('syncing', { ...LISTED, ...WRITES }),
  ...ignoringByCompanion('syncing', COMPANION_WRITES),
  ...ignoring('deleted', { ...READS, search: ['grep', 'searches'], notes: ['writeNote', 'writes a note'] }),
  ...ignoringByCompanion('deleted', COMPANION_OF_DELETED),
  ...(['thawing', 'syncing', 'deleted'] as const).flatMap((state) => [
    ignoringAt(state, 'preferred-search', 'grep', "url.startsWith('/api/repos/')"),
    ignoringAt(state, 'preferred-note', 'writeNote', "url.startsWith('/api/repos/')"),
  ]),
  ignoringAt('thawing', 'head-of-a-file', 'readFile', "context.request.method === 'HEAD'"),
  ignoringAt('thawing', 'preferred-commit', 'getCommit', "url.startsWith('/api/repos/')"),
  ignoringAt('deleted', 'preferred-archive', 'archive', "url.startsWith('/api/repos/')"),
  refusingOthers('thawing'),
  refusingOthers('syncing'),
  writingNevertheless('thawing'),
  writingNevertheless('syncing'),
  refusing('thawing', 'one-commit', 'getCommit', 'sync_in_progress'),
  refusing('thawing', 'archive', 'archive', 'conflict'),
  refusing('thawing', 'search', 'grep', 'repository_not_found'),
  refusing('thawing', 'diff', 'diffCommits', 'internal_error'),
  refusing('thawing', 'branches', 'listBranches', 'repository_deleted'),
  refusing('thawing', 'notes', 'writeNote', 'payload_too_large'),
  refusing('thawing', 'git-fetch', 'gitUploadPack', 'internal_error'),
  refusing('thawing', 'companion', 'mergePreview', 'conflict'),
  refusing('syncing', 'commit-pack', 'commitPack', 'repository_thawing'),
  refusing('syncing', 'notes', 'writeNote', 'conflict'),
  refusing('syncing', 'search', 'grep', 'gateway_timeout'),
  refusing('syncing', 'file-metadata', 'fileMetadata', 'repository_not_found'),
  refusing('syncing', 'reads', 'getCommit', 'repository_thawing'),
  refusing('syncing', 'companion', 'merge', 'merge_conflict'),
  refusing('deleted', 'commit-pack', 'commitPack', 'branch_not_found'),
  refusing('deleted', 'read-file', 'readFile', 'ref_not_found'),
  refusing('deleted', 'repository-metadata', 'getRepository', 'forbidden'),
  refusing('deleted', 'branches', 'listBranches', 'sync_in_progress'),
  refusing('deleted', 'git-fetch', 'gitUploadPack', 'internal_error'),
  refusing('deleted', 'file-metadata', 'fileMetadata', 'service_unavailable'),
  refusing('deleted', 'git-push', 'gitReceivePack', 'internal_error'),
  proxied(
    'state-deleted-is-gone-to-restore-commit',
    'state.deleted.operations#restore',
    'answers restore-commit with 410 after the deletion of the repository',
    changesStatus(RESTORE, 404, 410),
  ),
  proxied(
    'state-thawing-is-answered-from-a-cache',
    'state.thawing.409#read-before',
    'lists commits while the repository thaws if it has listed them before',
    cachesReads(COMMITS, 409),
  ),
  proxied(
    'state-deleted-is-answered-from-a-cache',
    'state.deleted.operations#read-before',
    'lists the commits of a deleted repository if it has listed them before',
    cachesReads(COMMITS, 404),
  ),
  proxied(
    'state-deleted-is-gone-to-reset-commits',
    'state.deleted.operations#reset',
    'answers reset-commits with 410 after the deletion of the repository',
    changesStatus(RESET, 404, 410),
  ),
  refusing('deleted', 'companion', 'createTag', 'internal_error'),
  ...Object.entries(WITHOUT_RETRY_AFTER).map(([what, place]) =>
    proxied(
      `state-thawing-keeps-${what}-waiting`,
      'err.thawing.retry-after#every-operation',
      `does not say when to come back for ${what.replaceAll('-', ' ')}`,
      setsHeader(place, 'retry-after', undefined, 409),
      { beside: ['state.thawing.409'] },
    ),
  ),
];
