/** Maximum number of bytes of one body that the journal (record of all requests) stores, and a recording by default. */
export const MAX_BODY_BYTES = 64 * 1024;

/**
 * Beginning of a request or response body, as transferred. It is stored in a Latin-1 string, because a slice of a
 * received chunk would keep the connection's whole receive buffer in memory.
 */
export class CapturedBody {
  /** Size of the whole body in bytes, including bytes that are not stored. */
  bytes = 0;
  /** True if the whole body is stored; false if it is longer than the maximum. */
  isWhole = true;
  /**
   * Digest of the original body; undefined if the stored bytes are unchanged. Set when secrets are removed from the
   * stored bytes.
   */
  digest: string | undefined = undefined;
  private kept = '';

  /** Creates an empty body of which at most `max` bytes will be stored. */
  constructor(private readonly max = MAX_BODY_BYTES) {}

  add(piece: string | Uint8Array): void {
    const chunk = typeof piece === 'string' ? Buffer.from(piece) : piece;
    this.bytes += chunk.length;
    const remaining = this.max - this.kept.length;
    if (chunk.length > remaining) this.isWhole = false;
    if (remaining <= 0) return;
    this.kept += Buffer.from(chunk.buffer, chunk.byteOffset, Math.min(chunk.length, remaining)).toString('latin1');
  }

  /** Number of stored bytes of the body. */
  get weight(): number {
    return this.kept.length;
  }

  /** Stored bytes as a Latin-1 string, one character per byte. */
  get latin1(): string {
    return this.kept;
  }

  content(): Buffer {
    return Buffer.from(this.kept, 'latin1');
  }

  /**
   * Replaces the stored bytes by `text`, which contains no secrets. Records `digest`, the digest of the original body.
   */
  replace(text: string, digest: string): void {
    this.kept = Buffer.from(text).toString('latin1');
    this.digest = digest;
  }
}
