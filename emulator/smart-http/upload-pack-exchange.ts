import type { ProtocolVersion } from './capabilities.js';
import type { WireLimits } from './limits.js';
import type { PackSender } from './pack-sender.js';
import type { RefListings } from './ref-listings.js';
import type { RepositoryView } from './view.js';

/** One request to a service: what it is about, what the client sent, and what the server keeps. */
export interface UploadPackExchange {
  readonly view: RepositoryView;
  readonly version: ProtocolVersion;
  /** The body, decompressed. */
  readonly body: AsyncIterable<Uint8Array>;
  readonly limits: WireLimits;
  readonly listings: RefListings;
  readonly packs: PackSender;
  readonly signal?: AbortSignal;
}

/** Pieces that are at hand, as a stream. */
export async function* pieces(buffers: readonly Buffer[]): AsyncIterable<Buffer> {
  yield* buffers;
}

/** `head` and then `tail`. */
export async function* followed(head: readonly Buffer[], tail: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  if (head.length > 0) yield Buffer.concat(head);
  yield* tail;
}
