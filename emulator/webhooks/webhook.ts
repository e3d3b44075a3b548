import type { EventName } from './events.js';

/** A registration: where events of which kinds are sent. */
export interface Webhook {
  readonly id: string;
  readonly organization: string;
  readonly url: string;
  readonly events: readonly EventName[];
  /** Signs what is sent. Shown once, in the answer to a registration that gave none. */
  readonly secret: string;
  /** Milliseconds on the world's clock. */
  readonly createdAt: number;
}
