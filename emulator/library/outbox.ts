import type { CurrentWorld } from '../world/current-world.js';

/** Delivery of one event to one webhook, which is a URL that a client has registered. */
export interface WebhookDelivery {
  readonly id: string;
  readonly organization: string;
  readonly webhookId: string;
  readonly url: string;
  /** Name of the event, such as `push`. */
  readonly event: string;
  /** Body of the request to the webhook, parsed from JSON. */
  readonly payload: unknown;
  /**
   * State of the delivery:
   *
   * - `pending`: more attempts follow
   * - `delivered`: an attempt succeeded
   * - `failed`: the last attempt failed
   * - `canceled`: the webhook was removed
   */
  readonly state: 'pending' | 'delivered' | 'failed' | 'canceled';
  /** Attempts so far, with their times (ISO 8601, on the emulator's clock). Either `status` or `error` is present. */
  readonly attempts: readonly { readonly at: string; readonly status?: number; readonly error?: string }[];
  /** Time of the next attempt (ISO 8601, on the emulator's clock); undefined if no attempt follows. */
  readonly nextAttemptAt?: string;
  /** Id of the delivery whose event this delivery sends again; undefined if it is the first delivery of the event. */
  readonly resendOf?: string;
}

/** Returns the pending and the past deliveries to webhooks, oldest first. @internal */
export function readOutbox({ world }: CurrentWorld): WebhookDelivery[] {
  return Array.from(world.state.deliveries.all(), (delivery) => {
    const { id, webhook, event, body, state, attempts, nextAttemptAt, resendOf } = delivery;
    return {
      id,
      organization: webhook.organization,
      webhookId: webhook.id,
      url: webhook.url,
      event,
      payload: JSON.parse(body.toString()) as unknown,
      state,
      attempts: attempts.map(({ at, ...outcome }) => ({ at: new Date(at).toISOString(), ...outcome })),
      ...(nextAttemptAt !== undefined && { nextAttemptAt: new Date(nextAttemptAt).toISOString() }),
      ...(resendOf !== undefined && { resendOf }),
    };
  });
}
