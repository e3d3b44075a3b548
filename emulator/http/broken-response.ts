import { type CutPlace, cutBytes, flipByte, placeIn, type Slices, sliced, throttle } from './broken-bytes.js';
import { bodyOf, type ConnectionEnding, describeBody, isStream, type Pace, type Reply } from './reply.js';
import { ResponseCut } from './response-cut.js';

/** Changes that a fault makes to a response body while it is sent, or to a request body while it is read. */
export interface Breakage {
  /**
   * Position at which the body is cut, and how the response then ends. `end` completes the shorter response as valid
   * HTTP. The other values end the connection before the body is complete.
   */
  readonly cut?: { readonly at: CutPlace; readonly how: ConnectionEnding | 'end' } | undefined;
  /**
   * Inverts all bits of the byte at `offset`, or of the byte in the middle if `offset` is undefined. No byte changes if
   * `flip` is absent.
   */
  readonly flip?: { readonly offset?: number | undefined } | undefined;
  /** Transfer rate of the body in bytes per second of real time; unlimited if undefined. */
  readonly bytesPerSecond?: number | undefined;
  /** Pieces in which the body is sent; undefined if it is not sliced. */
  readonly slices?: Slices | undefined;
}

/**
 * Returns a reply whose body is changed while it is sent, as `breakage` says. If there is no body to cut, the
 * connection is ended and no response is sent.
 */
export function breakReply(reply: Reply, breakage: Breakage, method: string | undefined, pace: Pace): Reply {
  const { cut } = breakage;
  const { status } = reply;
  const isCut = cut !== undefined && cut.how !== 'end';
  const cutOnly = (): Reply => (isCut ? { ...reply, cut: { how: cut.how } } : reply);
  if (method === 'HEAD' || status === 204 || status === 304) return cutOnly();
  const body = bodyOf(reply, pace);
  if (body === undefined || (!isStream(body) && body.length === 0)) return cutOnly();
  const headers = { ...describeBody(reply, body, {}) } as Record<string, string>;
  if (isStream(body)) {
    if (cut?.how === 'end') delete headers['content-length'];
    return { status, headers, stream: breakBody(asBytes(body), breakage) };
  }
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  headers['content-length'] = String(cut?.how === 'end' ? placeIn(cut.at, bytes.length) : bytes.length);
  return { status, headers, stream: breakBody(onePiece(bytes), breakage) };
}

async function* breakBody(source: AsyncIterable<Uint8Array>, breakage: Breakage): AsyncGenerator<Uint8Array> {
  const { cut } = breakage;
  yield* breakBytes(source, breakage);
  if (cut !== undefined && cut.how !== 'end') throw new ResponseCut(cut.how);
}

/**
 * Applies the changes to a body: an inverted byte, a cut, a rate limit, and pieces. The stream ends at the cut without an error,
 * so the caller must end the connection.
 */
export function breakBytes(source: AsyncIterable<Uint8Array>, breakage: Breakage): AsyncIterable<Uint8Array> {
  const { cut, flip, bytesPerSecond, slices } = breakage;
  let bytes = source;
  if (flip !== undefined) bytes = flipByte(bytes, flip.offset);
  if (cut !== undefined) bytes = cutBytes(bytes, cut.at);
  return slowed(bytes, { bytesPerSecond, slices });
}

/** Returns the body with a limited transfer rate or in pieces, as `breakage` says. */
export function slowed(
  source: AsyncIterable<Uint8Array>,
  { bytesPerSecond, slices }: Pick<Breakage, 'bytesPerSecond' | 'slices'>,
): AsyncIterable<Uint8Array> {
  const pieces = slices === undefined ? source : sliced(source, slices);
  return bytesPerSecond === undefined ? pieces : throttle(pieces, bytesPerSecond);
}

async function* asBytes(pieces: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) yield typeof piece === 'string' ? Buffer.from(piece) : piece;
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
