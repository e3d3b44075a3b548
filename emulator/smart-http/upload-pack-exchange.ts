import type { ProtocolVersion } from './capabilities.js';
import type { PackSender } from './pack-sender.js';
import type { RefListings } from './ref-listings.js';
import type { RepositoryView } from './view.js';
import type { WireLimits } from './wire-limits.js';

/** One request to a service: what it is about, what the client sent, and what the server keeps. */
export interface UploadPackExchange {
  readonly view: RepositoryView;
  readonly version: ProtocolVersion;
  /** The body, decompressed. */
  readonly body: AsyncIterable<Uint8Array>;
  readonly limits: WireLimits;
  readonly listings: RefListings;
  readonly packs: PackSender;
  /** Aborted when the client has gone; not asked for unless a pack is to be sent. */
  readonly signal: () => AbortSignal | undefined;
}

/** At hand as a whole, or a stream because of the pack in it. */
export type UploadPackAnswer = Buffer | AsyncIterable<Buffer>;

export const NO_ANSWER: Buffer = Buffer.alloc(0);

/** `head` and then `tail`. */
export async function* followed(head: readonly Buffer[], tail: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  if (head.length > 0) yield Buffer.concat(head);
  yield* tail;
}
