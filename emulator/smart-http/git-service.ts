import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { GitFacts as FaultFacts } from '../faults/request-facts.js';
import type { FsckPolicy } from '../git/fsck/fsck.js';
import { bytesOf, textOf } from '../git/object/bytes.js';
import type { RefChange } from '../git/refs/ref-change.js';
import type { GitRepository } from '../git/repository/repository.js';
import { problem } from '../http/problem.js';
import { bytes, type Reply, stream } from '../http/reply.js';
import { advertise, type Service } from './advertise.js';
import { type ProtocolVersion, protocolVersion, type ServerIdentity } from './capabilities.js';
import type { PackRequest, UploadPackResponse } from './fetch-request.js';
import { type GitFacts, gitFacts } from './git-facts.js';
import { breakPackets, breakReportReply, type GitFaults, takeStageFaults, type WireFaults } from './git-faults.js';
import { type PackCache, PackSender } from './pack-sender.js';
import { errorPacket, FLUSH, PacketReader, ProtocolError, packet } from './pkt-line.js';
import { receivePack, type UpdateHook } from './receive-pack.js';
import { RefListings } from './ref-listings.js';
import { uploadPackV0 } from './upload-pack-v0.js';
import { uploadPackV2 } from './upload-pack-v2.js';
import { type RepositoryView, visibleRefs } from './view.js';
import { FIXED_WIRE_LIMITS, type WireLimits } from './wire-limits.js';

/**
 * Response headers that prevent caching, as gitprotocol-http requires. Their values are those of `git http-backend`.
 */
export const NO_CACHE: Readonly<Record<string, string>> = {
  expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
  pragma: 'no-cache',
  'cache-control': 'no-cache, max-age=0, must-revalidate',
};

export interface GitServiceOptions {
  /** Value of the capability `agent` that clients receive: `name/version`. */
  readonly agent: string;
  readonly fsck: FsckPolicy;
  readonly limits: Pick<WireLimits, 'pushBytes'> & Partial<WireLimits>;
  /** Cache of completely sent packs. Several services can share one. */
  readonly packs: PackCache;
}

/**
 * Parts of an HTTP request that the Git services (fetch and push) use. The context of the request handlers implements
 * this interface. Header names are in lower case.
 */
export interface GitRequest {
  header(name: string): string | undefined;
  /** Returns the request body as a stream. The stream throws an error if the body exceeds `maxBytes`. */
  stream(maxBytes: number): AsyncIterable<Uint8Array>;
  /**
   * Called once with the object that collects facts about the request. The object is filled in while the request is
   * processed.
   */
  recordGitFacts?(facts: GitFacts): void;
  /** Signal that is aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Faults (errors and delays) that a test injects into this request. Undefined for almost all requests. */
  readonly gitFaults?: GitFaults | undefined;
}

/**
 * Result of a push: the response and the changed refs. The refs have their stored names, which include the prefix of a
 * ref namespace.
 */
export interface PushOutcome {
  readonly reply: Reply;
  readonly moved: readonly RefChange[];
}

/**
 * Implements Git's smart HTTP protocol: ref advertisement, fetch and push. All requests share its caches. Callers must
 * authenticate the client and find the repository.
 */
export class GitService {
  readonly limits: WireLimits;
  readonly #options: GitServiceOptions;
  readonly #listings = new RefListings();
  readonly packs: PackCache;
  readonly #sender: PackSender;

  constructor(options: GitServiceOptions) {
    this.#options = options;
    this.limits = { ...FIXED_WIRE_LIMITS, ...options.limits };
    this.packs = options.packs;
    this.#sender = new PackSender(this.packs, this.#listings);
  }

  /**
   * Handles `GET info/refs?service=`, with which a client starts a fetch or push. `sessionId` is the value of the
   * capability `session-id`, which identifies the request in the logs of client and server.
   */
  async infoRefs(view: RepositoryView, service: Service, request: GitRequest, sessionId: string): Promise<Reply> {
    recordFactsOf(request, 'advertise', service);
    const identity: ServerIdentity = { agent: this.#options.agent, sessionId };
    const body = await advertise(view, service, versionOf(request), identity, this.#listings);
    const reply = bytes(200, body, { 'content-type': `application/x-${service}-advertisement`, ...NO_CACHE });
    request.gitFaults?.learn({});
    const wire = await takeStageFaults(request.gitFaults, 'git.advertise');
    if (wire === undefined) return reply;
    const start = [packet(bytesOf(`# service=${service}\n`)), FLUSH];
    const errorBody = (message: string) => Buffer.concat([...start, errorPacket(message)]);
    return breakPackets(reply, wire, errorBody, view.repository.objects.schedule);
  }

  /**
   * Handles `POST git-upload-pack`. Reads the whole request before the response starts, as gitprotocol-v2 requires. A
   * response with a pack is a stream. Protocol errors of the client are reported in the response, whose status is
   * always 200. Only reading the body can throw.
   */
  async uploadPack(view: RepositoryView, request: GitRequest): Promise<Reply> {
    const { fetchBytes, lines } = this.limits;
    const reader = new PacketReader(bodyOf(request, 'git-upload-pack', fetchBytes), { packets: lines });
    const facts = recordFactsOf(request, 'rpc', 'git-upload-pack');
    const upload = { view, reader, listings: this.#listings, client: request, facts };
    const headers = resultHeaders('git-upload-pack');
    try {
      const response = await (versionOf(request) === 2 ? uploadPackV2(upload) : uploadPackV0(upload));
      const { head, pack } = response;
      const wire = request.gitFaults && (await takeUploadFaults(request.gitFaults, facts.command, response));
      if (wire?.fatal !== undefined && pack?.sideband === 'none') return bytes(200, errorPacket(wire.fatal), headers);
      if (pack !== undefined)
        return stream(200, followed(head, this.#sender.send(pack, { signal: request.signal, facts, wire })), headers);
      const reply = bytes(200, head, headers);
      return wire === undefined ? reply : breakPackets(reply, wire, errorPacket, view.repository.objects.schedule);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      facts.error = error.message;
      return bytes(200, errorPacket(error.message), headers);
    }
  }

  /**
   * Handles `POST git-receive-pack`. Calls `updateHook` with each ref update that passed Git's own checks; the hook can
   * refuse the update.
   */
  async receivePack(view: RepositoryView, request: GitRequest, updateHook?: UpdateHook): Promise<PushOutcome> {
    const { limits } = this;
    // Allows twice the limit for the whole body, because it contains ref updates before the pack. The pack alone is
    // checked against `pushBytes` later, which gives a better error message.
    const body = bodyOf(request, 'git-receive-pack', 2 * limits.pushBytes);
    const facts = recordFactsOf(request, 'rpc', 'git-receive-pack');
    const { gitFaults: faults } = request;
    const packBytes = Number(request.header('content-length') ?? 0);
    const received = { view, body, limits, fsck: this.#options.fsck, updateHook, facts, faults, packBytes };
    const result = await receivePack(received);
    const { report, moved, isDone, wire } = result;
    const success = bytes(200, report, resultHeaders('git-receive-pack'));
    const reply: Reply = isDone ? success : { ...success, isRefusal: true };
    if (wire === undefined) return { reply, moved };
    return { reply: breakReportReply(reply, wire, result.whole!, view.repository.objects.schedule), moved };
  }

  /** Removes a deleted repository's packs from the cache. */
  forget(repository: GitRepository): void {
    this.packs.forget(repository);
  }
}

/**
 * Returns the effect of the injected faults on a fetch response; undefined if no fault fires. A response that only
 * negotiates common commits has no stage, so no fault fires for it.
 */
async function takeUploadFaults(
  faults: GitFaults,
  command: GitFacts['command'],
  { listsRefs, pack }: UploadPackResponse,
): Promise<WireFaults | undefined> {
  faults.learn({ command: command as FaultFacts['command'], refs: pack && wantedRefs(pack) });
  if (listsRefs) return takeStageFaults(faults, 'git.advertise');
  return pack && takeStageFaults(faults, 'git.pack');
}

/**
 * Returns the names of the refs that point to wanted objects. The client sends only object ids, so the names can only
 * be inferred.
 */
function wantedRefs({ view, fetch: { wants } }: PackRequest): string[] {
  const wanted: string[] = [];
  for (const [name, oid] of visibleRefs(view.repository.refs, view.prefix))
    if (wants.has(oid)) wanted.push(textOf(name));
  return wanted;
}

/** Yields `head` unless it is empty, and then all of `tail`. */
async function* followed(head: Buffer, tail: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  if (head.length > 0) yield head;
  yield* tail;
}

function recordFactsOf(request: GitRequest, phase: GitFacts['phase'], service: Service): GitFacts {
  const facts = gitFacts(phase, service, versionOf(request));
  request.recordGitFacts?.(facts);
  return facts;
}

function versionOf(request: GitRequest): ProtocolVersion {
  return protocolVersion(request.header('git-protocol'));
}

function resultHeaders(service: Service): Readonly<Record<string, string>> {
  return { 'content-type': `application/x-${service}-result`, ...NO_CACHE };
}

/**
 * Returns the request body without its content encoding. Throws `unsupported_media_type`, with the message of `git
 * http-backend`, if the content type is not that of the service.
 */
function bodyOf(request: GitRequest, service: Service, max: number): AsyncIterable<Uint8Array> {
  const expected = `application/x-${service}-request`;
  const actual = request.header('content-type') ?? '';
  if (actual !== expected) {
    const detail = `Expected POST with Content-Type '${expected}', but received '${actual}' instead.`;
    throw problem('unsupported_media_type', detail, { headers: NO_CACHE });
  }
  return decodeBody(request.stream(max), request.header('content-encoding'), max);
}

/**
 * Removes the content encoding of a request body. (Git compresses fetch requests above 1 KiB.) Refuses a body that
 * inflates to more than `max` bytes before it allocates memory for it.
 */
export function decodeBody(
  body: AsyncIterable<Uint8Array>,
  encoding: string | undefined,
  max: number,
): AsyncIterable<Uint8Array> {
  switch (encoding?.trim().toLowerCase() ?? '') {
    case '':
    case 'identity':
      return bounded(body, max);
    case 'gzip':
    case 'x-gzip':
      return bounded(gunzip(body), max);
    default:
      throw problem(
        'unsupported_media_type',
        `Content-Encoding '${encoding}' is not supported. Send gzip or an uncompressed body.`,
      );
  }
}

async function* bounded(body: AsyncIterable<Uint8Array>, max: number): AsyncIterable<Uint8Array> {
  let total = 0;
  for await (const piece of body) {
    total += piece.length;
    if (total > max)
      throw problem(
        'payload_too_large',
        `The request body is larger than ${max} bytes after decompression (--max-push-bytes).`,
      );
    yield piece;
  }
}

async function* gunzip(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const inflated = createGunzip();
  // Ignores an error of the pipeline, because the loop over `inflated` throws it too.
  const ended = pipeline(Readable.from(body, { objectMode: false }), inflated).catch(() => undefined);
  try {
    yield* inflated;
  } catch (error) {
    throw isInflateError(error)
      ? problem('bad_request', 'The request body is not valid gzip, although Content-Encoding says so.')
      : error;
  } finally {
    inflated.destroy();
    await ended;
  }
}

function isInflateError(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && code.startsWith('Z_');
}
