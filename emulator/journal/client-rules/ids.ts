/** Ids of the client rules. They never change, because users refer to rules by id in their expectations. */
export const CLIENT_RULE_IDS = [
  'retry-after',
  'back-off',
  'hopeless-retry',
  'unknown-code',
  'cursor-verbatim',
  'expected-head',
  'idempotency-key',
  'expired-token',
  'secret-in-url',
  'git-retry',
] as const;

export type ClientRuleId = (typeof CLIENT_RULE_IDS)[number];
