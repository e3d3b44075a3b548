/** A place where the specification contradicts itself or is silent, so that services may differ. */
export interface Ambiguity {
  readonly title: string;
  /** Statements of the specification, in our own words. Each text begins with its section. */
  readonly texts: readonly string[];
  /** Default behaviour of the emulator of this package. */
  readonly emulator: string;
  /** Names of the switches of `emulator start --variants` that change it. */
  readonly variants: readonly string[];
  /** Ids of the rules that accept more than one answer, or record what the target does. */
  readonly rules: readonly string[];
}
