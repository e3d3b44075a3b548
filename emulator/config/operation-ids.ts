/** Facts about an API operation for modules that must not import the operation itself (from `api/`). */
interface OperationFacts {
  /** True if the operation returns a list in pages with cursors. */
  readonly pages?: true;
  /** Default page size that the specification states for this operation. If absent, it is 20. */
  readonly statedPage?: number;
  /**
   * Refusals that have status 401 in the specification's table of this operation. The section Authentication of the
   * specification states another status.
   */
  readonly unauthorized?: readonly ('invalidToken' | 'missingScope')[];
  /**
   * Names of the body member that contains the expected tip of a write. The first is the name in the specification; the
   * others are aliases.
   */
  readonly expects?: readonly string[];
}

const HEAD = ['expected_head_sha', 'expected_target_sha'];
const NOTES = ['expected_ref_sha', 'expected_notes_ref_sha'];

/**
 * Ids of all API operations, with facts about each operation. The ids must never change, because faults (simulated
 * failures), cursors and the journal (list of all requests) contain them. The operations are implemented in `api/` and
 * `lfs/`.
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

/** Returns the facts about an operation. Returns an empty object if the id is undefined or unknown. */
export function operationFacts(id: string | undefined): OperationFacts {
  return id !== undefined && Object.hasOwn(OPERATIONS, id) ? OPERATIONS[id as OperationId] : {};
}
