import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { defaultFixtureKey } from '../auth/fixture-keys.js';
import { mintFixtureToken } from '../auth/fixture-token.js';
import type { Oid } from '../git/object/object.js';
import { packageFile } from '../system/package-root.js';
import { pushBody } from '../test/git/raw-push.js';
import type { Fixture, Ref } from './fixture.js';
import { type BenchResponse, HttpClient, type RequestOptions } from './http-client.js';

const SCOPES = ['git:read', 'git:write', 'repo:write', 'org:read'];

/** Pack to push, and the id of the commit in it. The push sets the branch `main` to this commit. */
export interface Pushed {
  readonly oid: Oid;
  readonly pack: Buffer;
}

/** Namespace or snapshot that the emulator has created. `time` is the duration of the request in milliseconds. */
interface Added {
  readonly id: string;
  readonly base_url: string;
  readonly time: number;
}

/** HTTP client for a server of Git repositories: the emulator, or `git http-backend` behind a CGI server. */
export class Remote extends HttpClient {
  readonly #tokens = new Map<string, Promise<string>>();

  /**
   * Returns an access token for a repository, valid for all operations. The CGI server accepts any password, so it
   * accepts the token too.
   */
  token(repo: string): Promise<string> {
    const minted =
      this.#tokens.get(repo) ?? mintFixtureToken(defaultFixtureKey(), { org: 'demo', repo, scopes: SCOPES });
    this.#tokens.set(repo, minted);
    return minted;
  }

  /** Returns a repository's URL for the git client, with an access token as the password. */
  async url(repo: string): Promise<string> {
    return `${this.origin.replace('://', `://t:${await this.token(repo)}@`)}/${repo}.git`;
  }

  /**
   * Sends a Git request in protocol version 2. `service` is the end of the path: `info/refs`, `git-upload-pack` or
   * `git-receive-pack`. Throws if the status is an error.
   */
  async git(repo: string, service: string, options: RequestOptions = {}): Promise<BenchResponse> {
    const [name] = service.split('?');
    const password = Buffer.from(`t:${await this.token(repo)}`).toString('base64');
    const headers = {
      authorization: `Basic ${password}`,
      'git-protocol': 'version=2',
      ...(options.body && { 'content-type': `application/x-${name}-request` }),
    };
    return succeeded(service, await this.request(`/${repo}.git/${service}`, { ...options, headers }));
  }

  /**
   * Sends an API request for a repository. `path` is appended to the repository's path. Returns the response, even if
   * its status is an error.
   */
  async api(repo: string, path: string, options: RequestOptions = {}): Promise<BenchResponse> {
    const headers = { authorization: `Bearer ${await this.token(repo)}`, ...options.headers };
    return this.request(`/api/repos/${repo}${path}`, { ...options, headers });
  }

  /** Sends an API request for a repository and returns the response with its body. Throws if the status is an error. */
  async change(repo: string, path: string, options: RequestOptions): Promise<BenchResponse> {
    return succeeded(path, await this.api(repo, path, { keepsBody: true, ...options }));
  }

  /**
   * Sends a request to an admin route of the emulator. Returns the parsed JSON response; undefined if the response has
   * no body. Throws if the status is an error.
   */
  async admin<T>(method: string, path: string, json?: unknown): Promise<T> {
    const response = succeeded(path, await this.request(`/_emulator/${path}`, { method, keepsBody: true, json }));
    return response.length === 0 ? (undefined as T) : JSON.parse(response.body.toString());
  }

  /**
   * Creates a namespace (isolated copy of the emulator's data) or a snapshot (saved state). Measures the time that the
   * emulator takes.
   */
  async add(path: 'namespaces' | 'snapshots', json?: unknown): Promise<Added> {
    const start = performance.now();
    const added = await this.admin<Added>('POST', path, json);
    return { ...added, time: performance.now() - start };
  }

  /**
   * Creates a repository and pushes all refs of a fixture to it as one pack. Sends the requests itself, without a git
   * client.
   */
  async seed(repo: string, fixture: Fixture): Promise<void> {
    await this.create(repo, fixture.branch);
    await this.#push(repo, fixture.refs, await readFile(fixture.packFile));
  }

  async create(repo: string, branch = 'main'): Promise<void> {
    const headers = { authorization: `Bearer ${await this.token(repo)}` };
    const json = { default_branch: branch };
    succeeded(repo, await this.request('/api/repos', { headers, json, keepsBody: true }));
  }

  async delete(repo: string): Promise<void> {
    await this.api(repo, '', { method: 'DELETE' });
    this.#tokens.delete(repo);
  }

  /** Pushes a commit to the branch `main`, whose tip is `old`. If `old` is absent, the push creates the branch. */
  pushMain(repo: string, { oid, pack }: Pushed, old?: Oid): Promise<void> {
    return this.#push(repo, [{ name: 'refs/heads/main', oid }], pack, old);
  }

  async #push(repo: string, refs: readonly Ref[], pack: Buffer, old = '0'.repeat(40)): Promise<void> {
    const commands = refs.map(({ name, oid }) => ({ ref: name, old, new: oid }));
    const body = [pushBody(commands, Buffer.alloc(0), 'report-status object-format=sha1'), pack];
    const report = (await this.git(repo, 'git-receive-pack', { body, keepsBody: true })).body.toString('latin1');
    if (!report.includes('unpack ok') || report.includes('ng ')) throw new Error(`${repo} refused the push: ${report}`);
  }
}

/** Returns the response if its status is 2xx. Otherwise throws an error with the path and the body. */
export function succeeded(path: string, response: BenchResponse): BenchResponse {
  if (response.status >= 200 && response.status < 300) return response;
  throw new Error(`${path} was answered with ${response.status}: ${response.body.toString('utf8', 0, 1000)}`);
}

/** HTTP client for a server that runs in a child process and is ready. Disposal ends the child process. */
export class Server extends Remote {
  constructor(
    origin: string,
    readonly child: ChildProcess,
  ) {
    super(origin);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exit = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await exit;
  }
}

/**
 * Returns the resident memory of a process in KB (`VmRSS`), or its maximum so far (`VmHWM`). Reads the file
 * /proc/PID/status (proc_pid_status(5)); NaN on systems without it.
 */
export async function memoryOf({ pid }: ChildProcess, name: 'VmHWM' | 'VmRSS'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? Number.NaN);
}

/** Starts the emulator with its command-line program, as users do, on a free port. */
export function spawnEmulator(flags: readonly string[] = [], nodeFlags: readonly string[] = []): Promise<Server> {
  const program = packageFile('bin/emulator.js');
  return spawnServer([...nodeFlags, program, 'start', '--port', '0', '--log', 'quiet', ...flags]);
}

/** Starts a server to compare the emulator with. `name` is a script in the folder `servers`. */
export function spawnPeer(name: 'bare' | 'cgi', ...args: string[]): Promise<Server> {
  return spawnServer([fileURLToPath(new URL(`./servers/${name}.js`, import.meta.url)), ...args]);
}

/**
 * Starts a server in a Node process. Waits for its first line of output, which is JSON with the server's URL in
 * `base_url`.
 */
async function spawnServer(args: readonly string[]): Promise<Server> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  // Kills the server when this process exits, so that a failed run leaves no server running.
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout! }), 'line'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`${args.join(' ')} ended with ${code}`))),
  ])) as [string];
  return new Server((JSON.parse(line) as { base_url: string }).base_url, child);
}
