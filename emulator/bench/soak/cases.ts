import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { deflateSync } from 'node:zlib';
import type { Remote } from '../remote.js';
import { markdown, shorten } from '../table.js';
import { askVitals, spawnWatched } from './server.js';
import { commitBody } from './user.js';

const MiB = 1024 * 1024;
const CHUNK = 3 * MiB;
const REPO = 'hostile';
/** What every case has to stay within: milliseconds that the loop stood still, and bytes above what is stored. */
const MOST = { stall: 50, memory: 256 * MiB };

/** Hostile work of one client, alone on a server: what is prepared, and what is measured. Resolves to the statuses. */
interface Case {
  readonly files?: () => ReadonlyMap<string, Buffer>;
  readonly run: (remote: Remote) => Promise<readonly number[]>;
}

const API = `/api/repos/${REPO}`;
const json = async (remote: Remote, path: string, body?: unknown) =>
  (await remote.api(REPO, `${API}${path}`, body === undefined ? {} : { json: body })).status;
const grep = (pattern: string, more: object = {}) => ({ query: { pattern, case_sensitive: true }, ...more });
const text = (line: string, bytes: number) => Buffer.from(line.repeat(Math.ceil(bytes / line.length)));

const CASES: Readonly<Record<string, Case>> = {
  '100 globs of 2,040 segments': {
    files: () => new Map([[`${'a/'.repeat(500)}f`, Buffer.from('x\n')]]),
    run: async (remote) => {
      const include_globs = Array.from({ length: 100 }, () => '**/'.repeat(2_040));
      return [await json(remote, '/grep', grep('x', { file_filters: { include_globs } }))];
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
  'main~199999': {
    files: () => new Map([['f', Buffer.from('x\n')]]),
    run: async (remote) => [
      await json(remote, '/commit?sha=main~199999'),
      await json(remote, `/commit?sha=main${'^'.repeat(7000)}`),
    ],
  },
  'a pushed object of 200 MiB': {
    run: async (remote) => {
      const { oid, pack } = zeros(200 * MiB);
      await remote.pushPack(REPO, [{ name: 'refs/heads/main', oid }], pack);
      return [await json(remote, '/file?path=zeros')];
    },
  },
  'metadata of 50,000 files': {
    run: async (remote) => {
      const files = new Map(Array.from({ length: 50_000 }, (_, at) => [`f${at % 100}/${at}`, Buffer.alloc(0)]));
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
  'JSON of one fault many times': {
    run: async (remote) => [
      await json(remote, '/grep', { ...grep('x'), paths: Array(400_000).fill(1) }),
      await json(remote, '/grep', Object.fromEntries(Array.from({ length: 80_000 }, (_, at) => [`m${at}`, 1]))),
    ],
  },
};

/** One commit with one file of zeros, as a pack of three objects. */
function zeros(size: number): { oid: string; pack: Buffer } {
  const objects: [code: number, name: string, body: Buffer][] = [[3, 'blob', Buffer.alloc(size)]];
  const idOf = ([, name, body]: (typeof objects)[number]) =>
    createHash('sha1').update(`${name} ${body.length}\0`).update(body).digest();
  objects.push([2, 'tree', Buffer.concat([Buffer.from('100644 zeros\0'), idOf(objects[0]!)])]);
  const person = 'A <a@b.c> 1 +0000\n';
  const head = `tree ${idOf(objects[1]!).toString('hex')}\nauthor ${person}committer ${person}\nzeros\n`;
  objects.push([1, 'commit', Buffer.from(head)]);
  const parts = [Buffer.from('5041434b0000000200000003', 'hex')];
  for (const [code, , body] of objects) {
    const header = [(code << 4) | (body.length & 15)];
    for (let rest = Math.floor(body.length / 16); rest > 0; rest = Math.floor(rest / 128)) {
      header[header.length - 1]! |= 0x80;
      header.push(rest & 0x7f);
    }
    parts.push(Buffer.from(header), deflateSync(body));
  }
  const pack = Buffer.concat(parts);
  const trailer = createHash('sha1').update(pack).digest();
  return { oid: idOf(objects[2]!).toString('hex'), pack: Buffer.concat([pack, trailer]) };
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
  for (const [name, row] of Object.entries(CASES)) {
    if (!name.includes(chosen)) continue;
    await using server = await spawnWatched();
    const remote = connect(server.origin);
    await remote.create(REPO, 'main');
    if (row.files) await seed(remote, row.files());
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
