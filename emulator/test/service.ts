import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { Pool } from 'undici';
import { operations } from '../api/index.js';
import { fixtureKeys } from '../auth/fixture-keys.js';
import { mintToken, type TokenRequest } from '../auth/mint.js';
import { type GivenOptions, resolveOptions } from '../config/options.js';
import { createEmulator, type Emulator } from '../library/emulator.js';
import { startServer } from '../server/server.js';
import type { CurrentWorld } from '../world/current-world.js';
import type { ProcessPorts } from '../world/process-resources.js';
import type { World } from '../world/world.js';

/** Running emulator, with functions that use it like a client: by HTTP requests with signed tokens. */
export interface Service {
  readonly emulator: Emulator;
  /**
   * The world in which new requests begin. A world is the whole state of the emulator. Tests use it to check state that
   * clients cannot see.
   */
  readonly world: World;
  readonly current: CurrentWorld;
  readonly url: string;
  token(request?: Partial<TokenRequest> & { key?: string }): Promise<string>;
  /**
   * Sends a request without normalizing its target. Unless `token` is given, the request has a token for `repo` with
   * all scopes.
   */
  call(method: string, target: string, options?: CallOptions): Promise<ServiceResponse>;
  /**
   * Returns a repository's URL for git, with a token as password. `path` is the part of the URL before `.git`. By
   * default, it is the repository name.
   */
  remote(repo: string, options?: Partial<TokenRequest> & { key?: string; path?: string }): Promise<string>;
  /** Creates a repository and commits `files` to its default branch. Resolves to the id of the commit. */
  seed(repo: string, files?: Record<string, string | Buffer>): Promise<string>;
  commit(
    repo: string,
    files: Record<string, string | Buffer | null>,
    metadata?: Record<string, unknown>,
  ): Promise<ServiceResponse>;
}

export interface CallOptions {
  readonly repo?: string;
  readonly token?: string | null;
  readonly scopes?: readonly string[];
  readonly headers?: Record<string, string>;
  readonly json?: unknown;
  readonly body?: string | Buffer | AsyncIterable<Buffer>;
}

export interface ServiceResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly bytes: Buffer;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever members it expects
  readonly json: any;
}

const ALL = ['git:read', 'git:write', 'repo:write', 'org:read'];

export async function startService(options: GivenOptions = {}, ports: ProcessPorts = {}): Promise<Service> {
  const server = await startServer(resolveOptions({ ...options, port: 0 }), operations, ports);
  const emulator = createEmulator(server);
  const url = emulator.baseUrl;
  const keys = fixtureKeys();

  const mint: Service['token'] = ({ key = 'es256', ...rest } = {}) => {
    const privateKeyPem = readFileSync(keys.find(({ id }) => id === key)!.privateKeyFile, 'utf8');
    return mintToken({ privateKeyPem, org: emulator.org, scopes: ALL, now: emulator.clock.now(), ...rest });
  };
  // Reuse each token until it expires, as clients do. The default lifetime is one year.
  const minted = new Map<string, Promise<string>>();
  const token: Service['token'] = (request = {}) => {
    if (request.now !== undefined || request.ttl !== undefined) return mint(request);
    const wanted = JSON.stringify(Object.entries(request));
    const known = minted.get(wanted) ?? mint(request);
    minted.set(wanted, known);
    return known;
  };

  const call = callerOf(url, token);

  const remote: Service['remote'] = async (repo, { path = repo, ...request } = {}) =>
    `${emulator.gitUrl.replace('://', `://t:${await token({ repo, ...request })}@`)}/${path}.git`;

  const commit: Service['commit'] = (repo, files, metadata = {}) =>
    call('POST', '/api/v1/repos/commit-pack', { repo, body: packBody(files, metadata) });

  const seed: Service['seed'] = async (repo, files = { 'README.md': 'hello\n' }) => {
    const created = await call('POST', '/api/repos', { repo });
    if (created.status > 299) throw new Error(`creating the repository returned ${created.status}: ${created.text}`);
    const written = await commit(repo, files);
    if (written.status !== 201) throw new Error(`commit-pack returned ${written.status}: ${written.text}`);
    return written.json.commit.commit_sha;
  };

  return {
    emulator,
    get world() {
      return server.current.world;
    },
    current: server.current,
    url,
    token,
    call,
    remote,
    seed,
    commit,
  };
}

/**
 * Returns a function that sends requests to the emulator at `url`. A request gets its token from `token`, unless its
 * options contain one.
 */
export function callerOf(url: string, token: Service['token']): Service['call'] {
  const pool = new Pool(url);
  return async (method, target, options = {}) => {
    const { repo = 'team/app', scopes = ALL } = options;
    const bearer = options.token === undefined ? await token({ repo, scopes }) : options.token;
    const headers: Record<string, string> = { ...options.headers };
    if (bearer !== null) headers.authorization = `Bearer ${bearer}`;
    if (options.json !== undefined) headers['content-type'] ??= 'application/json';
    const body = options.json === undefined ? options.body : JSON.stringify(options.json);
    const response = await pool.request({
      // Send the target unchanged. A client that normalizes paths would hide the tested behaviour.
      path: target,
      method: method as 'GET',
      headers,
      body:
        body instanceof Buffer || typeof body === 'string' || body === undefined ? (body ?? null) : Readable.from(body),
    });
    const bytes = Buffer.from(await response.body.arrayBuffer());
    const text = bytes.toString();
    const isJson = String(response.headers['content-type'] ?? '').includes('json');
    return {
      status: response.statusCode,
      headers: response.headers as Record<string, string>,
      bytes,
      text,
      json: isJson && text !== '' ? JSON.parse(text) : undefined,
    };
  };
}

/** Returns a commit-pack body, which creates a commit with these files. The content `null` deletes the file. */
export function packBody(
  files: Record<string, string | Buffer | null>,
  metadata: Record<string, unknown> = {},
): string {
  const entries = Object.entries(files);
  const lines: unknown[] = [
    {
      metadata: {
        target_branch: 'main',
        commit_message: 'Change files',
        author: { name: 'Ada', email: 'ada@example.com' },
        files: entries.map(([path, content], index) => ({
          path,
          content_id: `c${index}`,
          operation: content === null ? 'delete' : 'upsert',
        })),
        ...metadata,
      },
    },
  ];
  for (const [index, [, content]] of entries.entries()) {
    if (content === null) continue;
    const data = Buffer.from(content as string).toString('base64');
    lines.push({ blob_chunk: { content_id: `c${index}`, data, eof: true } });
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}
