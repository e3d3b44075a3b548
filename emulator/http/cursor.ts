import { createHmac, timingSafeEqual } from 'node:crypto';
import { problem } from './problem.js';

const MAC_BYTES = 12;
/** A position may be the longest name a ref can have: 4,096 bytes, each of which takes two in JSON. */
const LONGEST = 12 * 1024;

/**
 * Opaque cursors: a JSON position, signed for one use. `purpose` names what the cursor continues (operation,
 * repository, query), so that one of another list, an edited one and a made-up one are all `bad_request`.
 */
export class Cursors {
  constructor(private readonly secret: Buffer) {}

  write(purpose: string, position: unknown): string {
    const payload = Buffer.from(JSON.stringify(position));
    return Buffer.concat([this.#mac(purpose, payload), payload]).toString('base64url');
  }

  read<T>(purpose: string, cursor: string): T {
    if (cursor.length <= LONGEST && /^[A-Za-z0-9_-]+$/.test(cursor)) {
      const raw = Buffer.from(cursor, 'base64url');
      const payload = raw.subarray(MAC_BYTES);
      // Decoding passes over digits and bits that are left at the end; what was issued has none.
      const isExact = raw.length > MAC_BYTES && raw.toString('base64url') === cursor;
      if (isExact && timingSafeEqual(raw.subarray(0, MAC_BYTES), this.#mac(purpose, payload))) {
        return JSON.parse(payload.toString()) as T;
      }
    }
    throw problem('bad_request', 'The cursor was not issued for this list.');
  }

  #mac(purpose: string, payload: Buffer): Buffer {
    return createHmac('sha256', this.secret).update(`${purpose}\0`).update(payload).digest().subarray(0, MAC_BYTES);
  }
}
