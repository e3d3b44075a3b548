/** What the journal keeps of a body. */
export const MAX_BODY_BYTES = 64 * 1024;

/**
 * The beginning of a body, as it goes over the wire. Bytes are kept as a string of one byte each: a slice of what
 * arrived would hold on to the whole buffer of its connection.
 */
export class CapturedBody {
  /** All bytes that went by. */
  bytes = 0;
  /** Whether the beginning is all of it. */
  isWhole = true;
  /** Tells it from others, where it is no longer kept as it came. */
  digest: string | undefined = undefined;
  private kept = '';

  add(piece: string | Uint8Array): void {
    const chunk = typeof piece === 'string' ? Buffer.from(piece) : piece;
    this.bytes += chunk.length;
    const room = MAX_BODY_BYTES - this.kept.length;
    if (chunk.length > room) this.isWhole = false;
    if (room <= 0) return;
    this.kept += Buffer.from(chunk.buffer, chunk.byteOffset, Math.min(chunk.length, room)).toString('latin1');
  }

  /** Bytes that are kept. */
  get weight(): number {
    return this.kept.length;
  }

  /** The bytes that are kept, as characters. */
  get latin1(): string {
    return this.kept;
  }

  content(): Buffer {
    return Buffer.from(this.kept, 'latin1');
  }

  /** Keeps `text` in place of what was kept. */
  replace(text: string, digest: string): void {
    this.kept = Buffer.from(text).toString('latin1');
    this.digest = digest;
  }
}
