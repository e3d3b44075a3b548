/** One folder of a program: the modules in it and in its subfolders. */
export interface Folder {
  /** Path below the program's folder, e.g. `git/pack`. */
  readonly path: string;
  /** Describes the content, for the map in CONTRIBUTING.md. */
  readonly content: string;
  /**
   * Folders it may import besides itself, as paths below the program's folder. `undefined` if unrestricted.
   * A folder imports only folders that stand above it in the table, so imports have no cycles.
   */
  readonly imports?: readonly string[];
  /** True if it has subfolders that belong to it, e.g. `journal/client-rules`. */
  readonly isNested?: true;
}

export interface Program {
  readonly name: 'emulator' | 'conformance';
  /** The other program, which no file may import, and why. */
  readonly never: { readonly group: string; readonly reason: string };
  readonly folders: readonly Folder[];
}

const EMULATOR: Program = {
  name: 'emulator',
  never: { group: '**/conformance/**', reason: 'The emulator never imports the suite that checks it.' },
  folders: [
    { path: 'time', content: 'the clock, expiry, ISO 8601', imports: [] },
    { path: 'ids', content: 'ids and counters', imports: [] },
    { path: 'log', content: 'structured log lines', imports: [] },
    { path: 'system', content: 'files and processes of this machine', imports: [] },
    { path: 'schedule', content: 'time slices of the event loop', imports: [] },
    { path: 'memory', content: 'lazy values, the memory limit, the LRU cache of the process', imports: ['schedule'] },
    {
      path: 'config',
      content: 'tables of the options of `start`, limits, variants and operation ids',
      imports: ['system', 'time'],
    },
    {
      path: 'http',
      content: 'HTTP without the product: problem details, routing, bodies, cursors, preconditions, writing a response',
      imports: ['config'],
    },
    {
      path: 'auth',
      content: 'credentials, keys, claims, policies. Only `verify.ts` and `mint.ts` import jose',
      imports: ['http', 'memory', 'system'],
    },
    {
      path: 'faults',
      content: 'injected faults: grammar, matching, reach (`known-facts.ts`, `reach.ts`), counters, latches',
      imports: ['http', 'memory', 'time'],
    },
    { path: 'git/limits', content: 'limits of one request to the engine', imports: [] },
    { path: 'git/object', content: 'object formats, ids, paths, trees', imports: ['memory', 'schedule'] },
    { path: 'git/notes', content: 'notes trees', imports: ['git/object', 'schedule'] },
    {
      path: 'git/pack',
      content: 'the pack format: entries, deltas, zlib',
      imports: ['git/object', 'memory', 'schedule'],
    },
    {
      path: 'git/pathspec',
      content: 'globs and path lists, and the files they select',
      imports: ['git/limits', 'git/object', 'schedule'],
    },
    {
      path: 'git/archive',
      content: 'tar.gz archives',
      imports: ['git/limits', 'git/object', 'git/pathspec', 'schedule'],
    },
    {
      path: 'git/diff',
      content: 'tree and file comparison, rename detection, patches',
      imports: ['git/limits', 'git/object', 'git/pack', 'memory', 'schedule'],
    },
    {
      path: 'git/grep',
      content: 'content search: expressions, automata, line index',
      imports: ['git/limits', 'git/object', 'git/pathspec', 'memory', 'schedule'],
    },
    {
      path: 'git/odb',
      content: 'the object database: index tables, packs, quarantine, forks',
      imports: ['git/limits', 'git/object', 'git/pack', 'memory', 'schedule'],
    },
    {
      path: 'git/apply',
      content: 'applying patches',
      imports: ['git/diff', 'git/limits', 'git/object', 'git/pack', 'schedule'],
    },
    {
      path: 'git/index-pack',
      content: 'reading and checking a received pack',
      imports: ['git/limits', 'git/object', 'git/odb', 'git/pack', 'memory', 'schedule'],
    },
    {
      path: 'git/pack-objects',
      content: 'writing a pack for a fetch',
      imports: ['git/object', 'git/odb', 'git/pack', 'memory', 'schedule'],
    },
    {
      path: 'git/refs',
      content: 'refs and the ref transaction',
      imports: ['git/limits', 'git/object', 'git/odb', 'schedule'],
    },
    {
      path: 'git/fsck',
      content: 'format checks of received objects',
      imports: ['git/limits', 'git/object', 'git/refs', 'schedule'],
    },
    {
      path: 'git/revwalk',
      content: 'walks over commits and their trees, reachability, merge bases',
      imports: ['git/object', 'git/pack-objects', 'memory', 'schedule'],
    },
    {
      path: 'git/blame',
      content: 'the commit that last changed each line',
      imports: ['git/diff', 'git/grep', 'git/object', 'git/revwalk', 'memory', 'schedule'],
    },
    {
      path: 'git/merge',
      content: 'three-way merge of trees and files',
      imports: ['git/diff', 'git/limits', 'git/object', 'git/revwalk', 'schedule'],
    },
    {
      path: 'git/repository',
      content: 'one repository: object database, refs, turns of writers',
      imports: ['git/object', 'git/odb', 'git/refs', 'git/revwalk', 'schedule'],
    },
    {
      path: 'git/revision',
      content: 'resolving revisions such as `main~2`',
      imports: ['git/limits', 'git/object', 'git/refs', 'git/revwalk', 'schedule'],
    },
    {
      path: 'repositories',
      content: 'repository records, allowed states by operation (`lifecycle.ts`), commits onto branches',
      imports: ['config', 'git', 'http', 'memory', 'schedule', 'time'],
    },
    {
      path: 'smart-http',
      content: 'fetch and push over HTTP, protocol versions 0, 1 and 2',
      imports: ['faults', 'git', 'http', 'memory', 'schedule'],
    },
    {
      path: 'journal',
      content:
        'recorded requests: records, redaction, queries, HAR export, verification; `client-rules/` has one row a rule',
      imports: ['auth', 'config', 'http', 'memory', 'schedule', 'smart-http', 'time'],
      isNested: true,
    },
    {
      path: 'webhooks',
      content: 'webhook deliveries, an outbound connection',
      imports: ['git', 'http', 'ids', 'log', 'repositories', 'time'],
    },
    {
      path: 'upstream',
      content: 'sync with an upstream, an outbound connection',
      imports: ['config', 'git', 'http', 'log', 'memory', 'repositories', 'schedule', 'smart-http', 'time', 'webhooks'],
    },
    {
      path: 'world',
      content: 'the state of one service (a *world*): its parts, engine, background work, snapshots, forks, quotas',
      imports: [
        'auth',
        'config',
        'faults',
        'git',
        'http',
        'ids',
        'journal',
        'log',
        'memory',
        'repositories',
        'schedule',
        'smart-http',
        'time',
        'upstream',
        'webhooks',
      ],
    },
    {
      path: 'sources',
      content: 'what a repository can be seeded from: folders, generated histories, bundles, URLs',
      imports: ['git', 'http', 'memory', 'repositories', 'schedule', 'upstream', 'world'],
    },
    {
      path: 'exports',
      content: 'the state as files: format, tar, folder, lock; `kept-folder.ts` is the folder of `--persist`',
      imports: [
        'auth',
        'config',
        'git',
        'http',
        'ids',
        'memory',
        'repositories',
        'schedule',
        'sources',
        'system',
        'time',
        'webhooks',
        'world',
      ],
    },
    {
      path: 'scenarios',
      content: 'scenario files and recorded traffic: schema, reader, runner',
      imports: ['faults', 'http', 'journal', 'system', 'time', 'world'],
    },
    {
      path: 'operation',
      content: 'the type of an operation row, and the context of its handler',
      imports: ['auth', 'config', 'http', 'memory', 'repositories', 'schedule', 'smart-http', 'world'],
    },
    {
      path: 'lfs',
      content: 'Git LFS below a remote: uploads, locks, routes',
      imports: ['http', 'memory', 'operation', 'repositories'],
    },
    {
      path: 'api',
      content: 'the operations: `operations/` has the rows with schemas and their handlers, beside it what they share',
      imports: [
        'auth',
        'config',
        'git',
        'http',
        'lfs',
        'memory',
        'operation',
        'repositories',
        'schedule',
        'smart-http',
        'upstream',
        'webhooks',
        'world',
      ],
      isNested: true,
    },
    {
      path: 'admin',
      content: 'the routes below `/_emulator`, one row each (`routes.ts`); `guard.ts` decides who may call them',
      imports: [
        'api',
        'auth',
        'config',
        'exports',
        'faults',
        'git',
        'http',
        'journal',
        'memory',
        'operation',
        'repositories',
        'scenarios',
        'schedule',
        'sources',
        'system',
        'time',
        'webhooks',
        'world',
      ],
    },
    { path: 'tls', content: 'a certificate authority for one process', imports: ['config'] },
    {
      path: 'pipeline',
      content: 'the way of a request: one file per step, in the order of `pipeline.ts`',
      imports: [
        'admin',
        'auth',
        'config',
        'faults',
        'git',
        'http',
        'journal',
        'log',
        'memory',
        'operation',
        'repositories',
        'schedule',
        'smart-http',
        'world',
      ],
    },
    {
      path: 'server',
      content: 'the ports: listeners, HTTPS, shutdown, namespaces, state kept on disk',
      imports: [
        'admin',
        'auth',
        'config',
        'exports',
        'faults',
        'http',
        'operation',
        'pipeline',
        'scenarios',
        'sources',
        'system',
        'time',
        'tls',
        'world',
      ],
    },
    {
      path: 'library',
      content: 'the `Emulator` of the library',
      imports: ['auth', 'faults', 'journal', 'schedule', 'server', 'sources', 'system', 'time', 'world'],
    },
    {
      path: 'runners',
      content: '`withEmulator`, one file per test runner',
      imports: ['config', 'index.js', 'journal', 'log'],
    },
    {
      path: 'cli',
      content: '`commands/` has one file per command, beside it what they share',
      imports: [
        'admin',
        'api',
        'auth',
        'config',
        'exports',
        'faults',
        'http',
        'index.js',
        'log',
        'memory',
        'scenarios',
        'system',
      ],
      isNested: true,
    },
    {
      path: 'bundle',
      content: 'building the published package: bundles, licences, V8 code cache',
      imports: ['auth', 'cli', 'system'],
    },
    { path: 'bench', content: '`npm run bench` and `npm run soak`' },
    {
      path: 'page',
      content: 'the page below `/_emulator/`, a program for browsers that knows only the admin API',
      imports: [],
      isNested: true,
    },
    { path: 'test', content: 'tests that cross folders; `runner/` runs the test files; `documents/` prints tables' },
  ],
};

const CONFORMANCE: Program = {
  name: 'conformance',
  never: { group: '**/emulator/**', reason: 'The suite is a black box: it never imports the emulator.' },
  folders: [
    { path: 'target', content: 'the target file: addresses, keys, what is allowed', imports: [] },
    { path: 'auth', content: 'valid and invalid tokens', imports: ['target'] },
    { path: 'http', content: 'the client, its rate limit, its recordings', imports: ['auth'] },
    {
      path: 'check',
      content: 'what a check works with: context, expectations, outcomes, side effects of refused writes',
      imports: ['auth', 'http', 'target'],
    },
    { path: 'api', content: 'the documented requests, one line each', imports: ['auth', 'check', 'http'] },
    { path: 'git', content: 'a Git client in memory', imports: ['api', 'auth', 'check', 'http'] },
    { path: 'fixtures', content: 'repositories that rules share, made on first use', imports: ['api', 'check', 'git'] },
    {
      path: 'rules',
      content: 'the rules, one folder per section of the specification; `companion/` for what it only names',
      imports: ['api', 'auth', 'check', 'fixtures', 'git', 'http', 'target'],
      isNested: true,
    },
    {
      path: 'report',
      content: 'results and their schema, redaction, baselines, one file per reporter',
      imports: ['auth', 'http', 'rules', 'target'],
      isNested: true,
    },
    {
      path: 'run',
      content: 'one run: preflight, order of rules, shards, scratch repositories and their removal',
      imports: ['auth', 'check', 'http', 'report', 'rules', 'target'],
    },
    {
      path: 'cli',
      content: 'the commands, one file each',
      imports: ['auth', 'http', 'index.js', 'report', 'rules', 'run', 'target'],
    },
    { path: 'test', content: 'every rule under tap; `legal/`: servers that conform; `mutants/`: servers that do not' },
  ],
};

export const PROGRAMS: readonly Program[] = [EMULATOR, CONFORMANCE];
