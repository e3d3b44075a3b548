import { createHmac, timingSafeEqual } from 'node:crypto';
import { problem } from './problem.js';

const MAC_BYTES = 12;
/**
 * Maximum length of a cursor in characters. The longest ref name must fit: 4,096 bytes, each of which takes two bytes
 * in JSON.
 */
const MAX_LENGTH = 12 * 1024;

/**
 * Writes and reads the opaque cursors with which clients request the next page of a list. A cursor is a position in
 * JSON, signed for one list. `purpose` identifies the list by operation, repository and query.
 *
 * Cursors that were altered, invented or written for another list are refused with `bad_request`.
 */
export class Cursors {
  constructor(private readonly secret: Buffer) {}

  write(purpose: string, position: unknown): string {
    const payload = Buffer.from(JSON.stringify(position));
    return Buffer.concat([this.#mac(purpose, payload), payload]).toString('base64url');
  }

  read<T>(purpose: string, cursor: string): T {
    if (cursor.length <= MAX_LENGTH && /^[A-Za-z0-9_-]+$/.test(cursor)) {
      const raw = Buffer.from(cursor, 'base64url');
      const payload = raw.subarray(MAC_BYTES);
      // Encodes the decoded bytes again and compares. Node's decoder ignores surplus characters and bits at the end,
      // and genuine cursors have none.
      const isExact = raw.length > MAC_BYTES && raw.toString('base64url') === cursor;
      if (isExact && timingSafeEqual(raw.subarray(0, MAC_BYTES), this.#mac(purpose, payload))) {
        return JSON.parse(payload.toString()) as T;
      }
    }
    throw problem('bad_request', 'The cursor is not from a response to the same query. Start again without cursor.');
  }

  #mac(purpose: string, payload: Buffer): Buffer {
    return createHmac('sha256', this.secret).update(`${purpose}\0`).update(payload).digest().subarray(0, MAC_BYTES);
  }
}
