import { type ByteString, bytesOf, concatBytes, latin1, NO_BYTES, sliceBytes } from '../git/object/bytes.js';
import { COMMIT, isOid, type Oid } from '../git/object/object.js';
import { findCommit } from '../git/object/tag.js';
import type { GitRepository } from '../git/repository/repository.js';
import { NothingSelected, type ShallowBoundary } from '../git/revwalk/depth.js';
import { FilterError, type ObjectFilter, parseFilter } from '../git/revwalk/filter.js';
import { Meter } from '../schedule/meter.js';
import { runSync } from '../schedule/steps.js';
import type { GitFacts } from './git-facts.js';
import { type PacketReader, ProtocolError, packetText, type Sideband } from './pkt-line.js';
import type { RefListings } from './ref-listings.js';
import { type RepositoryView, resolveVisible, visibleTips } from './view.js';

/** Input of the handlers of one `POST git-upload-pack` request. */
export interface UploadPackRequest {
  readonly view: RepositoryView;
  readonly reader: PacketReader;
  readonly listings: RefListings;
  /**
   * Source of the signal that is aborted when the client disconnects. Read it only before long work, because listening
   * for a disconnect has a cost.
   */
  readonly client: { readonly signal: AbortSignal };
  readonly facts: GitFacts;
}

export interface UploadPackResponse {
  /** Packets of the response before the pack. Without a pack, they are the whole response. */
  readonly head: Buffer;
  /** True if `head` lists refs, as the response to `ls-refs` of version 2 does. */
  readonly listsRefs?: true;
  /** Pack that is sent after `head`; undefined if the response contains no pack. */
  readonly pack?: PackRequest;
}

/** Empty response to a request that wants nothing. */
export const NO_ANSWER: UploadPackResponse = { head: Buffer.alloc(0) };

/**
 * Pack to send: the fetch request, the objects that the client has (`haves`), and the shallow boundary that the client
 * will have.
 */
export interface PackRequest {
  readonly view: RepositoryView;
  readonly fetch: FetchRequest;
  readonly haves: ReadonlySet<Oid>;
  readonly boundary: ShallowBoundary;
  readonly sideband: Sideband;
}

/** Content of a fetch request. All protocol versions use this form. */
export interface FetchRequest {
  readonly wants: Set<Oid>;
  /** Refs from `want-ref` lines: the name as the client sees it, and the ref's object id when the line was read. */
  readonly wantedRefs: Map<ByteString, Oid>;
  readonly depth: DepthRequest;
  filter?: ObjectFilter;
  /** Options that the client chose: capabilities in version 0, arguments without a value in version 2. */
  readonly flags: Set<string>;
}

export interface DepthRequest {
  /**
   * Shallow commits of the client that exist in this repository. The client has these commits without their parents.
   */
  readonly clientShallow: Set<Oid>;
  /** Depth of the history to send, in commits (`deepen <n>`); 0 if not requested. */
  depth: number;
  /** Commits before this time are not sent (`deepen-since`). In seconds since 1970; undefined if not requested. */
  since?: number;
  /** Commits that the refs in `deepen-not` lines point at. Commits reachable from them are not sent. */
  readonly not: Set<Oid>;
}

/** Returns an empty fetch request, to which the parser adds lines. */
export function emptyRequest(): FetchRequest {
  return {
    wants: new Set(),
    wantedRefs: new Map(),
    depth: { clientShallow: new Set(), depth: 0, not: new Set() },
    flags: new Set(),
  };
}

/** Returns true if the fetch asks for a history of limited depth. */
export function asksForDepth({ depth, since, not }: DepthRequest): boolean {
  return depth > 0 || since !== undefined || not.size > 0;
}

/**
 * Parses a `shallow`, `deepen`, `deepen-since` or `deepen-not` line of a fetch into `request`. Returns false for any
 * other line.
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
 * Computes the shallow boundary after a fetch: the commits whose parents the client will not have. Also computes how it
 * differs from the client's current boundary. Throws `ProtocolError` if no commit fits the requested limits.
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
 * Formats the lines that tell the client how its shallow boundary changes (gitprotocol-pack): `*PKT-LINE("shallow" SP
 * obj-id) *PKT-LINE("unshallow" SP obj-id)`
 */
export function writeShallowBoundary({ shallow, unshallow }: ShallowBoundary): Buffer {
  const lines = [...shallow.map((oid) => latin1`shallow ${oid}`), ...unshallow.map((oid) => latin1`unshallow ${oid}`)];
  return Buffer.from(lines.map(packetText).join(''), 'latin1');
}

/**
 * Parses the object filter of a fetch, for example `blob:none`. Throws `ProtocolError` if the filter is malformed, or
 * if the request already has one.
 */
export function readFilter(spec: ByteString, request: FetchRequest): void {
  if (request.filter) throw new ProtocolError('multiple filter-specs cannot be combined');
  try {
    request.filter = parseFilter(spec);
  } catch (error) {
    throw error instanceof FilterError ? new ProtocolError(error.message) : error;
  }
}

/** Parses the object id of a `want` line. Throws `ProtocolError` if it is malformed or the object does not exist. */
export function readWant(text: ByteString, view: RepositoryView): Oid {
  if (!isOid(text)) throw new ProtocolError(`protocol error, expected to get object ID, not 'want ${text}'`);
  if (view.repository.objects.find(text) < 0) throw notOurRef(text);
  return text;
}

/** Returns Git's error for a wanted object that does not exist or that the client may not fetch. */
export function notOurRef(oid: Oid): ProtocolError {
  return new ProtocolError(`upload-pack: not our ref ${oid}`);
}

/** Splits a line of a request at the first space into key and value. Without a space, the value is empty. */
export function splitLine(line: ByteString): readonly [ByteString, ByteString] {
  const split = line.indexOf(' ');
  return split < 0 ? [line, NO_BYTES] : [sliceBytes(line, 0, split), sliceBytes(line, split + 1)];
}

/**
 * Adds a commit that is shallow in the client's repository: its parents are missing there. Ignores a commit that does
 * not exist in this repository, because it cannot be an ancestor of any object that is sent.
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
 * Parses a decimal number of at most 15 digits. Returns -1 if `text` is anything else. Numbers above 32 bits are valid,
 * because Git clients send such a number for "unlimited".
 */
function parseCount(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : -1;
}

/** Prefixes for completing a short ref name, in the order in which they are tried (gitrevisions). */
const PLACES = ['', 'refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/'].map(bytesOf);

/**
 * Returns the object id of the ref with this short name. Throws `ProtocolError` if no visible ref has the name, or more
 * than one.
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
 * Negotiation of a fetch, which finds commits that client and server have in common. The client names its commits,
 * newest first. The server is ready to send the pack when every wanted commit descends from a common commit. More names
 * would not make the pack much smaller.
 */
export class Negotiation {
  /** Ids of the objects in `have` lines that exist in this repository, in order of arrival. */
  readonly common = new Set<Oid>();
  readonly #repository: GitRepository;
  readonly #wants: Iterable<Oid>;
  /** Common commits and their parents. The client must have the parents too. */
  readonly #known = new Set<Oid>();
  /** Number of common objects at the time of the last history walk. */
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

  /** Returns true if the pack can be sent: every wanted commit has an ancestor that the client is known to have. */
  async isReady(): Promise<boolean> {
    if (!this.#ready && this.common.size > this.#commonWhenAsked) {
      this.#commonWhenAsked = this.common.size;
      this.#ready = await this.#allWantsReachCommon();
    }
    return this.#ready;
  }

  /**
   * Cheaper variant of `isReady`, which may become true later. It is called after each of many `have` lines. It reuses
   * a negative result until the number of common objects has doubled, so that the history is not walked for each line.
   */
  async isReadyRoughly(): Promise<boolean> {
    return this.common.size >= 2 * this.#commonWhenAsked ? this.isReady() : this.#ready;
  }

  async #allWantsReachCommon(): Promise<boolean> {
    if (this.common.size === 0) return false;
    const { objects, history } = this.#repository;
    // Ignore wanted trees and blobs. They have no ancestors, so the client's objects cannot be compared with them.
    const commits = Array.from(this.#wants, (want) => runSync(findCommit(objects, want))).filter(
      (oid) => oid !== undefined,
    );
    return history.allReach(commits, this.#known, new Meter({ schedule: objects.schedule }));
  }
}
