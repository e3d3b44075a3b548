import type { EventName } from './events.js';

/** A registration: who wants to hear of what. */
export interface Webhook {
  readonly id: string;
  readonly organization: string;
  readonly url: string;
  readonly events: readonly EventName[];
  /** Signs what is sent. Shown once, to whoever had it made up. */
  readonly secret: string;
  /** Milliseconds on the world's clock. */
  readonly createdAt: number;
}
