import type { ProtocolVersion } from './capabilities.js';
import type { WireLimits } from './limits.js';
import type { PackSender } from './pack-sender.js';
import { errorPacket, PacketReader } from './pkt-line.js';
import { ProtocolError } from './protocol-error.js';
import type { RefListings } from './ref-listings.js';
import { answerV0 } from './upload-pack-v0.js';
import { answerV2 } from './upload-pack-v2.js';
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

/**
 * Answers `POST git-upload-pack`. The request is read to its end before the answer starts, as
 * gitprotocol-v2 demands; the answer is a stream because of the pack in it. What the client did wrong
 * is part of the answer, which is always a 200; only the reading of the body itself throws.
 */
export async function uploadPack(exchange: UploadPackExchange): Promise<AsyncIterable<Buffer>> {
  const reader = new PacketReader(exchange.body, { packets: exchange.limits.lines });
  try {
    return await (exchange.version === 2 ? answerV2(exchange, reader) : answerV0(exchange, reader));
  } catch (error) {
    if (error instanceof ProtocolError) return pieces([errorPacket(error.message)]);
    throw error;
  }
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
