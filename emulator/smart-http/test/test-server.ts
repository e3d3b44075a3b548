import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NO_BYTES } from '../../git/object/bytes.js';
import type { RefChange } from '../../git/refs/ref-change.js';
import type { GitRepository } from '../../git/repository/repository.js';
import { Problem } from '../../http/problem.js';
import type { Reply } from '../../http/reply.js';
import { WriteCoalescing } from '../../http/write-coalescing.js';
import { writeReply } from '../../http/write-reply.js';
import { MemoryCache } from '../../memory/memory-cache.js';
import { EPHEMERAL } from '../../repositories/branch-write.js';
import { Schedule } from '../../schedule/schedule.js';
import { serviceOf } from '../advertise.js';
import type { GitFaults } from '../git-faults.js';
import { type GitRequest, GitService, type GitServiceOptions } from '../git-service.js';
import { PackCache } from '../pack-sender.js';
import type { UpdateHook } from '../receive-pack.js';

export interface TestServerOptions extends Partial<Omit<GitServiceOptions, 'limits'>> {
  readonly limits?: Partial<GitServiceOptions['limits']>;
  readonly updateHook?: UpdateHook;
  /** Returns the faults to inject into the next request. */
  readonly faults?: () => GitFaults | undefined;
}

const WRITES = new WriteCoalescing();
const PACE = new Schedule();
const NEVER = new AbortController();

type Namespace = '' | 'ephemeral' | 'import';

/** Request that the server received. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

/**
 * Plain `node:http` server without tokens, for tests of the Git wire protocol. It serves fetches and pushes of one
 * repository.
 */
export class TestServer implements AsyncDisposable {
  readonly seen: SeenRequest[] = [];
  /** Refs that each push changed, by their stored names. */
  readonly moved: (readonly RefChange[])[] = [];
  #sessions = 0;
  readonly #server: Server;
  readonly #service: GitService;

  private constructor(
    private readonly repository: GitRepository,
    private readonly options: TestServerOptions,
  ) {
    const limits = { pushBytes: 1 << 30, ...options.limits };
    const packs = new PackCache(new MemoryCache(1 << 26));
    this.#service = new GitService({ agent: 'git/test', fsck: 'strict', packs, ...options, limits });
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(repository: GitRepository, options: TestServerOptions = {}): Promise<TestServer> {
    const server = new TestServer(repository, options);
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve));
    return server;
  }

  /** Returns the URL of a remote, which ends with `/r.git`, `/r+ephemeral.git` or `/r+import.git`. */
  url(namespace: Namespace = ''): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/r${namespace === '' ? '' : `+${namespace}`}.git`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.seen.push({ method: request.method!, url: request.url!, headers: request.headers });
    try {
      const reply = await this.#route(request, response);
      await writeReply(request, response, reply, {
        writes: WRITES,
        pace: PACE,
        stallLimits: { idleMs: 10_000, signal: NEVER.signal },
      });
    } catch (error) {
      if (response.headersSent || response.destroyed) return void response.destroy();
      if (!(error instanceof Problem)) console.error(error);
      const [status, detail] = error instanceof Problem ? [error.status, error.detail] : [500, String(error)];
      response.writeHead(status, { 'content-type': 'text/plain' }).end(`${detail}\n`);
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<Reply> {
    const url = new URL(request.url!, 'http://localhost');
    const match = /^\/r(?:\+(ephemeral|import))?\.git\/(info\/refs|git-upload-pack|git-receive-pack)$/.exec(
      url.pathname,
    );
    if (!match) return { status: 404 };
    const view = { repository: this.repository, prefix: match[1] === 'ephemeral' ? EPHEMERAL : NO_BYTES };
    const asked = requestOf(request, response, this.options.faults?.());
    if (match[2] === 'git-upload-pack') return this.#service.uploadPack(view, asked);
    if (match[2] === 'git-receive-pack') {
      const { reply, moved } = await this.#service.receivePack(view, asked, this.options.updateHook);
      this.moved.push(moved);
      return reply;
    }
    const service = serviceOf(url.searchParams.get('service') ?? undefined);
    return service ? this.#service.infoRefs(view, service, asked, `session-${++this.#sessions}`) : { status: 403 };
  }
}

function requestOf(request: IncomingMessage, response: ServerResponse, faults?: GitFaults): GitRequest {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const header = (name: string) => request.headers[name];
  return {
    header: (name) => [header(name)].flat()[0],
    stream: () => request,
    signal: gone.signal,
    gitFaults: faults,
  };
}
