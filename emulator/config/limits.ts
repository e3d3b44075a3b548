const MiB = 1024 * 1024;
const GiB = 1024 * MiB;

/** All limits: default, unit, description. Each is also a flag of `emulator start`. */
export const LIMITS = {
  maxJsonBytes: [1 * MiB, 'bytes', 'largest JSON request body'],
  maxLineBytes: [6 * MiB, 'bytes', 'longest NDJSON line; a full 4 MiB chunk takes 5,592,462'],
  maxMetadataBytes: [16 * MiB, 'bytes', 'longest metadata line of a streamed write'],
  maxFiles: [100_000, 'files', 'most file operations in one commit'],
  maxCommitBytes: [1 * GiB, 'bytes', 'decoded content of one streamed commit'],
  maxPushBytes: [1 * GiB, 'bytes', 'largest pushed pack, and largest inflated Git request'],
  maxObjectBytes: [256 * MiB, 'bytes', 'largest inflated object'],
  maxStructureBytes: [64 * MiB, 'bytes', 'largest inflated commit, tree or tag: these are read whole'],
  maxInflatedBytes: [4 * GiB, 'bytes', 'inflated content of one push'],
  maxObjects: [5_000_000, 'objects', 'most objects in one push'],
  maxLfsObjectBytes: [1 * GiB, 'bytes', 'largest Git LFS object'],
  maxLfsBatch: [1_000, 'objects', 'most objects in one Git LFS batch'],
  maxLfsLocks: [10_000, 'locks', 'most Git LFS locks of a repository'],
  maxHeldBytes: [2 * GiB, 'bytes', 'stored content of the whole process; past it writes answer 503'],
  cacheBytes: [192 * MiB, 'bytes', 'all that is kept only to be fast, in the whole process'],
  maxSockets: [512, 'sockets', 'open connections per port'],
  maxHeaders: [100, 'headers', 'most header fields of a request'],
  headersTimeout: [10_000, 'ms', 'time to receive the request headers'],
  keepAliveTimeout: [60_000, 'ms', 'time an idle connection is kept; above what clients keep theirs'],
  idleTimeout: [30_000, 'ms', 'longest pause while a request body arrives'],
  drainTimeout: [10_000, 'ms', 'time running requests get after SIGTERM'],
  drainIdleTimeout: [1_000, 'ms', 'longest pause of a client in a request that runs after SIGTERM'],
  searchTimeout: [
    2_000,
    'ms',
    'work of a search or diff before it answers 504, counted as an ordinary machine needs for it; waiting is none',
  ],
  workTimeout: [
    60_000,
    'ms',
    'work to apply a patch before it answers 504, and to pack an archive before it is given up',
  ],
  maxMetadataCommits: [100_000, 'commits', 'distinct last-touching commits file metadata expands'],
  maxNamespaces: [10_000, 'namespaces', 'most namespaces at a time'],
  maxJournal: [10_000, 'entries', 'requests the journal keeps'],
  maxJournalBytes: [64 * MiB, 'bytes', 'heads and bodies the journal keeps; past it the oldest requests go'],
} as const satisfies Record<string, readonly [number, string, string]>;

/** Limits that can be changed while the service runs, because every request reads them. */
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
