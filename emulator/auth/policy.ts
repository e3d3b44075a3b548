import { reject } from './rejection.js';

/**
 * Restriction that a token puts on a ref. `no-push` and `no-force-push` forbid an operation. `verify-sig` requires that
 * every new commit is signed with a registered key of the organization.
 */
export type PolicyOp = 'no-push' | 'no-force-push' | 'verify-sig';

const OPS: ReadonlySet<unknown> = new Set<PolicyOp>(['no-push', 'no-force-push', 'verify-sig']);

export interface RefRule {
  /**
   * Refs to which the rule applies: `*` (all refs), a full ref name such as `refs/heads/main`, or a prefix such as
   * `refs/heads/*`.
   */
  readonly pattern: string;
  /**
   * Restrictions of matching refs. An empty list permits everything. Later rules do not matter, because only the first
   * matching rule applies.
   */
  readonly ops: readonly PolicyOp[];
}

/** Restrictions that a token puts on refs. Only the first rule that matches a ref applies. */
export type RefPolicy = readonly RefRule[];

/**
 * Parses the restrictions in a token. The claim `refs` is an array of `[pattern, [op, …]]`. The older claim `ops` is an
 * array `[op, …]` for all refs, and becomes the last rule. Throws a `Rejection` for an invalid claim, because ignoring
 * it would permit everything.
 */
export function parsePolicy(refs: unknown, ops: unknown): RefPolicy {
  const rules: RefRule[] = [];
  if (refs !== undefined) {
    if (!Array.isArray(refs)) throw reject('policy', 'its claim refs is not an array of pairs [pattern, operations]');
    for (const entry of refs) {
      if (!Array.isArray(entry) || entry.length !== 2)
        throw reject('policy', 'an entry of its claim refs is not a pair [pattern, operations]');
      rules.push({ pattern: parsePattern(entry[0]), ops: parseOps(entry[1]) });
    }
  }
  if (ops !== undefined) rules.push({ pattern: '*', ops: parseOps(ops) });
  return rules;
}

function parsePattern(value: unknown): string {
  if (typeof value !== 'string' || value === '')
    throw reject('policy', 'a ref pattern in its claim refs is empty or is not a string');
  if (value === '*') return value;
  const star = value.indexOf('*');
  // A star at any other position is refused. The pattern would match no ref, so its rule would forbid nothing.
  if (star >= 0 && !(star === value.length - 1 && value.endsWith('/*'))) {
    throw reject('policy', 'a ref pattern in its claim refs has a * that is not in a final /*, as in refs/heads/*');
  }
  return value.startsWith('refs/') ? value : `refs/heads/${value}`;
}

function parseOps(value: unknown): PolicyOp[] {
  if (!Array.isArray(value)) throw reject('policy', 'the operations in its claim ops or refs are not an array');
  if (!value.every((op) => OPS.has(op))) {
    throw reject(
      'policy',
      'its claim ops or refs has an unknown operation (allowed: no-push, no-force-push, verify-sig)',
    );
  }
  return value;
}

/**
 * Returns the reason why `policy` forbids `action` on `ref` (a full name); undefined if it is permitted. Git shows the
 * reason after `! [remote rejected]`. `push` is any change of the ref (create, update, delete). `force` is a change
 * after which the previous tip is not an ancestor of the new tip.
 */
export function decide(policy: RefPolicy, ref: string, action: 'push' | 'force'): string | undefined {
  const ops = opsFor(policy, ref);
  if (ops.includes('no-push')) return 'denied by policy (no-push)';
  if (action === 'force' && ops.includes('no-force-push')) return 'denied by policy (no-force-push)';
  return undefined;
}

/** Returns true if `policy` requires that all new commits of a push to `ref` are signed with a registered key. */
export function needsSignedCommits(policy: RefPolicy, ref: string): boolean {
  return opsFor(policy, ref).includes('verify-sig');
}

function opsFor(policy: RefPolicy, ref: string): readonly PolicyOp[] {
  return policy.find((rule) => isMatch(rule.pattern, ref))?.ops ?? [];
}

function isMatch(pattern: string, ref: string): boolean {
  if (pattern === '*') return true;
  return pattern.endsWith('/*') ? ref.startsWith(pattern.slice(0, -1)) : ref === pattern;
}
