/** What the admin routes steer and is not a part of the world. */
export interface AdminControls {
  /** Whether the published test keys are registered at the start. */
  readonly hasTestKeys: boolean;
  /** Begins to close the emulator; requests that are under way are answered. */
  shutDown(): void;
  /** Aborted as soon as the emulator begins to close. */
  readonly closing: AbortSignal;
}
