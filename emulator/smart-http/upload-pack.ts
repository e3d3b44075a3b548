import { errorPacket, PacketReader } from './pkt-line.js';
import { ProtocolError } from './protocol-error.js';
import type { UploadPackAnswer, UploadPackExchange } from './upload-pack-exchange.js';
import { answerV0 } from './upload-pack-v0.js';
import { answerV2 } from './upload-pack-v2.js';

/**
 * Answers `POST git-upload-pack`. The request is read to its end before the answer starts, as
 * gitprotocol-v2 demands; the answer is a stream because of the pack in it. What the client did wrong
 * is part of the answer, which is always a 200; only the reading of the body itself throws.
 */
export async function uploadPack(exchange: UploadPackExchange): Promise<UploadPackAnswer> {
  const reader = new PacketReader(exchange.body, { packets: exchange.limits.lines });
  try {
    return await (exchange.version === 2 ? answerV2(exchange, reader) : answerV0(exchange, reader));
  } catch (error) {
    if (error instanceof ProtocolError) return errorPacket(error.message);
    throw error;
  }
}
