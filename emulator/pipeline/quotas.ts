import { retryAfterOf, throttled } from '../quotas/throttled.js';
import type { RequestContext } from './request-context.js';

/**
 * Step: counts the request in every rate limit (quota) that applies to it. Throws `rate_limited` if one of them is
 * exhausted.
 */
export function takeQuotas({ world, verified, operation }: RequestContext): void {
  const { quotas, clock } = world.state;
  if (quotas.isEmpty) return;
  const { claims, key } = verified;
  const { iss: org, sub: token, repo = '' } = claims;
  // Each key contains the organization. Names of repositories, callers and keys are unique only within one
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
