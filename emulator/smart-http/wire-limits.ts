/** Limits of one Git request. Bytes are counted after decompression. */
export interface WireLimits {
  /** Maximum size of a `git-upload-pack` request. A million `have` lines fit. */
  readonly fetchBytes: number;
  /** Maximum number of lines (packets) of a request before the pack. */
  readonly lines: number;
  /** Maximum number of ref updates in one push. */
  readonly refUpdates: number;
  readonly pushOptions: number;
  /** Maximum size of the pack of one push. */
  readonly pushBytes: number;
}

/** Limits that no command-line option changes. */
export const FIXED_WIRE_LIMITS: Omit<WireLimits, 'pushBytes'> = {
  fetchBytes: 64 * 1024 * 1024,
  lines: 1_000_000,
  refUpdates: 50_000,
  pushOptions: 1_000,
};
