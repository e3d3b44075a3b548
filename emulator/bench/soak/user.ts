import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Answer } from '../answer-reader.js';
import type { Random } from '../history/random.js';
import type { AnswerOptions } from '../http-client.js';
import { git } from '../native-git.js';
import { Remote } from '../remote.js';
import type { Tally } from './tally.js';

const AUTHOR = { name: 'Soak', email: 'soak@example.com' };
/** Faults that may be asked for, with the status a write then has. */
const FAULTS = [
  ['repository_thawing', 409],
  ['rate_limited', 429],
] as const;

/**
 * One honest client with a repository of its own and one connection. It knows what it wrote, so it knows what the
 * repository has to hold: by path the object id of each file.
 */
export class User {
  readonly #remote: Remote;
  readonly #files = new Map<string, string>();
  #serial = 0;

  constructor(
    origin: string,
    readonly repo: string,
    private readonly random: Random,
    public tally: Tally,
  ) {
    this.#remote = new Remote(origin);
  }

  async create(): Promise<void> {
    await this.#remote.create(this.repo, 'main');
    await this.commit();
  }

  async delete(): Promise<void> {
    await this.#remote.delete(this.repo);
    this.#files.clear();
  }

  close(): void {
    this.#remote.client.close();
  }

  /** One of the usual requests: mostly reads, many small writes, now and then a clone and a push by git. */
  async act(): Promise<void> {
    const share = this.random.next();
    if (share < 0.6) await this.read();
    else if (share < 0.99) await this.commit();
    else await this.cloneAndPush();
  }

  /** As `act`, with clients that break off, dawdle, talk nonsense, and with faults the server was asked for. */
  async misbehave(): Promise<void> {
    const share = this.random.next();
    if (share < 0.1) await this.#write({ cutAfter: 1 });
    else if (share < 0.15) await this.commit({ pause: 20 });
    else if (share < 0.2) await this.#nonsense();
    else if (share < 0.25) await this.#faulty();
    else await this.act();
  }

  async read(): Promise<void> {
    const path = this.random.pick([...this.#files.keys()]);
    const [target, json] = this.random.pick<[string, unknown?]>([
      [''],
      ['/branches'],
      ['/files'],
      ['/files/metadata'],
      [`/file?path=${encodeURIComponent(path)}`],
      ['/commits'],
      ['/grep', { query: { pattern: 'line 1' } }],
    ]);
    const answer = await this.#timed('read', target, json === undefined ? {} : { json });
    this.tally.expect(answer.status === 200, `GET ${target} was answered with ${answer.status}`);
  }

  async commit(options: AnswerOptions = {}): Promise<void> {
    const { answer, files } = await this.#write(options);
    this.tally.expect(answer.status === 201, `commit-pack was answered with ${answer.status}: ${answer.body}`);
    for (const [path, content] of files) this.#files.set(path, blobId(content));
  }

  /** A commit of a few files, sent in pieces. What a client breaks off must leave nothing behind. */
  async #write(options: AnswerOptions): Promise<{ answer: Answer; files: ReadonlyMap<string, Buffer> }> {
    const files = new Map<string, Buffer>();
    for (let count = this.random.between(1, 6); count > 0; count--) {
      files.set(`folder-${this.random.below(8)}/file-${this.random.below(60)}.txt`, this.#content());
    }
    const body = commitBody(files);
    return { answer: await this.#timed('write', '/commit-pack', { body, keepsBody: true, ...options }), files };
  }

  async #nonsense(): Promise<void> {
    const bodies = ['{', '{"metadata":{}}\n', '{"metadata":{"target_branch":"../x","files":[]}}\n', '\0\0\0\n'];
    const answer = await this.#timed('nonsense', '/commit-pack', { body: Buffer.from(this.random.pick(bodies)) });
    this.tally.expect(answer.status === 400, `nonsense was answered with ${answer.status}`);
  }

  async #faulty(): Promise<void> {
    const [fault, status] = this.random.pick(FAULTS);
    const body = commitBody(new Map([['never.txt', Buffer.from('never\n')]]));
    const answer = await this.#timed('faulty', '/commit-pack', { body, headers: { 'x-emulator-fault': fault } });
    this.tally.expect(answer.status === status, `${fault} was answered with ${answer.status}`);
  }

  async cloneAndPush(): Promise<void> {
    const start = performance.now();
    const folder = await mkdtemp(join(tmpdir(), 'emulator-soak-'));
    try {
      const url = await this.#remote.url(this.repo);
      await git(folder, ['clone', '-q', '--bare', '--depth=2', url, 'clone.git']);
      const clone = join(folder, 'clone.git');
      const content = this.#content();
      const blob = await git(clone, ['hash-object', '-w', '--stdin'], { input: [content] });
      const path = `pushed-${this.#serial}.txt`;
      const entries = await git(clone, ['ls-tree', 'main']);
      const tree = await git(clone, ['mktree'], { input: [`${entries}\n100644 blob ${blob}\t${path}\n`] });
      const commit = await git(clone, ['commit-tree', '-p', 'main', '-m', 'Push', tree]);
      await git(clone, ['push', '-q', url, `${commit}:refs/heads/main`]);
      this.#files.set(path, blob);
    } catch (error) {
      this.tally.expect(false, `git failed: ${(error as Error).message}`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    this.tally.time('git', performance.now() - start);
  }

  /** Clones everything and compares it with what was written; `git fsck` has the last word on the objects. */
  async verify(): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), 'emulator-soak-'));
    try {
      await git(folder, ['clone', '-q', '--mirror', await this.#remote.url(this.repo), 'clone.git']);
      const clone = join(folder, 'clone.git');
      await git(clone, ['fsck', '--strict', '--full', '--no-progress']);
      const listed = await git(clone, ['ls-tree', '-r', '--format=%(objectname) %(path)', 'main']);
      const expected = Array.from(this.#files, ([path, oid]) => `${oid} ${path}`);
      const isSame = listed.split('\n').sort().join('\n') === expected.sort().join('\n');
      this.tally.expect(isSame, `${this.repo} does not hold what was written to it`);
    } catch (error) {
      this.tally.expect(false, `${this.repo} cannot be cloned whole: ${(error as Error).message}`);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async #timed(kind: string, target: string, options: Parameters<Remote['api']>[2]): Promise<Answer> {
    const start = performance.now();
    const answer = await this.#remote.api(this.repo, `/api/repos/${this.repo}${target}`, options);
    this.tally.time(kind, performance.now() - start);
    return answer;
  }

  #content(): Buffer {
    this.#serial += 1;
    const lines = Array.from({ length: this.random.between(1, 400) }, (_, line) => `line ${line} of ${this.#serial}`);
    return Buffer.from(`${lines.join('\n')}\n`);
  }
}

function blobId(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

/** A commit-pack body: one line of metadata, then a line for each file. */
export function commitBody(files: ReadonlyMap<string, Buffer>, targetBranch = 'main'): Buffer[] {
  const entries = [...files];
  const metadata = {
    target_branch: targetBranch,
    commit_message: 'Soak',
    author: AUTHOR,
    files: entries.map(([path], index) => ({ path, content_id: `c${index}`, operation: 'upsert', mode: '100644' })),
  };
  const chunks = entries.map(([, content], index) => ({
    blob_chunk: { content_id: `c${index}`, data: content.toString('base64'), eof: true },
  }));
  return [{ metadata }, ...chunks].map((line) => Buffer.from(`${JSON.stringify(line)}\n`));
}
