import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { oidOf } from '../../git/odb/test/pack-builder.js';
import { Workbench } from '../../git/test/workbench.js';
import { pick, type Random } from '../code-text.js';
import { addCommit, git } from '../git.js';
import type { BenchResponse } from '../http-client.js';
import { Remote } from '../remote.js';
import type { Tally } from './tally.js';

export type Files = ReadonlyMap<string, Buffer>;

const AUTHOR = { name: 'Soak', email: 'soak@example.com' };
/** Faults that the simulated users ask the emulator to inject, with the status code that a write then gets. */
const FAULTS = [
  ['repository_thawing', 409],
  ['rate_limited', 429],
] as const;

/** Malformed request bodies for the API operation `commit-pack`, which creates commits. */
const NONSENSE = ['{', '{"metadata":{}}\n', '{"metadata":{"target_branch":"../x","files":[]}}\n', '\0\0\0\n'];
const NEVER: Files = new Map([['never.txt', Buffer.from('never\n')]]);

/**
 * Simulated user with its own repository and connection. It remembers the object id of each file that it has written,
 * so that it can verify the repository's content.
 */
export class User {
  readonly remote: Remote;
  readonly #files = new Map<string, string>();
  #serial = 0;

  constructor(
    origin: string,
    readonly repo: string,
    private readonly random: Random,
    public tally: Tally,
  ) {
    this.remote = new Remote(origin);
  }

  async create(): Promise<void> {
    await this.remote.create(this.repo);
    await this.commit();
  }

  async delete(): Promise<void> {
    await this.remote.delete(this.repo);
    this.#files.clear();
  }

  /** Does one random action: 60 % reads, 39 % small writes, and 1 % a clone and a push with git. */
  async act(): Promise<void> {
    const way = this.random(100);
    if (way < 60) await this.read();
    else if (way < 99) await this.commit();
    else await this.cloneAndPush();
  }

  /**
   * Does a random action like `act`, or misbehaves: disconnects, sends a body slowly, sends a malformed body, or asks
   * for an injected fault.
   */
  async misbehave(): Promise<void> {
    const way = this.random(20);
    if (way < 2) await this.#breakOff();
    else if (way === 2) await this.commit('slow write', 20);
    else if (way === 3) await this.#refused('nonsense', 400, [Buffer.from(pick(this.random, NONSENSE))]);
    else if (way === 4) {
      const [fault, status] = pick(this.random, FAULTS);
      await this.#refused(fault, status, commitBody(NEVER), { 'x-emulator-fault': fault });
    } else await this.act();
  }

  async read(): Promise<void> {
    const path = pick(this.random, [...this.#files.keys()]);
    const [target, json] = pick<readonly [string, unknown?]>(this.random, [
      [''],
      ['/branches'],
      ['/files'],
      ['/files/metadata'],
      [`/file?path=${encodeURIComponent(path)}`],
      ['/commits'],
      ['/grep', { query: { pattern: 'line 1' } }],
    ]);
    const response = await this.#timed('read', target, { json });
    this.tally.expect(response.status === 200, `GET ${target} was answered with ${response.status}`);
  }

  /**
   * Commits a few random files through the API. `pause` is the time in milliseconds between pieces of the body. If
   * undefined, the body is sent at once.
   */
  async commit(kind = 'write', pause?: number): Promise<void> {
    const files = this.#invent();
    const { status } = await this.#timed(kind, '/commit-pack', { body: commitBody(files), pause });
    this.tally.expect(status === 201, `commit-pack was answered with ${status}`);
    for (const [path, content] of files) this.#files.set(path, oidOf('blob', content));
  }

  /** Disconnects before the body of a commit is complete. The server must not create the commit. */
  async #breakOff(): Promise<void> {
    const body = commitBody(this.#invent());
    this.remote.api(this.repo, '/commit-pack', { body, pause: 1000 }).catch(() => undefined);
    await sleep(5);
    await this.remote[Symbol.asyncDispose]();
  }

  #invent(): Files {
    const files = new Map<string, Buffer>();
    for (let count = 1 + this.random(6); count > 0; count--) {
      files.set(`folder-${this.random(8)}/file-${this.random(60)}.txt`, this.#content());
    }
    return files;
  }

  /**
   * Sends a commit that the emulator must refuse with the given status. Records a finding if the status is different.
   */
  async #refused(kind: string, status: number, body: readonly Buffer[], headers = {}): Promise<void> {
    const response = await this.#timed('refused', '/commit-pack', { body, headers });
    this.tally.expect(response.status === status, `${kind} was answered with ${response.status}`);
  }

  async cloneAndPush(): Promise<void> {
    const start = performance.now();
    await this.#clone('git failed', ['--bare', '--depth=2'], async (clone, url) => {
      const path = `pushed-${this.#serial}.txt`;
      const { commit, blob } = await addCommit(clone, 'main', path, this.#content());
      await git(clone, ['push', '-q', url, `${commit}:refs/heads/main`]);
      this.#files.set(path, blob);
    });
    this.tally.time('git', performance.now() - start);
  }

  /**
   * Clones the repository and checks its objects with `git fsck`. Records a finding unless the files are exactly those
   * that this user wrote.
   */
  async verify(): Promise<void> {
    await this.#clone(`${this.repo} cannot be cloned whole`, ['--mirror'], async (clone) => {
      await git(clone, ['fsck', '--strict', '--full', '--no-progress']);
      const listed = await git(clone, ['ls-tree', '-r', '--format=%(objectname) %(path)', 'main']);
      const expected = Array.from(this.#files, ([path, oid]) => `${oid} ${path}`);
      const isSame = listed.split('\n').sort().join('\n') === expected.sort().join('\n');
      this.tally.expect(isSame, `${this.repo} does not hold what was written to it`);
    });
  }

  async #clone(finding: string, flags: string[], work: (clone: string, url: string) => Promise<void>): Promise<void> {
    await using folder = await Workbench.create();
    const clone = join(folder.path, 'clone.git');
    try {
      const url = await this.remote.url(this.repo);
      await git(folder.path, ['clone', '-q', ...flags, url, clone]);
      await work(clone, url);
    } catch (error) {
      this.tally.expect(false, `${finding}: ${(error as Error).message}`);
    }
  }

  async #timed(kind: string, target: string, options: Parameters<Remote['api']>[2]): Promise<BenchResponse> {
    const start = performance.now();
    const response = await this.remote.api(this.repo, target, options);
    this.tally.time(kind, performance.now() - start);
    return response;
  }

  #content(): Buffer {
    this.#serial += 1;
    const lines = Array.from({ length: 1 + this.random(400) }, (_, line) => `line ${line} of ${this.#serial}`);
    return Buffer.from(`${lines.join('\n')}\n`);
  }
}

/** Maximum number of content bytes in one line of a commit-pack body. Larger files are split into several lines. */
const CHUNK = 3 * 1024 * 1024;

/**
 * Builds the body of a `commit-pack` API request, in which each line is a JSON object. The first line has the metadata
 * of the commit and its files. The content of each file follows in one or more lines.
 */
export function commitBody(files: Files, metadata: object = {}): Buffer[] {
  const upserts = [...files.keys()].map((path, index) => {
    return { path, content_id: `c${index}`, operation: 'upsert', mode: '100644' };
  });
  const head = { target_branch: 'main', commit_message: 'Soak', author: AUTHOR, files: upserts, ...metadata };
  const lines: unknown[] = [{ metadata: head }];
  for (const [index, content] of [...files.values()].entries()) {
    for (let at = 0; at === 0 || at < content.length; at += CHUNK) {
      const data = content.toString('base64', at, at + CHUNK);
      lines.push({ blob_chunk: { content_id: `c${index}`, data, eof: at + CHUNK >= content.length } });
    }
  }
  return lines.map((line) => Buffer.from(`${JSON.stringify(line)}\n`));
}
