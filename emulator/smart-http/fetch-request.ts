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

/** One `POST git-upload-pack`. */
export interface UploadPackRequest {
  readonly view: RepositoryView;
  readonly reader: PacketReader;
  readonly listings: RefListings;
  /** Its signal is read where long work starts: to watch whether a client is still there has its cost. */
  readonly client: { readonly signal: AbortSignal };
  readonly facts: GitFacts;
}

export interface UploadPackAnswer {
  readonly head: Buffer;
  /** Whether the head lists refs: the answer to version 2's `ls-refs`. */
  readonly listsRefs?: true;
  /** What follows the head. */
  readonly pack?: PackRequest;
}

export const NO_ANSWER: UploadPackAnswer = { head: Buffer.alloc(0) };

/** A pack to be sent: what was wanted, what the client has, where its history is to end. */
export interface PackRequest {
  readonly view: RepositoryView;
  readonly fetch: FetchRequest;
  readonly haves: ReadonlySet<Oid>;
  readonly boundary: ShallowBoundary;
  readonly sideband: Sideband;
}

/** What a fetch asks for, whatever the version that said it. */
export interface FetchRequest {
  readonly wants: Set<Oid>;
  /** `want-ref` lines: shown name and the id it had. */
  readonly wantedRefs: Map<ByteString, Oid>;
  readonly depth: DepthRequest;
  filter?: ObjectFilter;
  /** Capabilities (version 0) or arguments without a value (version 2) that the client chose, by name. */
  readonly flags: Set<string>;
}

export interface DepthRequest {
  /** Commits the client has without their parents, as far as we know them. */
  readonly clientShallow: Set<Oid>;
  /** `deepen <n>`; 0 when not asked for. */
  depth: number;
  /** Seconds since 1970. */
  since?: number;
  /** Tips of `deepen-not`. */
  readonly not: Set<Oid>;
}

export function emptyRequest(): FetchRequest {
  return {
    wants: new Set(),
    wantedRefs: new Map(),
    depth: { clientShallow: new Set(), depth: 0, not: new Set() },
    flags: new Set(),
  };
}

/** Whether the fetch says where history is to end. */
export function asksForDepth({ depth, since, not }: DepthRequest): boolean {
  return depth > 0 || since !== undefined || not.size > 0;
}

/** Reads a `shallow`, `deepen`, `deepen-since` or `deepen-not` line. False when the line is another one. */
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

/** Where the history that a fetch gets is to end, and how that differs from before. Throws `ProtocolError`. */
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

/** gitprotocol-pack: `*PKT-LINE("shallow" SP obj-id) *PKT-LINE("unshallow" SP obj-id)` */
export function writeShallowBoundary({ shallow, unshallow }: ShallowBoundary): Buffer {
  const lines = [...shallow.map((oid) => latin1`shallow ${oid}`), ...unshallow.map((oid) => latin1`unshallow ${oid}`)];
  return Buffer.from(lines.map(packetText).join(''), 'latin1');
}

/** Reads what follows `filter `. Throws `ProtocolError`. */
export function readFilter(spec: ByteString, request: FetchRequest): void {
  if (request.filter) throw new ProtocolError('multiple filter-specs cannot be combined');
  try {
    request.filter = parseFilter(spec);
  } catch (error) {
    throw error instanceof FilterError ? new ProtocolError(error.message) : error;
  }
}

/** The id of a `want` line; throws when no such object is here. */
export function readWant(text: ByteString, view: RepositoryView): Oid {
  if (!isOid(text)) throw new ProtocolError(`protocol error, expected to get object ID, not 'want ${text}'`);
  if (view.repository.objects.find(text) < 0) throw notOurRef(text);
  return text;
}

export function notOurRef(oid: Oid): ProtocolError {
  return new ProtocolError(`upload-pack: not our ref ${oid}`);
}

/** `key value` at the first space. */
export function splitLine(line: ByteString): readonly [ByteString, ByteString] {
  const split = line.indexOf(' ');
  return split < 0 ? [line, NO_BYTES] : [sliceBytes(line, 0, split), sliceBytes(line, split + 1)];
}

/** A shallow commit that is not here is passed over: it cannot be on the way to anything we send. */
function readShallow(oid: ByteString, request: DepthRequest, view: RepositoryView): void {
  if (!isOid(oid)) throw new ProtocolError(`invalid shallow line: shallow ${oid}`);
  const { objects } = view.repository;
  const number = objects.find(oid);
  if (number < 0) return;
  if (objects.typeOf(number) !== COMMIT) throw new ProtocolError(`invalid shallow object ${oid}`);
  request.clientShallow.add(oid);
}

/** -1 for what is no number; larger numbers than 32 bits have mean "without end". */
function parseCount(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : -1;
}

/** gitrevisions: the places where a short ref name is looked for, in order. */
const PLACES = ['', 'refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/'].map(bytesOf);

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
 * What client and server were found to have in common.
 *
 * The client names commits it has, newest first. As soon as every wanted commit leads back to one of
 * them, more names cannot make the pack much smaller: the server is ready.
 */
export class Negotiation {
  /** The `have`s that are here, in order of arrival. */
  readonly common = new Set<Oid>();
  readonly #repository: GitRepository;
  readonly #wants: Iterable<Oid>;
  /** The common commits and their parents, which the client has as well. */
  readonly #known = new Set<Oid>();
  #commonWhenAsked = 0;
  #ready = false;

  constructor(repository: GitRepository, wants: Iterable<Oid>) {
    this.#repository = repository;
    this.#wants = wants;
  }

  /** Notes a `have`; false when the object is not here. */
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

  /** Whether every wanted commit has an ancestor that the client is known to have. */
  async isReady(): Promise<boolean> {
    if (!this.#ready && this.common.size > this.#commonWhenAsked) {
      this.#commonWhenAsked = this.common.size;
      this.#ready = await this.#allWantsReachCommon();
    }
    return this.#ready;
  }

  /**
   * `isReady` for one `have` among many: the answer no is repeated until twice as much is in common,
   * so that a request with many haves does not walk the history once for each.
   */
  async isReadyRoughly(): Promise<boolean> {
    return this.common.size >= 2 * this.#commonWhenAsked ? this.isReady() : this.#ready;
  }

  async #allWantsReachCommon(): Promise<boolean> {
    if (this.common.size === 0) return false;
    const { objects, history } = this.#repository;
    // Ancestry says nothing about trees and blobs: they do not keep the negotiation going.
    const commits = Array.from(this.#wants, (want) => runSync(findCommit(objects, want))).filter(
      (oid) => oid !== undefined,
    );
    return history.allReach(commits, this.#known, new Meter({ schedule: objects.schedule }));
  }
}
