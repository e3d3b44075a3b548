/** Ambiguity: the specification contradicts itself or is silent, so services may behave differently. */
export interface Ambiguity {
  readonly title: string;
  /**
   * What the specification says about the subject, in our own words. Each statement names its section in quotation
   * marks.
   */
  readonly texts: readonly string[];
  /** Default behaviour of the emulator for this ambiguity. */
  readonly emulator: string;
  /** Names of the switches of `emulator start --variants` that change this behaviour. */
  readonly variants: readonly string[];
  /**
   * Ids of conformance rules that accept several responses because of the ambiguity, or only record what the target
   * does.
   */
  readonly rules: readonly string[];
}
