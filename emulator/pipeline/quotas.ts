import { retryAfterOf, throttled } from '../quotas/throttled.js';
import type { RequestContext } from './request-context.js';

/**
 * Step: counts the request in each rate limit (quota) that applies to it. Throws `rate_limited` if a quota is
 * exhausted.
 */
export function takeQuotas({ world, verified, operation }: RequestContext): void {
  const { quotas, clock } = world.state;
  if (quotas.isEmpty) return;
  const { claims, key } = verified;
  const { iss: org, sub: token, repo = '' } = claims;
  // Adds the organization to each key, because repository names, callers and key ids are unique only within one
  // organization.
  const exhausted = quotas.take({
    org,
    token: `${org} ${token}`,
    key: `${org} ${key.kid}`,
    repo: `${org} ${repo}`,
    op: operation.id,
  });
  if (!exhausted) return;
  const { quota, remaining, window, wait } = exhausted;
  throw throttled({
    name: quota.name,
    remaining,
    window,
    ...retryAfterOf(quota.retryAfter, wait, clock.now()),
  });
}
