/** A place where the specification contradicts itself or is silent, so that services may differ. */
export interface Ambiguity {
  readonly title: string;
  /** What the specification says, in our own words; each text begins with the section that says it. */
  readonly texts: readonly string[];
  /** What the emulator of this package does by default. */
  readonly emulator: string;
  /** Names of the switches of `emulator start --variants` that change it. */
  readonly variants: readonly string[];
  /** Ids of the rules that accept more than one answer, or record what the target does. */
  readonly rules: readonly string[];
}
