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
    { path: 'environment', content: 'clock, ids, expiry, ISO 8601, log, lazy values', imports: [] },
    {
      path: 'config',
      content: 'tables of the options of `start`, limits, variants and operation ids',
      imports: ['environment'],
    },
    {
      path: 'http',
      content: 'HTTP without the product: problem details, routing, bodies, cursors, preconditions, writing a response',
      imports: ['config'],
    },
    {
      path: 'auth',
      content: 'credentials, keys, claims, policies. Only `verify.ts` and `mint.ts` import jose',
      imports: ['environment', 'http'],
    },
    {
      path: 'faults',
      content: 'injected faults: grammar, matching, reach (`known-facts.ts`, `reach.ts`), counters, latches',
      imports: ['environment', 'http'],
    },
    { path: 'git/limits', content: 'limits of one request to the engine', imports: [] },
    { path: 'git/schedule', content: 'time slices of the event loop', imports: [] },
    { path: 'git/memory', content: 'the memory limit and the LRU cache of the process', imports: ['git/schedule'] },
    {
      path: 'git/object',
      content: 'object formats, ids, paths, trees',
      imports: ['git/memory', 'git/schedule'],
    },
    { path: 'git/notes', content: 'notes trees', imports: ['git/object', 'git/schedule'] },
    { path: 'git/pack', content: 'the pack format: entries, deltas, zlib', imports: ['git/object', 'git/schedule'] },
    {
      path: 'git/pathspec',
      content: 'globs and path lists, and the files they select',
      imports: ['git/limits', 'git/object', 'git/schedule'],
    },
    {
      path: 'git/archive',
      content: 'tar.gz archives',
      imports: ['git/limits', 'git/object', 'git/pathspec', 'git/schedule'],
    },
    {
      path: 'git/diff',
      content: 'tree and file comparison, rename detection, patches',
      imports: ['git/limits', 'git/memory', 'git/object', 'git/pack', 'git/schedule'],
    },
    {
      path: 'git/grep',
      content: 'content search: expressions, automata, line index',
      imports: ['git/limits', 'git/memory', 'git/object', 'git/pathspec', 'git/schedule'],
    },
    {
      path: 'git/odb',
      content: 'the object database: index tables, packs, quarantine, forks',
      imports: ['git/limits', 'git/memory', 'git/object', 'git/pack', 'git/schedule'],
    },
    {
      path: 'git/apply',
      content: 'applying patches',
      imports: ['git/diff', 'git/limits', 'git/object', 'git/pack', 'git/schedule'],
    },
    {
      path: 'git/index-pack',
      content: 'reading and checking a received pack',
      imports: ['git/limits', 'git/memory', 'git/object', 'git/odb', 'git/pack', 'git/schedule'],
    },
    {
      path: 'git/pack-objects',
      content: 'writing a pack for a fetch',
      imports: ['git/memory', 'git/object', 'git/odb', 'git/pack', 'git/schedule'],
    },
    {
      path: 'git/refs',
      content: 'refs and the ref transaction',
      imports: ['git/limits', 'git/object', 'git/odb', 'git/schedule'],
    },
    {
      path: 'git/fsck',
      content: 'format checks of received objects',
      imports: ['git/limits', 'git/object', 'git/refs', 'git/schedule'],
    },
    {
      path: 'git/revwalk',
      content: 'walks over commits and their trees, reachability, merge bases',
      imports: ['git/memory', 'git/object', 'git/pack-objects', 'git/schedule'],
    },
    {
      path: 'git/blame',
      content: 'the commit that last changed each line',
      imports: ['git/diff', 'git/grep', 'git/memory', 'git/object', 'git/revwalk', 'git/schedule'],
    },
    {
      path: 'git/merge',
      content: 'three-way merge of trees and files',
      imports: ['git/diff', 'git/limits', 'git/object', 'git/revwalk', 'git/schedule'],
    },
    {
      path: 'git/repository',
      content: 'one repository: object database, refs, turns of writers',
      imports: ['git/object', 'git/odb', 'git/refs', 'git/revwalk', 'git/schedule'],
    },
    {
      path: 'git/revision',
      content: 'resolving revisions such as `main~2`',
      imports: ['git/limits', 'git/object', 'git/refs', 'git/revwalk', 'git/schedule'],
    },
    {
      path: 'repositories',
      content: 'repository records, allowed states by operation (`lifecycle.ts`), commits onto branches',
      imports: ['config', 'environment', 'git', 'http'],
    },
    {
      path: 'smart-http',
      content: 'fetch and push over HTTP, protocol versions 0, 1 and 2',
      imports: ['faults', 'git', 'http'],
    },
    {
      path: 'journal',
      content:
        'recorded requests: records, redaction, queries, HAR export, verification; `client-rules/` has one row a rule',
      imports: ['auth', 'config', 'environment', 'git', 'http', 'smart-http'],
      isNested: true,
    },
    {
      path: 'webhooks',
      content: 'webhook deliveries, an outbound connection',
      imports: ['environment', 'git', 'http', 'repositories'],
    },
    {
      path: 'upstream',
      content: 'sync with an upstream, an outbound connection',
      imports: ['config', 'environment', 'git', 'http', 'repositories', 'smart-http', 'webhooks'],
    },
    {
      path: 'world',
      content: 'the state of one service (a *world*): its parts, engine, background work, snapshots, forks, quotas',
      imports: [
        'auth',
        'config',
        'environment',
        'faults',
        'git',
        'http',
        'journal',
        'repositories',
        'smart-http',
        'upstream',
        'webhooks',
      ],
    },
    {
      path: 'sources',
      content: 'what a repository can be seeded from: folders, generated histories, bundles, URLs',
      imports: ['git', 'http', 'repositories', 'upstream', 'world'],
    },
    {
      path: 'exports',
      content: 'the state as files: format, tar, folder, lock; `kept-folder.ts` is the folder of `--persist`',
      imports: ['auth', 'config', 'environment', 'git', 'http', 'repositories', 'sources', 'webhooks', 'world'],
    },
    {
      path: 'scenarios',
      content: 'scenario files and recorded traffic: schema, reader, runner',
      imports: ['environment', 'faults', 'http', 'journal', 'world'],
    },
    {
      path: 'operation',
      content: 'the type of an operation row, and the context of its handler',
      imports: ['auth', 'config', 'environment', 'git', 'http', 'repositories', 'smart-http', 'world'],
    },
    {
      path: 'lfs',
      content: 'Git LFS below a remote: uploads, locks, routes',
      imports: ['environment', 'git', 'http', 'operation', 'repositories'],
    },
    {
      path: 'api',
      content: 'the operations, one file per group: rows with schemas, and handlers',
      imports: [
        'auth',
        'config',
        'environment',
        'git',
        'http',
        'lfs',
        'operation',
        'repositories',
        'smart-http',
        'upstream',
        'webhooks',
        'world',
      ],
    },
    {
      path: 'admin',
      content: 'the routes below `/_emulator`, one row each (`routes.ts`); `guard.ts` decides who may call them',
      imports: [
        'api',
        'auth',
        'config',
        'environment',
        'exports',
        'faults',
        'git',
        'http',
        'journal',
        'operation',
        'repositories',
        'scenarios',
        'sources',
        'webhooks',
        'world',
      ],
    },
    { path: 'tls', content: 'a certificate authority for one process', imports: ['config'] },
    {
      path: 'service',
      content:
        'the ports and the request pipeline (`app.ts`, steps in `chain/`); namespaces; the `Emulator` of the library',
      imports: [
        'admin',
        'auth',
        'config',
        'environment',
        'exports',
        'faults',
        'git',
        'http',
        'journal',
        'operation',
        'repositories',
        'scenarios',
        'smart-http',
        'sources',
        'tls',
        'world',
      ],
      isNested: true,
    },
    {
      path: 'runners',
      content: '`withEmulator`, one file per test runner',
      imports: ['config', 'environment', 'index.js', 'journal'],
    },
    {
      path: 'cli',
      content: 'the commands, one file each',
      imports: [
        'admin',
        'api',
        'auth',
        'config',
        'environment',
        'exports',
        'faults',
        'http',
        'index.js',
        'scenarios',
        'sources',
        'tls',
      ],
    },
    {
      path: 'bundle',
      content: 'building the published package: bundles, licences, V8 code cache',
      imports: ['auth', 'cli', 'environment'],
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

const TESTS = ['!**/*.test.ts', '!**/test/**'];

/** Path from a file of `from`, `depth` folders below it, to the folder `to`. */
function relativePattern(from: string, to: string, depth: number): string {
  const steps = from.split('/').length + depth;
  const group = from.includes('/') ? `${from.split('/')[0]}/` : undefined;
  // Inside git/, siblings are named without the common folder: Biome matches the specifier as it is written.
  if (group !== undefined && to.startsWith(group)) return `${'../'.repeat(steps - 1)}${to.slice(group.length)}`;
  return `${'../'.repeat(steps)}${to}`;
}

function sentence({ path, imports = [] }: Folder): string {
  return imports.length === 0
    ? `${path}/ imports no other folder.`
    : `${path}/ imports ${imports.join(', ')} and nothing else.`;
}

/** Patterns of forbidden imports for files that lie `depth` folders below a folder. */
function restriction(folder: Folder, depth: number): object {
  const { path, imports = [] } = folder;
  const allowed = imports.map((to) => {
    const pattern = relativePattern(path, to, depth);
    return to.endsWith('.js') ? `!${pattern}` : `!${pattern}/**`;
  });
  const group = [`${'../'.repeat(depth + 1)}**`, ...allowed];
  return override([`${path}/${'*/'.repeat(depth)}**`, ...TESTS], sentence(folder), group);
}

function override(includes: readonly string[], message: string, group: readonly string[]): object {
  const options = { patterns: [{ message, group }] };
  return { includes, linter: { rules: { style: { noRestrictedImports: { level: 'error', options } } } } };
}

/** Biome's configuration of a program: one override per folder that restricts its imports. */
export function biomeConfiguration(program: Program): string {
  const overrides = [override(['**'], program.never.reason, [program.never.group])];
  for (const folder of program.folders) {
    if (folder.imports === undefined) continue;
    overrides.push(restriction(folder, 0));
    if (folder.isNested) overrides.push(restriction(folder, 1));
  }
  const schema = '../node_modules/@biomejs/biome/configuration_schema.json';
  return `${JSON.stringify({ $schema: schema, root: false, extends: '//', overrides }, undefined, 2)}\n`;
}

/** The folders of a program as a Markdown table, for CONTRIBUTING.md. */
export function folderTable(program: Program): string {
  const rows = program.folders.map(({ path, content, imports }) => {
    const allowed = imports === undefined ? '' : imports.length === 0 ? 'nothing' : imports.join(', ');
    return `| \`${path}/\` | ${content} | ${allowed} |`;
  });
  return ['| Folder | Content | May import |', '| --- | --- | --- |', ...rows, ''].join('\n');
}
