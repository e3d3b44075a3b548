import type { DeliveryRecord } from '../admin/delivery-record.js';

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

/** Converts the record of a delivery in the admin API to the form that the library returns. @internal */
export function deliveryOf({ webhook_id, next_attempt_at, resend_of, ...rest }: DeliveryRecord): WebhookDelivery {
  return {
    // The schema of the record allows undefined members, which JSON does not have.
    ...(rest as Omit<WebhookDelivery, 'webhookId' | 'nextAttemptAt' | 'resendOf'>),
    webhookId: webhook_id,
    ...(next_attempt_at !== null && { nextAttemptAt: next_attempt_at }),
    ...(resend_of !== undefined && { resendOf: resend_of }),
  };
}
