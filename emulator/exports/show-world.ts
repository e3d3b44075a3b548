import { isFixtureKey } from '../auth/fixture-keys.js';
import type { Limits } from '../config/limits.js';
import type { Variants } from '../config/variants.js';
import { packageVersion } from '../config/version.js';
import type { Delivery } from '../webhooks/delivery.js';
import type { Webhook } from '../webhooks/events.js';
import type { WorldConfig } from '../world/config.js';
import type { Organization } from '../world/organizations.js';
import type { WorldSnapshot } from '../world/state.js';
import { listOf } from './list-files.js';
import { FORMAT, type ListedRepository, VERSION, type WorldManifest } from './schema.js';

/**
 * Returns the JSON value of `emulator.json`, the manifest of a saved state. `secrets` is true to include webhook
 * secrets. `repositories` has one entry for each repository.
 */
export function showWorld(
  snapshot: WorldSnapshot,
  config: WorldConfig,
  secrets: boolean,
  repositories: readonly ListedRepository[],
): object {
  const { clock, ids, requests, conversations, settings, organizations, quotas, webhooks, searches } = snapshot;
  const { byId, ended } = snapshot.deliveries;
  const listed = repositories.map((each) => [each.id, each] as const);
  return {
    format: FORMAT,
    version: VERSION,
    written_by: packageVersion(),
    content: 'world',
    secrets,
    world: {
      clock: { ...clock },
      ids: Object.fromEntries(ids),
      requests,
      conversations,
      settings: {
        limits: changed<Limits>(settings.limits, config.limits),
        variants: changed<Variants>(settings.variants, config.variants),
      },
      organizations: [...organizations.values()].map(showOrganization),
      quotas: {
        quotas: [...quotas.quotas.values()].map((quota) => ({
          ...quota,
          by: [...quota.by],
          cost: quota.cost.map(([op, tokens]) => [op, tokens]),
        })),
        buckets: listOf(quotas.buckets.size, quotas.buckets, (key, level) => [key, level]),
      },
      webhooks: [...webhooks.values()].map((webhook) => showWebhook(webhook, secrets)),
      deliveries: listOf(byId.size, byId, (_, delivery) => showDelivery(delivery, secrets)),
      deliveries_ended: listOf(ended.size, ended.entries()),
      searches: listOf(searches.size, searches.entries()),
      created: snapshot.repositories.records.created,
    },
    repositories: listOf(listed.length, listed),
  };
}

function showDelivery({ webhook, body, attempts, nextAttemptAt, ...rest }: Delivery, secrets: boolean): object {
  return {
    ...rest,
    webhook: showWebhook(webhook, secrets),
    body: body.toString(),
    attempts: [...attempts],
    ...(nextAttemptAt !== undefined && { next_attempt_at: nextAttemptAt }),
  };
}

function showWebhook({ secret, events, ...rest }: Webhook, secrets: boolean): object {
  return { ...rest, events: [...events], ...(secrets && { secret }) };
}

/** Returns the settings that differ from those with which the emulator was started (`before`). */
function changed<Values extends object>(values: Values, before: Values): Record<string, never> {
  const old = new Map<string, unknown>(Object.entries(before));
  return Object.fromEntries(Object.entries(values).filter(([name, value]) => old.get(name) !== value)) as Record<
    string,
    never
  >;
}

/**
 * Converts an organization to JSON. Exports only public keys, because the emulator does not have the private keys. A
 * published test key is exported without its PEM text.
 */
function showOrganization({ keys, ...organization }: Organization): WorldManifest['world']['organizations'][number] {
  return {
    ...organization,
    keys: Array.from(keys.keys(), ({ kid, allowedScopes, publicKey }) => ({
      id: kid,
      allowed_scopes: [...allowedScopes] as ['*'],
      ...(!isFixtureKey(publicKey) && { public_key: publicKey.export({ type: 'spki', format: 'pem' }).toString() }),
    })),
  };
}
