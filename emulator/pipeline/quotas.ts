import { retryAfterOf, throttled } from '../quotas/throttled.js';
import type { RequestContext } from './request-context.js';

/** Step: takes the request from its quotas. Throws `rate_limited` if one is exhausted. */
export function takeQuotas({ world, verified, operation }: RequestContext): void {
  const { quotas, clock } = world.state;
  if (quotas.isEmpty) return;
  const { claims, key } = verified;
  const { iss: org, sub: token, repo = '' } = claims;
  // The organization is part of the key, because names of repositories and callers are unique only within it.
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
