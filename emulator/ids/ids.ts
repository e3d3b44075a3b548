import { createHash } from 'node:crypto';

/**
 * Generator of ids that depend only on the configured seed, so ids are equal in every test run. The n-th id of a kind
 * (such as a repository) does not depend on ids of other kinds.
 */
export class Ids {
  private counts = new Map<string, number>();

  constructor(private readonly seed: string) {}

  /** Returns the next id of a kind as a UUID (RFC 9562, version 8: custom). */
  uuid(kind: string): string {
    const hex = this.digest(kind);
    const variant = ((Number.parseInt(hex[16]!, 16) & 0x3) | 0x8).toString(16);
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  }

  /** Returns the next id of a kind. It consists of the prefix, `_` and 24 hexadecimal digits. */
  prefixed(kind: string, prefix: string): string {
    return `${prefix}_${this.digest(kind).slice(0, 24)}`;
  }

  /** Returns the number of ids created so far, by kind. */
  snapshot(): ReadonlyMap<string, number> {
    return new Map(this.counts);
  }

  restore(counts: ReadonlyMap<string, number>): void {
    this.counts = new Map(counts);
  }

  private digest(kind: string): string {
    const count = (this.counts.get(kind) ?? 0) + 1;
    this.counts.set(kind, count);
    return createHash('sha256').update(`${this.seed}\0${kind}\0${count}`).digest('hex');
  }
}

/**
 * Returns a secret that depends only on the seed and the purpose. The emulator uses it to sign values that clients send
 * back, such as cursors.
 */
export function secretOf(seed: string, purpose: string): Buffer {
  return createHash('sha256').update(`${seed}\0secret\0${purpose}`).digest();
}
