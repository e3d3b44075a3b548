import { type ByteString, bytesOf, concatBytes, sliceBytes } from '../git/object/bytes.js';
import { COMMIT, isOid, type Oid } from '../git/object/object.js';
import { FilterError, type ObjectFilter, parseFilter } from '../git/revwalk/filter.js';
import { ProtocolError } from './protocol-error.js';
import { type RepositoryView, resolveVisible } from './view.js';

/** What a fetch asks for, whatever the version that said it. */
export interface FetchRequest {
  readonly wants: Set<Oid>;
  /** `want-ref` lines: shown name and the id it had. */
  readonly wantedRefs: Map<ByteString, Oid>;
  readonly depth: DepthRequest;
  filter?: ObjectFilter;
  thinPack: boolean;
  ofsDelta: boolean;
  noProgress: boolean;
  includeTag: boolean;
}

export interface DepthRequest {
  /** Commits the client has without their parents, as far as we know them. */
  readonly clientShallow: Set<Oid>;
  /** `deepen <n>`; 0 when not asked for. */
  depth: number;
  relative: boolean;
  /** Seconds since 1970. */
  since?: number;
  /** Tips of `deepen-not`. */
  readonly not: Set<Oid>;
}

export function emptyRequest(): FetchRequest {
  return {
    wants: new Set(),
    wantedRefs: new Map(),
    depth: { clientShallow: new Set(), depth: 0, relative: false, not: new Set() },
    thinPack: false,
    ofsDelta: false,
    noProgress: false,
    includeTag: false,
  };
}

/** Whether history is to be cut, or was cut before. */
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

const NO_VALUE = bytesOf('');

/** `key value` at the first space. */
export function splitLine(line: ByteString): readonly [ByteString, ByteString] {
  const split = line.indexOf(' ');
  return split < 0 ? [line, NO_VALUE] : [sliceBytes(line, 0, split), sliceBytes(line, split + 1)];
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
