import type { FsckPolicy } from '../git/fsck/fsck.js';
import { MemoryCache } from '../git/memory/memory-cache.js';
import type { GitRepository } from '../git/repository/repository.js';
import { problem } from '../http/problem.js';
import { bytes, type Reply, stream } from '../http/reply.js';
import { advertise, type Service } from './advertise.js';
import { type ProtocolVersion, protocolVersion, type ServerIdentity } from './capabilities.js';
import { PackCache } from './pack-cache.js';
import { PackSender } from './pack-sender.js';
import { type ReceivePackExchange, receivePack } from './receive-pack.js';
import { RefListings } from './ref-listings.js';
import { decodeBody } from './request-body.js';
import { uploadPack } from './upload-pack.js';
import type { RepositoryView } from './view.js';
import { DEFAULT_WIRE_LIMITS, type WireLimits } from './wire-limits.js';

/** gitprotocol-http: the headers that keep caches from answering in our place, as `git http-backend` words them. */
export const NO_CACHE: Readonly<Record<string, string>> = {
  expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
  pragma: 'no-cache',
  'cache-control': 'no-cache, max-age=0, must-revalidate',
};

export interface GitServiceOptions {
  /** `name/version`, shown to clients. */
  readonly agent: string;
  readonly fsck: FsckPolicy;
  readonly limits?: Partial<WireLimits>;
  /** Where finished packs are kept, with all else that is kept only to be fast. */
  readonly cache?: MemoryCache;
}

/** What the two services need of an HTTP request. Header names are lower-case. */
export interface GitRequest {
  header(name: string): string | undefined;
  /** The body as it arrives; throws past `most` bytes. */
  body(most: number): AsyncIterable<Uint8Array>;
  readonly signal?: AbortSignal;
  /** A new id for a conversation. */
  sessionId(): string;
}

export type PushHooks = Pick<ReceivePackExchange, 'policy' | 'onUpdated'>;

/** Git's smart HTTP, with what is worth keeping from one request to the next. Knows nothing of tokens and names. */
export class GitService {
  readonly limits: WireLimits;
  readonly #options: GitServiceOptions;
  readonly #listings = new RefListings();
  readonly packs: PackCache;
  readonly #sender: PackSender;

  constructor(options: GitServiceOptions) {
    this.#options = options;
    this.limits = { ...DEFAULT_WIRE_LIMITS, ...options.limits };
    const { packCacheBytes } = this.limits;
    this.packs = new PackCache(options.cache ?? new MemoryCache(packCacheBytes), packCacheBytes);
    this.#sender = new PackSender(this.packs, this.#listings);
  }

  /** `GET info/refs?service=` */
  async infoRefs(view: RepositoryView, service: Service, request: GitRequest): Promise<Reply> {
    const identity: ServerIdentity = { agent: this.#options.agent, sessionId: request.sessionId() };
    const body = await advertise(view, service, versionOf(request), identity, this.#listings);
    return bytes(200, body, { 'content-type': `application/x-${service}-advertisement`, ...NO_CACHE });
  }

  /** `POST git-upload-pack` */
  async uploadPack(view: RepositoryView, request: GitRequest): Promise<Reply> {
    const { limits } = this;
    const body = this.#bodyOf(request, 'git-upload-pack', limits.fetchBytes);
    const answer = await uploadPack({
      view,
      version: versionOf(request),
      body,
      limits,
      listings: this.#listings,
      packs: this.#sender,
      signal: () => request.signal,
    });
    const headers = resultHeaders('git-upload-pack');
    return Buffer.isBuffer(answer) ? bytes(200, answer, headers) : stream(200, answer, headers);
  }

  /** `POST git-receive-pack` */
  async receivePack(view: RepositoryView, request: GitRequest, hooks: PushHooks = {}): Promise<Reply> {
    const { limits } = this;
    // Room for the commands: the pack alone is held to the limit, and gets the better message.
    const body = this.#bodyOf(request, 'git-receive-pack', 2 * limits.pushBytes);
    const report = await receivePack({ view, body, limits, fsck: this.#options.fsck, ...hooks });
    return bytes(200, report, resultHeaders('git-receive-pack'));
  }

  /** Lets go of what is kept for a repository that is no more. */
  forget(repository: GitRepository): void {
    this.packs.forget(repository);
  }

  /** The decoded body; throws `unsupported_media_type` for another content type, in the words of `git http-backend`. */
  #bodyOf(request: GitRequest, service: Service, most: number): AsyncIterable<Uint8Array> {
    const expected = `application/x-${service}-request`;
    const actual = request.header('content-type') ?? '';
    if (actual !== expected) {
      const detail = `Expected POST with Content-Type '${expected}', but received '${actual}' instead.`;
      throw problem('unsupported_media_type', detail, { headers: NO_CACHE });
    }
    return decodeBody(request.body(most), request.header('content-encoding'), most);
  }
}

function versionOf(request: GitRequest): ProtocolVersion {
  return protocolVersion(request.header('git-protocol'));
}

function resultHeaders(service: Service): Readonly<Record<string, string>> {
  return { 'content-type': `application/x-${service}-result`, ...NO_CACHE };
}
