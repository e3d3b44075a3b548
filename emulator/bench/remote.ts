import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { defaultFixtureKey } from '../auth/fixture-keys.js';
import { mintToken } from '../auth/mint.js';
import { bytesOf } from '../git/object/bytes.js';
import type { Oid } from '../git/object/object.js';
import { FLUSH, packet } from '../smart-http/pkt-line.js';
import { packageFile } from '../system/package-root.js';
import type { Fixture, Ref } from './fixture.js';
import { type BenchResponse, HttpClient, type ResponseOptions } from './http-client.js';
import { timed } from './row.js';

const SCOPES = ['git:read', 'git:write', 'repo:write', 'org:read'];

interface ApiOptions extends ResponseOptions {
  readonly json?: unknown;
}

/** A pack, and the commit in it that `main` will point at. */
export interface Pushed {
  readonly oid: Oid;
  readonly pack: Buffer;
}

/** A server of Git remotes: the emulator, or Git behind CGI. */
export class Remote implements AsyncDisposable {
  readonly client: HttpClient;
  readonly #tokens = new Map<string, Promise<string>>();

  constructor(readonly origin: string) {
    this.client = new HttpClient(origin);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client[Symbol.dispose]();
  }

  /** Returns a token with every scope for a repository. The CGI server accepts it as any password. */
  token(repo: string): Promise<string> {
    const minted = this.#tokens.get(repo) ?? mintFor(repo);
    this.#tokens.set(repo, minted);
    return minted;
  }

  /** Returns the URL of the remote with the password, for the git client. */
  async url(repo: string): Promise<string> {
    return `${this.origin.replace('://', `://t:${await this.token(repo)}@`)}/${repo}.git`;
  }

  /** Requests `info/refs`, `git-upload-pack` or `git-receive-pack` in protocol version 2. Throws unless it succeeds. */
  async git(repo: string, service: string, options: ResponseOptions = {}): Promise<BenchResponse> {
    const [name] = service.split('?');
    const password = Buffer.from(`t:${await this.token(repo)}`).toString('base64');
    const headers = {
      authorization: `Basic ${password}`,
      'git-protocol': 'version=2',
      ...(options.body && { 'content-type': `application/x-${name}-request` }),
    };
    return succeeded(service, await this.client.request(`/${repo}.git/${service}`, { ...options, headers }));
  }

  /** Calls an API operation on a repository, by its path after the repository's own. Accepts any status. */
  api(repo: string, path: string, options: ApiOptions = {}): Promise<BenchResponse> {
    return this.#send(repo, `/api/repos/${repo}${path}`, options);
  }

  /** Calls an API operation on a repository. Throws unless it succeeds. */
  async change(repo: string, path: string, options: ApiOptions): Promise<BenchResponse> {
    return succeeded(path, await this.api(repo, path, { keepsBody: true, ...options }));
  }

  async #send(repo: string, target: string, { json, ...options }: ApiOptions): Promise<BenchResponse> {
    const authorization = `Bearer ${await this.token(repo)}`;
    const headers = { authorization, 'content-type': 'application/json', ...options.headers };
    return this.client.request(target, { ...options, headers, ...(json !== undefined && { body: jsonBody(json) }) });
  }

  /** Returns the JSON response of an admin route. Throws for an error. */
  async admin<T>(method: string, path: string, json?: unknown): Promise<T> {
    const body = json !== undefined && { headers: { 'content-type': 'application/json' }, body: jsonBody(json) };
    const response = succeeded(
      path,
      await this.client.request(`/_emulator/${path}`, { method, keepsBody: true, ...body }),
    );
    return response.length === 0 ? (undefined as T) : JSON.parse(response.body.toString());
  }

  /** Returns the id of a new namespace or snapshot, and the milliseconds it took. */
  async add(path: string, json?: unknown): Promise<{ readonly id: string; readonly time: number }> {
    let id = '';
    const time = await timed(async () => ({ id } = await this.admin<{ id: string }>('POST', path, json)));
    return { id, time };
  }

  /** Creates a repository and pushes a fixture to it as one pack, without a git client. */
  async seed(repo: string, fixture: Fixture): Promise<void> {
    await this.create(repo, fixture.branch);
    await this.#push(repo, fixture.refs, await readFile(fixture.packFile));
  }

  async create(repo: string, branch = 'main'): Promise<void> {
    succeeded(repo, await this.#send(repo, '/api/repos', { json: { default_branch: branch }, keepsBody: true }));
  }

  async delete(repo: string): Promise<void> {
    await this.api(repo, '', { method: 'DELETE' });
    this.#tokens.delete(repo);
  }

  pushMain(repo: string, { oid, pack }: Pushed): Promise<void> {
    return this.#push(repo, [{ name: 'refs/heads/main', oid }], pack);
  }

  /** gitprotocol-pack, "Reference Update Request": the commands, a flush, the pack. */
  async #push(repo: string, refs: readonly Ref[], pack: Buffer): Promise<void> {
    const lines = refs.map(({ name, oid }, index) =>
      packet(bytesOf(`${'0'.repeat(40)} ${oid} ${name}${index === 0 ? '\0report-status object-format=sha1' : ''}\n`)),
    );
    const response = await this.git(repo, 'git-receive-pack', { body: [...lines, FLUSH, pack], keepsBody: true });
    const report = response.body.toString('latin1');
    if (!report.includes('unpack ok') || report.includes('ng ')) throw new Error(`${repo} refused the push: ${report}`);
  }
}

/** Returns a successful response. Throws for an error status. */
export function succeeded(path: string, response: BenchResponse): BenchResponse {
  if (response.status >= 200 && response.status < 300) return response;
  throw new Error(`${path} was answered with ${response.status}: ${response.body.toString('utf8', 0, 1000)}`);
}

function jsonBody(json: unknown): Buffer[] {
  return [Buffer.from(JSON.stringify(json))];
}

function mintFor(repo: string): Promise<string> {
  const privateKeyPem = readFileSync(defaultFixtureKey().privateKeyFile, 'utf8');
  return mintToken({ privateKeyPem, org: 'demo', repo, scopes: SCOPES });
}

/** A server in a separate process, which has reported its address. Disposing ends the process. */
export class Server extends Remote {
  constructor(
    origin: string,
    readonly child: ChildProcess,
  ) {
    super(origin);
  }

  get port(): number {
    return Number(new URL(this.origin).port);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]();
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exit = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await exit;
  }
}

/** Returns a line of proc_pid_status(5), in KB; NaN on systems without it. */
export async function memoryOf({ pid }: ChildProcess, name: 'VmHWM' | 'VmRSS'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? Number.NaN);
}

/** Starts the emulator as its users do. */
export function spawnEmulator(flags: readonly string[] = [], nodeFlags: readonly string[] = []): Promise<Server> {
  const program = packageFile('bin/emulator.js');
  return spawnServer([...nodeFlags, program, 'start', '--port', '0', '--log', 'quiet', ...flags]);
}

/** Starts a peer from `servers/`, by the name of its file. */
export function spawnPeer(name: 'bare' | 'cgi', ...args: string[]): Promise<Server> {
  return spawnServer([fileURLToPath(new URL(`./servers/${name}.js`, import.meta.url)), ...args]);
}

/** Starts Node and waits for its first line: JSON with `base_url`. */
async function spawnServer(args: readonly string[]): Promise<Server> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  // A failed run must not leave a process behind.
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout! }), 'line'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`${args.join(' ')} ended with ${code}`))),
  ])) as [string];
  return new Server((JSON.parse(line) as { base_url: string }).base_url, child);
}
