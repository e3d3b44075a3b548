const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

/** Maximum size of all headers of a request in bytes. It is the default of Node. */
export const MAX_HEADER_BYTES = 16 * 1024;

/** All limits of the emulator by name: default, unit and description. Each limit is also a flag of `emulator start`. */
export const LIMITS = {
  maxJsonBytes: [1 * MiB, 'bytes', 'maximum size of a JSON request body'],
  maxLineBytes: [6 * MiB, 'bytes', 'maximum length of an NDJSON line; a full chunk of 4 MiB takes 5,592,462 bytes'],
  maxMetadataBytes: [16 * MiB, 'bytes', 'maximum length of the metadata line of a streamed write'],
  maxFiles: [100_000, 'files', 'maximum number of file operations in one commit'],
  maxCommitBytes: [1 * GiB, 'bytes', 'maximum decoded content of one streamed commit'],
  maxPushBytes: [1 * GiB, 'bytes', 'maximum size of a pushed pack, and of an inflated Git request'],
  maxObjectBytes: [256 * MiB, 'bytes', 'maximum size of an inflated object'],
  maxStructureBytes: [64 * MiB, 'bytes', 'maximum size of an inflated commit, tree or tag, which are read as a whole'],
  maxInflatedBytes: [4 * GiB, 'bytes', 'maximum inflated content of one push'],
  maxObjects: [5_000_000, 'objects', 'maximum number of objects in one push'],
  maxLfsObjectBytes: [1 * GiB, 'bytes', 'maximum size of a Git LFS object'],
  maxLfsBatch: [1_000, 'objects', 'maximum number of objects in one Git LFS batch'],
  maxLfsLocks: [10_000, 'locks', 'maximum number of Git LFS locks of a repository'],
  maxHeldBytes: [2 * GiB, 'bytes', 'maximum stored content of the whole process; beyond it, writes are 503'],
  cacheBytes: [192 * MiB, 'bytes', 'maximum size of all caches of the process'],
  maxSockets: [512, 'sockets', 'maximum number of open connections per port'],
  maxHeaders: [100, 'headers', 'maximum number of header fields of a request'],
  headersTimeout: [10_000, 'ms', 'timeout for receiving the request headers'],
  keepAliveTimeout: [60_000, 'ms', 'time after which an idle connection is closed; longer than the timeout of clients'],
  idleTimeout: [30_000, 'ms', 'maximum pause while a request body arrives'],
  drainTimeout: [10_000, 'ms', 'time that running requests get after SIGTERM'],
  drainIdleTimeout: [1_000, 'ms', 'maximum pause of a client in a request that is running after SIGTERM'],
  searchTimeout: [
    2_000,
    'ms',
    'maximum CPU time of a search or diff, on a typical machine, before it is 504; waiting does not count',
  ],
  workTimeout: [60_000, 'ms', 'maximum CPU time of applying a patch before it is 504, and of packing an archive'],
  maxMetadataCommits: [100_000, 'commits', 'maximum number of distinct commits that file metadata shows'],
  maxNamespaces: [10_000, 'namespaces', 'maximum number of namespaces'],
  maxJournal: [10_000, 'entries', 'maximum number of requests in the journal'],
  maxJournalBytes: [
    64 * MiB,
    'bytes',
    'maximum size of headers and bodies in the journal; the oldest requests are dropped',
  ],
} as const satisfies Record<string, readonly [number, string, string]>;

/**
 * Names of the limits that tests can change while the service runs. Each request reads these limits again. The others
 * are read only at the start.
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
