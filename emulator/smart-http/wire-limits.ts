/** Bounds of one Git request. Bytes are counted after decompression. */
export interface WireLimits {
  /** A whole `git-upload-pack` request: a million haves fit. */
  readonly fetchBytes: number;
  /** Lines (packets) of any request, before the pack. */
  readonly lines: number;
  /** Ref updates of one push. */
  readonly refUpdates: number;
  readonly pushOptions: number;
  /** The pack of one push. */
  readonly pushBytes: number;
}

/** The limits that no option of the program sets. */
export const FIXED_WIRE_LIMITS: Omit<WireLimits, 'pushBytes'> = {
  fetchBytes: 64 * 1024 * 1024,
  lines: 1_000_000,
  refUpdates: 50_000,
  pushOptions: 1_000,
};
