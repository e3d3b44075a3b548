/** Facts about an operation of the API that modules need which must not import the operation itself (from `api/`). */
interface OperationFacts {
  /** True if the operation returns a list in pages, which clients request with cursors. */
  readonly pages?: true;
  /** Default page size that the specification states for the operation. If absent, the page size is 20. */
  readonly statedPage?: number;
  /**
   * Refusals for which the specification's table of the operation lists status 401, in contradiction to its section
   * Authentication.
   */
  readonly unauthorized?: readonly ('invalidToken' | 'missingScope')[];
  /**
   * Names of the body members that contain the expected tip of a write: the name in the specification and its aliases.
   */
  readonly expects?: readonly string[];
}

const HEAD = ['expected_head_sha', 'expected_target_sha'];
const NOTES = ['expected_ref_sha', 'expected_notes_ref_sha'];

/**
 * Ids of all API operations, with facts about each. The ids must never change, because faults (simulated failures),
 * cursors and the journal (list of all requests) contain them. Each operation is implemented in `api/` or `lfs/`.
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

/** Returns the facts about an operation. They are empty if the id is undefined or unknown. */
export function operationFacts(id: string | undefined): OperationFacts {
  return id !== undefined && Object.hasOwn(OPERATIONS, id) ? OPERATIONS[id as OperationId] : {};
}
