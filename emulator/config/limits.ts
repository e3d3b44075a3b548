const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

/** Maximum total size of a request's headers, in bytes. It equals Node's default. */
export const MAX_HEADER_BYTES = 16 * 1024;

/** All limits of the emulator by name: default, unit and description. Each limit is also a flag of `emulator start`. */
export const LIMITS = {
  maxJsonBytes: [1 * MiB, 'bytes', 'maximum size of a JSON request body'],
  maxLineBytes: [
    6 * MiB,
    'bytes',
    'maximum length of a line of a streamed request body (NDJSON); a chunk of 4 MiB takes 5,592,462 bytes in base64',
  ],
  maxMetadataBytes: [
    16 * MiB,
    'bytes',
    'maximum length of the first line of a streamed request body, which has the metadata',
  ],
  maxFiles: [100_000, 'files', 'maximum number of file operations in one commit'],
  maxCommitBytes: [1 * GiB, 'bytes', 'maximum size of all file contents of one commit through the HTTP API'],
  maxPushBytes: [1 * GiB, 'bytes', 'maximum size of a pushed pack, and of a Git request after decompression'],
  maxObjectBytes: [256 * MiB, 'bytes', 'maximum size of a Git object after decompression'],
  maxStructureBytes: [64 * MiB, 'bytes', 'maximum size of a commit, tree or tag after decompression'],
  maxInflatedBytes: [4 * GiB, 'bytes', 'maximum size of all objects of one push after decompression'],
  maxObjects: [5_000_000, 'objects', 'maximum number of Git objects in one push'],
  maxLfsObjectBytes: [1 * GiB, 'bytes', 'maximum size of a Git LFS object'],
  maxLfsBatch: [1_000, 'objects', 'maximum number of objects in one Git LFS batch'],
  maxLfsLocks: [10_000, 'locks', 'maximum number of Git LFS locks of a repository'],
  maxHeldBytes: [
    2 * GiB,
    'bytes',
    'maximum memory for stored content in the whole process; when it is used up, writes get status 503',
  ],
  cacheBytes: [192 * MiB, 'bytes', 'maximum memory for all caches of the process'],
  maxSockets: [512, 'sockets', 'maximum number of open connections per port'],
  maxHeaders: [100, 'headers', 'maximum number of header fields of a request'],
  headersTimeout: [10_000, 'ms', 'timeout for receiving the request headers'],
  keepAliveTimeout: [60_000, 'ms', 'time after which an idle connection is closed; longer than the timeout of clients'],
  idleTimeout: [30_000, 'ms', 'maximum time without any data while a request body arrives'],
  drainTimeout: [10_000, 'ms', 'maximum time to finish the requests in progress after SIGTERM'],
  drainIdleTimeout: [
    1_000,
    'ms',
    'maximum time without any data from a client, in a request that is in progress after SIGTERM',
  ],
  searchTimeout: [
    2_000,
    'ms',
    'maximum CPU time of a search or diff on a typical machine, after which it gets status 504; waiting does not count',
  ],
  workTimeout: [
    60_000,
    'ms',
    'maximum CPU time of applying a patch, after which it gets status 504, and of creating an archive',
  ],
  maxMetadataCommits: [100_000, 'commits', 'maximum number of distinct last commits in a file metadata response'],
  maxNamespaces: [10_000, 'namespaces', 'maximum number of namespaces (isolated copies of the service)'],
  maxJournal: [10_000, 'entries', 'maximum number of requests in the journal; the oldest requests are dropped'],
  maxJournalBytes: [
    64 * MiB,
    'bytes',
    'maximum memory for headers and bodies in the journal; the oldest requests are dropped',
  ],
} as const satisfies Record<string, readonly [number, string, string]>;

/**
 * Names of the limits that tests can change while the service runs. Each request reads their current values. Other
 * limits are read only at the start.
 */
export const RUNNING_LIMITS = [
  'maxJsonBytes',
  'maxLineBytes',
  'maxMetadataBytes',
  'maxFiles',
  'maxCommitBytes',
  'maxLfsObjectBytes',
  'maxLfsBatch',
  'maxLfsLocks',
  'maxMetadataCommits',
  'idleTimeout',
  'searchTimeout',
  'workTimeout',
] as const satisfies readonly LimitName[];

export type LimitName = keyof typeof LIMITS;
export type Limits = { readonly [Name in LimitName]: number };

export const DEFAULT_LIMITS = Object.fromEntries(
  Object.entries(LIMITS).map(([name, [value]]) => [name, value]),
) as Limits;

/**
 * Returns the maximum size, in bytes, of the body of a streamed commit. It is higher than the limit of the content,
 * because base64 needs four bytes for three, and each chunk is wrapped in a line of JSON.
 */
export function maxStreamedBytes({ maxCommitBytes }: Pick<Limits, 'maxCommitBytes'>): number {
  return maxCommitBytes * 1.5 + 64 * MiB;
}
