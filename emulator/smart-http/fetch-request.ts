import { type ByteString, bytesOf, concatBytes, latin1, NO_BYTES, sliceBytes } from '../git/object/bytes.js';
import { COMMIT, isOid, type Oid } from '../git/object/object.js';
import { findCommits } from '../git/object/tag.js';
import type { GitRepository } from '../git/repository/repository.js';
import { NothingSelected, type ShallowBoundary } from '../git/revwalk/depth.js';
import { FilterError, type ObjectFilter, parseFilter } from '../git/revwalk/filter.js';
import { Meter } from '../schedule/meter.js';
import { runYielding } from '../schedule/steps.js';
import type { GitFacts } from './git-facts.js';
import { type PacketReader, ProtocolError, packetText, type Sideband } from './pkt-line.js';
import type { RefListings } from './ref-listings.js';
import { type RepositoryView, resolveVisible, visibleTips } from './view.js';

/** Everything needed to handle one `POST git-upload-pack` request. */
export interface UploadPackRequest {
  readonly view: RepositoryView;
  readonly reader: PacketReader;
  readonly listings: RefListings;
  /**
   * Provides the signal that is aborted when the client disconnects. Read it only when long work starts, because
   * listening for a disconnect is costly.
   */
  readonly client: { readonly signal: AbortSignal };
  readonly facts: GitFacts;
}

export interface UploadPackResponse {
  /** Packets of the response before the pack. If there is no pack, this is the whole response. */
  readonly head: Buffer;
  /** True if `head` lists refs, as in the response to `ls-refs` in version 2. */
  readonly listsRefs?: true;
  /** Pack that is sent after `head`; undefined if the response contains no pack. */
  readonly pack?: PackRequest;
}

/** Empty response to a request that asks for nothing. */
export const NO_ANSWER: UploadPackResponse = { head: Buffer.alloc(0) };

/**
 * Pack to send: the fetch request, the objects that the client has (`haves`), and the shallow boundary that the
 * client's history will have.
 */
export interface PackRequest {
  readonly view: RepositoryView;
  readonly fetch: FetchRequest;
  readonly haves: ReadonlySet<Oid>;
  readonly boundary: ShallowBoundary;
  readonly sideband: Sideband;
}

/** Content of a fetch request, in a form common to all protocol versions. */
export interface FetchRequest {
  readonly wants: Set<Oid>;
  /**
   * Refs from `want-ref` lines: the name as the client sees it, and the object id of the ref when the line was read.
   */
  readonly wantedRefs: Map<ByteString, Oid>;
  readonly depth: DepthRequest;
  filter?: ObjectFilter;
  /** Capabilities (version 0), or arguments without a value (version 2), that the client chose. */
  readonly flags: Set<string>;
}

export interface DepthRequest {
  /**
   * Shallow commits of the client that exist in this repository. The client has these commits without their parents.
   */
  readonly clientShallow: Set<Oid>;
  /** Number of commits of history to send (`deepen <n>`); 0 if not requested. */
  depth: number;
  /** Time in seconds since 1970 (`deepen-since`); undefined if not requested. Earlier commits are not sent. */
  since?: number;
  /** Commits to which the refs in `deepen-not` lines point. Commits reachable from them are not sent. */
  readonly not: Set<Oid>;
}

/** Returns an empty fetch request, to which parsed lines can be added. */
export function emptyRequest(): FetchRequest {
  return {
    wants: new Set(),
    wantedRefs: new Map(),
    depth: { clientShallow: new Set(), depth: 0, not: new Set() },
    flags: new Set(),
  };
}

/** Returns true if the fetch limits the depth of the history. */
export function asksForDepth({ depth, since, not }: DepthRequest): boolean {
  return depth > 0 || since !== undefined || not.size > 0;
}

/**
 * Adds a `shallow`, `deepen`, `deepen-since` or `deepen-not` line to the request. Returns false if the line is of
 * another kind.
 */
export function readDepthLine(line: ByteString, request: DepthRequest, view: RepositoryView): boolean {
  const [key, value] = splitLine(line);
  switch (key) {
    case 'shallow':
      readShallow(value, request, view);
      return true;
    case 'deepen':
      request.depth = parseCount(value);
      if (request.depth <= 0) throw new ProtocolError(`Invalid deepen: ${line}`);
      return true;
    case 'deepen-since':
      request.since = parseCount(value);
      if (request.since < 0) throw new ProtocolError(`Invalid deepen-since: ${line}`);
      return true;
    case 'deepen-not':
      request.not.add(resolveShort(view, value));
      return true;
    default:
      return false;
  }
}

/**
 * Computes the shallow boundary of a fetch: the commits whose parents the client will not have. Also computes its
 * difference from the client's current boundary. Throws `ProtocolError` if no commit fits the requested limits.
 */
export async function findShallowBoundary(
  view: RepositoryView,
  { wants, depth: request, flags }: FetchRequest,
): Promise<ShallowBoundary> {
  const { depth, since, not, clientShallow } = request;
  if (depth > 0 && (since !== undefined || not.size > 0)) {
    throw new ProtocolError('upload-pack: deepen and deepen-since (or deepen-not) cannot be used together');
  }
  if (!asksForDepth(request)) return { shallow: [], unshallow: [], boundary: clientShallow };
  const { repository, prefix } = view;
  try {
    return await repository.history.shallowBoundary(
      { ...request, wants, relative: flags.has('deepen-relative'), tips: visibleTips(repository.refs, prefix) },
      new Meter({ schedule: repository.objects.schedule }),
    );
  } catch (error) {
    throw error instanceof NothingSelected ? new ProtocolError(error.message) : error;
  }
}

/**
 * Writes the lines that tell the client how its shallow boundary changes. gitprotocol-pack: `*PKT-LINE("shallow" SP
 * obj-id) *PKT-LINE("unshallow" SP obj-id)`
 */
export function writeShallowBoundary({ shallow, unshallow }: ShallowBoundary): Buffer {
  const lines = [...shallow.map((oid) => latin1`shallow ${oid}`), ...unshallow.map((oid) => latin1`unshallow ${oid}`)];
  return Buffer.from(lines.map(packetText).join(''), 'latin1');
}

/**
 * Parses the object filter of a fetch, such as `blob:none`. Throws `ProtocolError` if it is malformed, or if the
 * request already has a filter.
 */
export function readFilter(spec: ByteString, request: FetchRequest): void {
  if (request.filter) throw new ProtocolError('multiple filter-specs cannot be combined');
  try {
    request.filter = parseFilter(spec);
  } catch (error) {
    throw error instanceof FilterError ? new ProtocolError(error.message) : error;
  }
}

/**
 * Parses the object id of a `want` line. Throws `ProtocolError` if it is malformed, or if the object does not exist.
 */
export function readWant(text: ByteString, view: RepositoryView): Oid {
  if (!isOid(text)) throw new ProtocolError(`protocol error, expected to get object ID, not 'want ${text}'`);
  if (view.repository.objects.find(text) < 0) throw notOurRef(text);
  return text;
}

/** Returns Git's error for a wanted object that does not exist or that the client may not fetch. */
export function notOurRef(oid: Oid): ProtocolError {
  return new ProtocolError(`upload-pack: not our ref ${oid}`);
}

/** Splits a request line into key and value at the first space. Without a space, the value is empty. */
export function splitLine(line: ByteString): readonly [ByteString, ByteString] {
  const split = line.indexOf(' ');
  return split < 0 ? [line, NO_BYTES] : [sliceBytes(line, 0, split), sliceBytes(line, split + 1)];
}

/**
 * Adds a shallow commit of the client, whose parents the client does not have. Ignores a commit that does not exist in
 * this repository, because it cannot be an ancestor of any object to send.
 */
function readShallow(oid: ByteString, request: DepthRequest, view: RepositoryView): void {
  if (!isOid(oid)) throw new ProtocolError(`invalid shallow line: shallow ${oid}`);
  const { objects } = view.repository;
  const number = objects.find(oid);
  if (number < 0) return;
  if (objects.typeOf(number) !== COMMIT) throw new ProtocolError(`invalid shallow object ${oid}`);
  request.clientShallow.add(oid);
}

/**
 * Parses a decimal number of at most 15 digits. Returns -1 for any other text. Accepts numbers beyond 32 bits, because
 * Git clients send one for "unlimited".
 */
function parseCount(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : -1;
}

/** Prefixes that complete a short ref name, in the order in which Git tries them (gitrevisions). */
const PLACES = ['', 'refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/'].map(bytesOf);

/**
 * Returns the object id of the ref with this short name. Throws `ProtocolError` unless exactly one visible ref has the
 * name.
 */
function resolveShort(view: RepositoryView, name: ByteString): Oid {
  const { refs } = view.repository;
  const found = PLACES.map((place) => resolveVisible(view, refs, concatBytes(place, name))).filter(
    (oid) => oid !== undefined,
  );
  if (found.length > 1) throw new ProtocolError(`upload-pack: ambiguous deepen-not: ${name}`);
  if (found.length === 0) throw new ProtocolError(`upload-pack: deepen-not is not a ref: ${name}`);
  return found[0]!;
}

/**
 * Negotiation of a fetch: finds commits that client and server have in common. The client lists its commits, newest
 * first. Once every wanted commit has a common commit as an ancestor, further ones cannot make the pack much smaller,
 * so the server is ready to send it.
 */
export class Negotiation {
  /** Ids from `have` lines whose objects exist in this repository, in order of arrival. */
  readonly common = new Set<Oid>();
  readonly #repository: GitRepository;
  readonly #wants: Iterable<Oid>;
  /** Common commits and their parents, which the client must have too. */
  readonly #known = new Set<Oid>();
  /** Size of `common` when the history was last walked. */
  #commonWhenAsked = 0;
  #ready = false;

  constructor(repository: GitRepository, wants: Iterable<Oid>) {
    this.#repository = repository;
    this.#wants = wants;
  }

  /** Adds the object named by a `have` line. Returns false if it does not exist in this repository. */
  add(oid: Oid): boolean {
    const { objects, history } = this.#repository;
    const number = objects.find(oid);
    if (number < 0) return false;
    if (this.common.has(oid)) return true;
    if (objects.typeOf(number) === COMMIT) {
      this.#known.add(oid);
      for (const parent of history.commit(oid).parents) this.#known.add(parent);
    }
    this.common.add(oid);
    return true;
  }

  /**
   * Returns true if every wanted commit has an ancestor that the client is known to have. The pack can then be sent.
   */
  async isReady(): Promise<boolean> {
    if (!this.#ready && this.common.size > this.#commonWhenAsked) {
      this.#commonWhenAsked = this.common.size;
      this.#ready = await this.#allWantsReachCommon();
    }
    return this.#ready;
  }

  /**
   * Like `isReady`, but may return true late. For use after each of many `have` lines: it reuses a negative result
   * until the number of common objects has doubled, so that the history is not walked for each line.
   */
  async isReadyRoughly(): Promise<boolean> {
    return this.common.size >= 2 * this.#commonWhenAsked ? this.isReady() : this.#ready;
  }

  async #allWantsReachCommon(): Promise<boolean> {
    if (this.common.size === 0) return false;
    const { objects, history } = this.#repository;
    // Ignores wanted trees and blobs, because they have no ancestors that the client could have.
    const meter = new Meter({ schedule: objects.schedule });
    return history.allReach(await runYielding(findCommits(objects, this.#wants), meter), this.#known, meter);
  }
}
