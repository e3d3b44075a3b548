/** What code below `api/` has to know of an operation. */
interface OperationFacts {
  /** True if it answers in pages, which go on behind a cursor. */
  readonly pages?: true;
  /** Items that the specification states for a page of a request that asks for no number. Default: 20. */
  readonly statedPage?: number;
  /** Refusals for which its own table lists 401, against the table of the section Authentication. */
  readonly unauthorized?: readonly ('invalidToken' | 'missingScope')[];
  /** Members that say what a write expects to find: the specification's name, and others it has. */
  readonly expects?: readonly string[];
}

const HEAD = ['expected_head_sha', 'expected_target_sha'];
const NOTES = ['expected_ref_sha', 'expected_notes_ref_sha'];

/**
 * The names of the operations. They are permanent: faults, states, cursors and the journal name operations by them.
 * Each has one row in `api/` or `lfs/`.
 */
const OPERATIONS = {
  listRepositories: { pages: true },
  createRepository: {},
  getRepository: { unauthorized: ['invalidToken'] },
  updateRepository: {},
  deleteRepository: {},
  createCredential: {},
  updateCredential: {},
  updateCredentialByBody: {},
  deleteCredential: {},
  deleteCredentialByBody: {},
  pullUpstream: {},
  detachBase: {},
  getOrganization: {},
  listBranches: { pages: true },
  getBranch: {},
  createBranch: {},
  deleteBranch: {},
  diffBranch: {},
  merge: { expects: ['expected_target_sha'] },
  mergePreview: {},
  listCommits: { pages: true },
  getCommit: { unauthorized: ['invalidToken', 'missingScope'] },
  diffCommits: {},
  commitPack: { unauthorized: ['invalidToken', 'missingScope'], expects: HEAD },
  diffCommit: { expects: HEAD },
  restoreCommit: { unauthorized: ['invalidToken'], expects: HEAD },
  listFiles: { pages: true, statedPage: 1000 },
  fileMetadata: { pages: true, statedPage: 200, unauthorized: ['invalidToken'] },
  readFile: { unauthorized: ['invalidToken', 'missingScope'] },
  blame: { pages: true },
  grep: { pages: true },
  archive: {},
  listTags: { pages: true },
  getTag: {},
  createTag: {},
  deleteTag: {},
  deleteTagByBody: {},
  readNote: {},
  writeNote: { unauthorized: ['invalidToken', 'missingScope'], expects: NOTES },
  deleteNote: { expects: NOTES },
  listNotesRefs: {},
  createDeployment: {},
  listDeployments: { pages: true },
  getDeployment: {},
  createWebhook: {},
  listWebhooks: {},
  deleteWebhook: {},
  gitInfoRefs: {},
  gitUploadPack: {},
  gitReceivePack: {},
  lfsBatch: {},
  lfsDownloadObject: {},
  lfsUploadObject: {},
  lfsVerifyObject: {},
  lfsListLocks: { pages: true },
  lfsCreateLock: {},
  lfsVerifyLocks: { pages: true },
  lfsUnlock: {},
} as const satisfies Readonly<Record<string, OperationFacts>>;

export type OperationId = keyof typeof OPERATIONS;

export const OPERATION_IDS = Object.keys(OPERATIONS) as OperationId[];

/** Returns the facts of an operation; of none, no facts. */
export function operationFacts(id: string | undefined): OperationFacts {
  return id !== undefined && Object.hasOwn(OPERATIONS, id) ? OPERATIONS[id as OperationId] : {};
}
