/**
 * The specification contradicts itself, or is silent, in places where a deployment has to choose.
 * Each such place is one switch: its default is what the emulator shows, its other values are what
 * a live deployment may show. `emulator variants` prints this table.
 */
const VARIANTS = {
  invalidToken: {
    values: ['403', 'endpoint-table', '401'],
    about: 'Status of an invalid or expired token. The Authentication table says 403, seven endpoint tables say 401.',
  },
  missingScope: {
    values: ['403', 'endpoint-table'],
    about: 'Status of a missing scope. Commit, commit-pack, notes and file list 401 in their own tables.',
  },
  missingRepoClaim: {
    values: ['400', '403'],
    about: 'A repository token without `repo`: 400 repo_claim_missing, or 403 forbidden.',
  },
  thawing: {
    values: ['endpoint-table', '409', '503'],
    about: 'Status of a repository that is being restored: 409, and 503 where the table of the endpoint says so.',
  },
  syncing: {
    values: ['endpoint-table', '409', '503'],
    about: 'Status of what a running upstream sync refuses: 409, and 503 where the table of the endpoint says so.',
  },
  problemMediaType: {
    values: ['plain', 'profile'],
    about: 'Media type of problem details: bare, or with the parameter profile="application/json".',
  },
  fileMetadataErrors: {
    values: ['error-only', 'problem'],
    about: 'Error bodies of file metadata: {"error"} alone, or problem details.',
  },
  writeFailureBody: {
    values: ['restore-only', 'all', 'problem'],
    about: 'Which failed writes answer with the write result: restore, all of restore, commit-pack and notes, or none.',
  },
  restoreNoop: {
    values: ['409', '412', '201', '200'],
    about: 'Status of a restore that has nothing to change.',
  },
  archiveMissingRef: {
    values: ['404', '400'],
    about: 'Status of an archive whose ref does not resolve.',
  },
  missingEphemeralRef: {
    values: ['endpoint-table', '404', '400'],
    about: 'Status of a ref that is not in the ephemeral namespace: file metadata lists 400, reading a file 404.',
  },
  deleteContentId: {
    values: ['required', 'optional'],
    about: 'Whether a file operation that deletes needs a content_id, to which no chunk belongs.',
  },
  diffBase: {
    values: ['base', 'merge-base'],
    about: 'What a commit diff with a base compares with: the base, or where the two histories part.',
  },
  customNotesRefs: {
    values: ['on', 'off'],
    about: 'Whether notes can be kept on other refs than refs/notes/commits; if not, naming one is 400.',
  },
  afterImport: {
    values: ['active', 'archived'],
    about:
      'Where a push to an +import remote leaves the repository: at hand, or in cold storage until it is asked for.',
  },
  notesStatus: {
    values: ['201', '200'],
    about: 'Success status of adding or appending a note.',
  },
  oversizedChunk: {
    values: ['400', '413'],
    about: 'Status of a blob chunk above 4 MiB.',
  },
  deletedRepository: {
    values: ['404', '409'],
    about: 'What operations other than a second delete answer on a deleted repository.',
  },
  metadataPagination: {
    values: ['never', 'on-request'],
    about: 'Whether file metadata answers in pages when `limit` or `cursor` is sent.',
  },
  contentType: {
    values: ['lenient', 'strict'],
    about: 'Whether a request body of another Content-Type than documented is refused with 415.',
  },
  syncBlocks: {
    values: ['writes', 'all'],
    about: 'What a running upstream sync refuses: writes, grep and file metadata, or every operation.',
  },
} as const satisfies Record<string, { values: readonly [string, ...string[]]; about: string }>;

export type VariantName = keyof typeof VARIANTS;
export type Variants = { readonly [Name in VariantName]: (typeof VARIANTS)[Name]['values'][number] };

export const DEFAULT_VARIANTS = Object.fromEntries(
  Object.entries(VARIANTS).map(([name, row]) => [name, row.values[0]]),
) as Variants;

export function variantRows(): { name: VariantName; values: readonly string[]; about: string }[] {
  return Object.entries(VARIANTS).map(([name, row]) => ({ name: name as VariantName, ...row }));
}

/** Variants from a parsed JSON object such as `{"restoreNoop": "201"}`. Throws with a sentence. */
export function parseVariants(value: unknown): Variants {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('Variants have to be a JSON object of names and values.');
  }
  for (const [name, chosen] of Object.entries(value)) {
    if (!Object.hasOwn(VARIANTS, name)) throw new Error(`There is no variant ${JSON.stringify(name)}.`);
    const values: readonly string[] = VARIANTS[name as VariantName].values;
    if (!values.includes(chosen as string)) {
      throw new Error(`Variant ${name} is one of ${values.join(', ')}, not ${JSON.stringify(chosen)}.`);
    }
  }
  return { ...DEFAULT_VARIANTS, ...value };
}
