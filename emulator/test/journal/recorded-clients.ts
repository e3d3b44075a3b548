import type { Event, Read, Write } from '../concurrency/linearizability.js';
import { oidOf, packOf, pushBody, pushRaw, type RawObject, reportOf } from '../git/raw-push.js';
import { type CallOptions, packBody, type Service, type ServiceResponse } from '../service.js';

const REPO = 'team/app';
export const ZERO = '0'.repeat(40);
/**
 * Files in the test's repository. Each commit writes its nonce (unique text) into all of them, so that a reader can
 * recognize a mixture of two commits.
 */
export const FILES = Array.from({ length: 8 }, (_, n) => `${n % 2 === 0 ? 'x' : 'y'}-${n}.txt`);

/** Clients of one service. They record their calls on refs with the time before and after each call. */
export class RecordedClients {
  readonly events: Event[] = [];
  #nonces = 0;

  constructor(
    private readonly service: Service,
    private readonly token: string,
    private readonly random: (below: number) => number,
  ) {}

  nonce(): string {
    this.#nonces += 1;
    return `nonce-${this.#nonces}`;
  }

  #call(method: string, target: string, options: Pick<CallOptions, 'json' | 'body'> = {}) {
    return this.service.call(method, target, { token: this.token, ...options });
  }

  #write(ref: string, start: number, write: Pick<Write, 'outcome' | 'old' | 'new'>): void {
    this.events.push({ kind: 'write', ref, start, end: performance.now(), ...write });
  }

  async readBranch(branch: string): Promise<string> {
    const start = performance.now();
    const { json } = await this.#call('GET', `/api/v1/repos/branch?name=${branch}`);
    const value: string = json.branch.head_sha;
    this.events.push({ kind: 'read', ref: `refs/heads/${branch}`, value, start, end: performance.now() });
    return value;
  }

  /** Reads all refs with one request, as git does before a push. Records the values. */
  async readAdvertisement(refs: readonly string[]): Promise<Map<string, string>> {
    const start = performance.now();
    const response = await this.#call('GET', `/${REPO}.git/info/refs?service=git-receive-pack`);
    const end = performance.now();
    const shown = new Map<string, string>();
    for (const [, oid, ref] of response.text.matchAll(/([0-9a-f]{40}) (refs\/[^\0\n]+)/g)) shown.set(ref!, oid!);
    for (const ref of refs) {
      const read: Read = { kind: 'read', ref, value: shown.get(ref) ?? ZERO, start, end };
      this.events.push(read);
    }
    return shown;
  }

  /**
   * Creates a commit through the API and records the outcome. If `expected` is undefined, the branch may have any tip.
   */
  async commitPack(branch: string, expected: string | undefined): Promise<void> {
    const nonce = this.nonce();
    const files = Object.fromEntries(FILES.map((path) => [path, `${nonce}\n`]));
    const metadata = { target_branch: branch, commit_message: nonce, ...(expected && { expected_head_sha: expected }) };
    const start = performance.now();
    const response = await this.#call('POST', '/api/v1/repos/commit-pack', { body: packBody(files, metadata) });
    this.#recordResult(`refs/heads/${branch}`, start, response, expected);
  }

  async restore(branch: string, target: string, expected: string): Promise<void> {
    const metadata = {
      target_branch: branch,
      target_commit_sha: target,
      expected_head_sha: expected,
      commit_message: this.nonce(),
      author: { name: 'A', email: 'a@x' },
    };
    const start = performance.now();
    const response = await this.#call('POST', '/api/v1/repos/restore-commit', { json: { metadata } });
    // Do not record a conflict. This 409 refuses a restore that would not change the branch's content.
    if (response.status === 409 && response.json.result.old_sha === '') return;
    this.#recordResult(`refs/heads/${branch}`, start, response, expected);
  }

  #recordResult(ref: string, start: number, response: ServiceResponse, expected: string | undefined): void {
    const { status, json, text } = response;
    if (status === 201) this.#write(ref, start, { outcome: 'ok', old: json.result.old_sha, new: json.result.new_sha });
    else if (status === 409 && expected) this.#write(ref, start, { outcome: 'fail', old: expected, new: '' });
    else throw new Error(`${ref}: ${status} ${text}`);
  }

  async note(target: string, expected: string): Promise<string> {
    const ref = 'refs/notes/commits';
    const start = performance.now();
    const json = { sha: target, action: 'append', note: this.nonce(), expected_ref_sha: expected };
    const response = await this.#call('POST', '/api/v1/repos/notes', { json });
    const body = response.json;
    if (response.status === 201) {
      this.#write(ref, start, { outcome: 'ok', old: body.base_commit, new: body.new_ref_sha });
      return body.new_ref_sha;
    }
    if (response.status !== 409) throw new Error(`note: ${response.status} ${response.text}`);
    this.#write(ref, start, { outcome: 'fail', old: expected, new: '' });
    return body.result === undefined ? expected : body.base_commit;
  }

  /**
   * Pushes one commit to all of `refs`. Each ref must be at `old`. If `cut` is true, the connection may end inside the
   * body.
   */
  async push(refs: readonly string[], old: string, cut: boolean): Promise<void> {
    const objects = commitObjects(this.nonce(), old);
    const made = oidOf(objects[0]!);
    const capabilities = refs.length > 1 ? 'report-status atomic' : 'report-status';
    const body = pushBody(
      refs.map((ref) => ({ ref, old, new: made })),
      packOf(objects),
      capabilities,
    );
    const start = performance.now();
    const length = cut ? this.random(body.length + 1) : body.length;
    try {
      const response = await pushRaw(this.service, REPO, cut ? cutAt(body, length) : body, { token: this.token });
      const report = reportOf(response);
      if (report[0] !== 'unpack ok') throw new Error(report.join());
      for (const ref of refs) {
        const isDone = report.includes(`ok ${ref}`);
        this.#write(ref, start, { outcome: isDone ? 'ok' : 'fail', old, new: made });
      }
    } catch (error) {
      if (!cut) throw error;
      for (const ref of refs) this.#write(ref, start, { outcome: 'info', old, new: made });
    }
  }

  /** Begins to send a commit through the API, and disconnects inside the body. The commit must not take effect. */
  async abortCommitPack(branch: string): Promise<void> {
    const body = Buffer.from(
      packBody({ [FILES[0]!]: 'aborted' }, { target_branch: branch, commit_message: 'aborted' }),
    );
    await this.#call('POST', '/api/v1/repos/commit-pack', { body: cutAt(body, this.random(body.length)) }).then(
      ({ status }) => {
        if (status === 201) throw new Error('a cut body was taken');
      },
      () => undefined,
    );
  }

  /**
   * Returns the nonces (unique texts of commits) in one response about a branch. If there are several, the response
   * mixes two commits.
   */
  async noncesOf(branch: string, way: 'grep' | 'archive' | 'files'): Promise<Set<string>> {
    if (way === 'grep') {
      const json = { ref: branch, query: { pattern: 'nonce-[0-9]+' } };
      const response = await this.#call('POST', '/api/v1/repos/grep', { json });
      return noncesIn(response.text);
    }
    if (way === 'archive') {
      const { gunzipSync } = await import('node:zlib');
      const response = await this.#call('POST', '/api/v1/repos/archive', { json: { ref: branch } });
      return noncesIn(gunzipSync(response.bytes).toString('latin1'));
    }
    const { json } = await this.#call('GET', `/api/v1/repos/files/metadata?ref=${branch}`);
    // Each commit changes every file. All files must therefore show the same last commit.
    return new Set(json.files.map((file: { last_commit_sha: string }) => file.last_commit_sha));
  }
}

function noncesIn(text: string): Set<string> {
  return new Set(text.match(/nonce-\d+/g) ?? []);
}

async function* cutAt(body: Buffer, length: number): AsyncIterable<Buffer> {
  yield body.subarray(0, length);
  await new Promise((resolve) => setImmediate(resolve));
  throw new Error('cut');
}

/** Returns a commit that writes `nonce` into every file, with its tree and its blob. */
export function commitObjects(nonce: string, parent: string): [RawObject, RawObject, RawObject] {
  const blob: RawObject = { type: 'blob', body: Buffer.from(`${nonce}\n`) };
  const oid = Buffer.from(oidOf(blob), 'hex');
  const entries = FILES.toSorted().flatMap((name) => [Buffer.from(`100644 ${name}\0`), oid]);
  const tree: RawObject = { type: 'tree', body: Buffer.concat(entries) };
  const who = 'A <a@x> 1700000000 +0000';
  const lines = [`tree ${oidOf(tree)}`, ...(parent === ZERO ? [] : [`parent ${parent}`]), `author ${who}`];
  const body = Buffer.from(`${lines.join('\n')}\ncommitter ${who}\n\n${nonce}\n`);
  return [{ type: 'commit', body }, tree, blob];
}
