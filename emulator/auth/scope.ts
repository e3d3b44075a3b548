/** Specification, Scopes: names match exactly, and no scope implies another. */
export type Scope = 'git:read' | 'git:write' | 'repo:write' | 'org:read' | 'deployment:read' | 'deployment:write';
