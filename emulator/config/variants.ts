/**
 * Variants (configurable behaviours) for cases in which the specification contradicts itself or is silent. The first
 * value of each variant is the emulator's default. The other values are behaviours that real deployments of the service
 * may have. `emulator variants` prints this table.
 */
const VARIANTS = {
  invalidToken: {
    values: ['403', 'endpoint-table', '401'],
    about:
      'Status of an invalid or expired token. The Authentication table says 403, seven endpoint tables say 401; both say 403 for a search.',
  },
  missingScope: {
    values: ['403', 'endpoint-table'],
    about: 'Status of a missing scope. The tables of commit, commit-pack, notes and file say 401.',
  },
  missingRepoClaim: {
    values: ['400', '403'],
    about: 'Response to a token without `repo` on a repository: 400 repo_claim_missing, or 403 forbidden.',
  },
  orgTokenOnRepository: {
    values: ['repo_claim_missing', 'insufficient_scope'],
    about:
      'Error for a request to a repository whose token has only org:read and no `repo`: the missing claim, or the missing scope.',
  },
  repositoryScope: {
    values: ['git:read', 'unauthorized', 'any'],
    about:
      'Scope that showing the repository record requires, which is not specified: git:read (otherwise 403 or 401), or any scope.',
  },
  emptyBearer: {
    values: ['401', '403'],
    about: 'Status of an Authorization header that has a scheme and no token.',
  },
  tokenType: {
    values: ['required', 'optional', 'ignored'],
    about: 'Check that `typ` in the header of a token is JWT: always, only if present, or never.',
  },
  expNotAfterIat: {
    values: ['rejected', 'accepted'],
    about: 'Response to a token whose `exp` is not after its `iat`, if its key allows all scopes.',
  },
  missingExp: {
    values: ['accepted', 'rejected'],
    about: 'Response to a token without `exp`, if its key allows all scopes.',
  },
  unknownRoute: {
    values: ['404', '401'],
    about: 'Status of a request without any credential to a route that does not exist.',
  },
  wrongMethod: {
    values: ['405', '404'],
    about: 'Status of a request whose route does not allow its method. The table of file metadata says 405.',
  },
  headFileMetadata: {
    values: ['405', '200'],
    about: 'Status of HEAD on file metadata. The table says 405 for every method but GET.',
  },
  headFileRange: {
    values: ['200', '206'],
    about:
      'Status of HEAD on a file with a Range header: 200 as in RFC 9110, which defines ranges only for GET, or 206 (416 outside the file) as published clients expect.',
  },
  gitInvalidToken: {
    values: ['403', '401', '404'],
    about: 'Status of an invalid or expired token on a Git remote.',
  },
  gitMissingScope: {
    values: ['403', '401', '404'],
    about: 'Status of a missing scope on a Git remote.',
  },
  gitMissingRepository: {
    values: ['404', '403', '401'],
    about: 'Status of a Git remote whose repository does not exist.',
  },
  gitOtherRepository: {
    values: ['404', '403', '401'],
    about: 'Status of a Git remote that the token does not cover.',
  },
  thawing: {
    values: ['endpoint-table', '409', '503'],
    about:
      'HTTP status of requests that are refused while the repository is restored from cold storage: always 409, always 503, or (endpoint-table) 503 for file metadata and 409 for others.',
  },
  syncing: {
    values: ['endpoint-table', '409', '503'],
    about:
      'HTTP status of requests that are refused while the repository is synchronized with its upstream: always 409, always 503, or (endpoint-table) 503 for search and file metadata and 409 for others.',
  },
  problemMediaType: {
    values: ['plain', 'profile'],
    about: 'Media type of problem details: without parameters, or with profile="application/json".',
  },
  fileMetadataErrors: {
    values: ['error-only', 'problem'],
    about: 'Error bodies of file metadata: {"error"} alone, or problem details.',
  },
  writeFailureBody: {
    values: ['restore-only', 'all', 'problem'],
    about: 'Operations that return the write result if they fail: restore, or also commit-pack and notes, or none.',
  },
  restoreNoop: {
    values: ['409', '412', '201', '200'],
    about: 'Status of a restore that has nothing to change.',
  },
  restoreNoopFields: {
    values: ['empty', 'null', 'absent'],
    about:
      'Values of branch, old_sha and new_sha after a restore that has nothing to change, which the specification calls empty.',
  },
  archiveMissingRef: {
    values: ['404', '400'],
    about: 'Status of an archive request whose ref does not exist.',
  },
  missingEphemeralRef: {
    values: ['endpoint-table', '404', '400'],
    about:
      'Status of a ref that does not exist among the ephemeral branches. The table of file metadata says 400, that of reading a file 404.',
  },
  missingRef: {
    values: ['ref_not_found', 'not_found', 'branch_not_found'],
    about: 'Error code for a branch, tag or commit that does not exist.',
  },
  missingCommit: {
    values: ['ref_not_found', 'not_found'],
    about: 'Error code for a revision that is not a commit.',
  },
  missingFile: {
    values: ['not_found', 'ref_not_found'],
    about: 'Error code for a file that does not exist.',
  },
  missingBaseBranch: {
    values: ['branch_not_found', 'ref_not_found', 'not_found'],
    about: 'Error code for a base branch that does not exist.',
  },
  missingTargetBranch: {
    values: ['branch_not_found', 'bad_request', 'conflict'],
    about: 'Error code for a commit to a branch that does not exist, if the request names no base branch.',
  },
  tagRefs: {
    values: ['accepted', 'rejected', 'metadata-only', 'file-only'],
    about: 'Whether file metadata and reading a file accept a tag as `ref`; their tables list branches and commits.',
  },
  metadataRef: {
    values: ['short', 'full', 'sha'],
    about: 'Form of the resolved ref in file metadata: short name, full name, or commit.',
  },
  resultBranch: {
    values: ['short', 'full'],
    about: 'Form of the branch name in the result of a write.',
  },
  linesAboveMaximum: {
    values: ['clamped', 'rejected'],
    about: 'Response to a search whose limits.max_lines is above the maximum: the value is reduced, or 400.',
  },
  createStatus: {
    values: ['201', '200', '202', '204'],
    about: 'Success status of creating a repository; 204 has no body.',
  },
  duplicateRepository: {
    values: ['409', '201', '200'],
    about: 'Response to creating a repository that exists: a conflict, or its record.',
  },
  deleteContentId: {
    values: ['required', 'optional'],
    about: 'Whether a file operation that deletes requires a content_id, although it has no chunk.',
  },
  diffBase: {
    values: ['base', 'merge-base'],
    about: 'Old side of a commit diff with `base`: the base itself, or the merge base.',
  },
  customNotesRefs: {
    values: ['on', 'off'],
    about: 'Whether notes refs other than refs/notes/commits are allowed. If not, a request with one gets 400.',
  },
  afterImport: {
    values: ['active', 'archived'],
    about:
      'State of a repository after a push to its +import remote: ready, or in cold storage until the next request.',
  },
  notesStatus: {
    values: ['201', '200'],
    about: 'Success status of adding or appending a note.',
  },
  oversizedChunk: {
    values: ['400', '413'],
    about: 'Status of a request with a blob chunk larger than 4 MiB.',
  },
  secondDelete: {
    values: ['409', '404'],
    about: 'Status of deleting a repository that is already deleted.',
  },
  deletedRepository: {
    values: ['404', '409'],
    about: 'Response of a deleted repository to operations other than a second delete.',
  },
  metadataPagination: {
    values: ['never', 'on-request'],
    about: 'Whether file metadata is paginated if `limit` or `cursor` is sent.',
  },
  contentType: {
    values: ['lenient', 'strict'],
    about: 'Whether a request body with a Content-Type other than the documented one is refused with 415.',
  },
  syncBlocks: {
    values: ['writes', 'all'],
    about: 'Operations refused during an upstream sync: writes, grep and file metadata; or all.',
  },
} as const satisfies Record<string, { values: readonly [string, ...string[]]; about: string }>;

export type VariantName = keyof typeof VARIANTS;
/** Names of the variants (configurable behaviours) that select the error code of a refusal. */
export type CodeVariant = 'missingRef' | 'missingCommit' | 'missingFile' | 'missingBaseBranch' | 'missingTargetBranch';
export type Variants = { readonly [Name in VariantName]: (typeof VARIANTS)[Name]['values'][number] };

export const DEFAULT_VARIANTS = Object.fromEntries(
  Object.entries(VARIANTS).map(([name, row]) => [name, row.values[0]]),
) as Variants;

export function variantRows(): { name: VariantName; values: readonly string[]; about: string }[] {
  return Object.entries(VARIANTS).map(([name, row]) => ({ name: name as VariantName, ...row }));
}

/**
 * Parses a JSON object such as `{"restoreNoop": "201"}`. Returns the values of all variants (configurable behaviours),
 * with defaults for absent ones. Throws an `Error` with a full sentence as its message.
 */
export function parseVariants(value: unknown): Variants {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('Variants must be a JSON object of names and values, such as {"createStatus": "204"}.');
  }
  for (const [name, chosen] of Object.entries(value)) {
    if (!Object.hasOwn(VARIANTS, name))
      throw new Error(`Unknown variant ${JSON.stringify(name)}. \`emulator variants\` lists all variants.`);
    const values: readonly string[] = VARIANTS[name as VariantName].values;
    if (!values.includes(chosen as string)) {
      const shown = typeof chosen === 'string' ? JSON.stringify(chosen) : `a value of type ${typeof chosen}`;
      throw new Error(`The variant ${name} must be one of ${values.join(', ')}, not ${shown}.`);
    }
  }
  return { ...DEFAULT_VARIANTS, ...value };
}
