import { setTimeout as sleep } from 'node:timers/promises';
import { MOST_STALL } from '../lone-ingest.js';
import type { Remote } from '../remote.js';
import { markdown, shorten } from '../table.js';
import { ADMIN_CASES } from './admin-cases.js';
import { lineOfCommits, nestedTrees, type Pushed, wideTree, zeros } from './pack.js';
import { askVitals, spawnWatched } from './server.js';
import { commitBody } from './user.js';

const MiB = 1024 * 1024;
const CHUNK = 3 * MiB;
const REPO = 'hostile';
/** What every case has to stay within: milliseconds that the loop stood still, and bytes above what is stored. */
const MOST = { stall: MOST_STALL, memory: 256 * MiB };

/** Hostile work of one client, alone on a server: what is prepared, and what is measured. Resolves to the statuses. */
interface Case {
  readonly files?: () => ReadonlyMap<string, Buffer>;
  readonly pushed?: () => Pushed;
  readonly run: (remote: Remote) => Promise<readonly number[]>;
}

const API = `/api/repos/${REPO}`;
const json = async (remote: Remote, path: string, body?: unknown) =>
  (await remote.api(REPO, `${API}${path}`, body === undefined ? {} : { json: body })).status;
const grep = (pattern: string, more: object = {}) => ({ query: { pattern, case_sensitive: true }, ...more });
const text = (line: string, bytes: number) => Buffer.from(line.repeat(Math.ceil(bytes / line.length)));

/** As many names as a path may hold. */
const DEEP = `${'a/'.repeat(2_040)}f`;
/** Lists that try as much as they can, as long as they may be together. */
const globs = (count: number) => Array.from({ length: count }, (_, at) => `${'**/a/*'.repeat(53)}${at}`);
/** Files of a hundred lines, each of which differs between two sides. */
const sides = (side: string) =>
  new Map(Array.from({ length: 100 }, (_, at) => [`f${at}`, text(`${side} ${at}\n`, 64 * 1024)] as const));

async function commit(remote: Remote, files: ReadonlyMap<string, Buffer>, metadata: object): Promise<void> {
  const [head, ...chunks] = commitBody(files);
  const line = { metadata: { ...JSON.parse(head!.toString()).metadata, ...metadata } };
  const body = [Buffer.from(`${JSON.stringify(line)}\n`), ...chunks];
  const { status } = await remote.api(REPO, `${API}/commit-pack`, { body });
  if (status !== 201) throw new Error(`a commit of a case was not made: ${status}`);
}

const CASES: Readonly<Record<string, Case>> = {
  '100 globs on a path of 2,040 segments': {
    files: () => new Map([[DEEP, Buffer.from('x\n')]]),
    run: async (remote) => [
      await json(remote, '/grep', grep('x', { file_filters: { include_globs: globs(100) } })),
      await json(remote, '/archive', { include_globs: globs(100) }),
    ],
  },
  'three lists of globs on a path of 2,040 segments': {
    files: () => new Map([[DEEP, Buffer.from('x\n')]]),
    run: async (remote) => {
      const file_filters = { include_globs: globs(34), exclude_globs: globs(33) };
      return [await json(remote, '/grep', grep('x', { file_filters, paths: globs(33) }))];
    },
  },
  'blame of a range by /(a?){900}[0-9]/': {
    files: () => new Map([['f', text(`${'a'.repeat(60)}\n`, MiB)]]),
    run: async (remote) => [await json(remote, `/blame?path=f&range=${encodeURIComponent('/(a?){900}[0-9]/,+1')}`)],
  },
  'archive of 30,000 folders': {
    files: () => new Map(Array.from({ length: 30_000 }, (_, at) => [`a${at % 170}/b${at}/f`, Buffer.from('x\n')])),
    run: async (remote) => [await json(remote, '/archive', {})],
  },
  'archive, search and list of 20,000 nested folders': {
    pushed: () => nestedTrees(20_000),
    run: async (remote) => [
      await json(remote, '/archive', {}),
      await json(remote, '/grep', grep('y')),
      await json(remote, '/files?limit=100'),
    ],
  },
  'list and change of a folder of 1,000,000 files': {
    pushed: () => wideTree(1_000_000),
    run: async (remote) => {
      const listed = await json(remote, '/files?limit=100');
      const body = commitBody(new Map([['new', Buffer.from('x\n')]]));
      return [listed, (await remote.api(REPO, `${API}/commit-pack`, { body })).status];
    },
  },
  'diff of a folder of 1,000,000 files': {
    pushed: () => wideTree(1_000_000),
    run: async (remote) => [await json(remote, '/diff?sha=main')],
  },
  'main~199999': {
    pushed: () => lineOfCommits(200_000),
    run: async (remote) => [
      await json(remote, '/commit?sha=main~199999'),
      await json(remote, `/commit?sha=main${'^'.repeat(7000)}`),
    ],
  },
  'a pushed object of 200 MiB': {
    run: async (remote) => {
      await push(remote, zeros(200 * MiB));
      return [await json(remote, '/file?path=zeros')];
    },
  },
  'metadata of 50,000 files': {
    files: () => new Map([['f', Buffer.from('x\n')]]),
    run: async (remote) => {
      const files = new Map(Array.from({ length: 50_000 }, (_, at) => [`d${at % 100}/${at}`, Buffer.alloc(0)]));
      const body = commitBody(files);
      return [(await remote.api(REPO, `${API}/commit-pack`, { body })).status];
    },
  },
  'a line of 16 MiB in a search': {
    files: () => new Map([['f', Buffer.alloc(16 * MiB - 1, 'ab')]]),
    run: async (remote) => [await json(remote, '/grep', grep('(a|b)*c')), await json(remote, '/grep', grep('zzz'))],
  },
  'expensive expressions': {
    files: () => new Map([['f', text(`${'a'.repeat(1000)}\n`, 4 * MiB)]]),
    run: async (remote) => {
      const statuses: number[] = [];
      for (const pattern of ['(a?){100}b', '(a*)*(a|aa)+b', '.*.*.*b', '[^b]{200}b']) {
        statuses.push(await json(remote, '/grep', grep(pattern)));
      }
      return statuses;
    },
  },
  'merge preview with contents': {
    files: () => sides('base'),
    run: async (remote) => {
      await commit(remote, sides('theirs'), { target_branch: 'side', base_branch: 'main' });
      await commit(remote, sides('ours'), { target_branch: 'main' });
      const query = 'source_branch=side&target_branch=main&include_content=true';
      return [await json(remote, `/merge/preview?${query}`)];
    },
  },
  'JSON of one fault many times': {
    run: async (remote) => [
      await json(remote, '/grep', { ...grep('x'), paths: Array(400_000).fill(1) }),
      await json(remote, '/grep', Object.fromEntries(Array.from({ length: 80_000 }, (_, at) => [`m${at}`, 1]))),
    ],
  },
};

function push(remote: Remote, { oid, pack }: Pushed): Promise<void> {
  return remote.pushPack(REPO, [{ name: 'refs/heads/main', oid }], pack);
}

/** Commits the files, each in as many chunks as it needs. */
async function seed(remote: Remote, files: ReadonlyMap<string, Buffer>): Promise<void> {
  const [head] = commitBody(new Map([...files.keys()].map((path) => [path, Buffer.alloc(0)])));
  const lines = [head!];
  for (const [index, content] of [...files.values()].entries()) {
    for (let at = 0; at === 0 || at < content.length; at += CHUNK) {
      const data = content.toString('base64', at, at + CHUNK);
      const chunk = { content_id: `c${index}`, data, eof: at + CHUNK >= content.length };
      lines.push(Buffer.from(`${JSON.stringify({ blob_chunk: chunk })}\n`));
    }
  }
  const { status } = await remote.api(REPO, `${API}/commit-pack`, { body: lines });
  if (status !== 201) throw new Error(`the repository of a case was not written: ${status}`);
}

interface Measured {
  readonly name: string;
  readonly statuses: readonly number[];
  readonly milliseconds: number;
  readonly stall: number;
  readonly memory: number;
}

/** Runs the cases whose names hold `chosen`, each alone on a server of its own; resolves to those past the bounds. */
export async function runCases(
  chosen: string,
  connect: (origin: string) => Remote,
): Promise<{ table: string; findings: string[] }> {
  const all: Measured[] = [];
  for (const [name, row] of Object.entries<Case>({ ...CASES, ...ADMIN_CASES })) {
    if (!name.includes(chosen)) continue;
    await using server = await spawnWatched();
    const remote = connect(server.origin);
    await remote.create(REPO, 'main');
    if (row.files) await seed(remote, row.files());
    if (row.pushed) await push(remote, row.pushed());
    const before = await askVitals(server);
    // The measure begins anew when the collection before it is over.
    await sleep(200);
    const start = performance.now();
    const statuses = await row.run(remote).catch((error: Error) => [Number.NaN, error.message] as number[]);
    const milliseconds = performance.now() - start;
    const after = await askVitals(server);
    remote.client.close();
    all.push({ name, statuses, milliseconds, stall: after.delayMax, memory: after.peak - before.rss });
  }
  const findings = all
    .filter(({ stall, memory }) => stall > MOST.stall || memory > MOST.memory)
    .map(({ name }) => `${name}: past ${MOST.stall} ms or ${MOST.memory / MiB} MiB`);
  const rows = all.map(({ name, statuses, milliseconds, stall, memory }) => [
    name,
    statuses.join(' '),
    `${shorten(milliseconds)} ms`,
    `${shorten(stall)} ms`,
    `${shorten(memory / MiB)} MiB`,
  ]);
  return { table: markdown(['case', 'status', 'time', 'longest stall', 'memory above'], rows), findings };
}
