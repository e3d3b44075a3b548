/** What the admin routes steer and is not a part of the world. */
export interface AdminControls {
  /** Begins to close the emulator; requests that are under way are answered. */
  shutDown(): void;
  /** Aborted as soon as the emulator begins to close. */
  readonly closing: AbortSignal;
}
