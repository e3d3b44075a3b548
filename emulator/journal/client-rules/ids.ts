/** Ids of the rules for clients. They must never change, because users' expectations refer to rules by id. */
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
