import { showDelivery } from '../admin/delivery-record.js';
import type { CurrentWorld } from '../world/current-world.js';
import { deliveryOf, type WebhookDelivery } from './webhook-delivery.js';

/** Returns the pending and the past deliveries to webhooks, oldest first. @internal */
export function readOutbox({ world }: CurrentWorld): WebhookDelivery[] {
  return Array.from(world.state.deliveries.all(), (delivery) => deliveryOf(showDelivery(delivery)));
}
