/**
 * All scopes (permissions) that a token can list. Names are compared exactly, and no scope includes another
 * (specification, Scopes).
 */
export const SCOPES = [
  'git:read',
  'git:write',
  'repo:write',
  'org:read',
  'deployment:read',
  'deployment:write',
] as const;

export type Scope = (typeof SCOPES)[number];
