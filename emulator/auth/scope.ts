/** Specification, Scopes: names match exactly, and no scope implies another. */
export const SCOPES = [
  'git:read',
  'git:write',
  'repo:write',
  'org:read',
  'deployment:read',
  'deployment:write',
] as const;

export type Scope = (typeof SCOPES)[number];
