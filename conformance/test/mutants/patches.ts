import type { Patch } from './mutant.js';

/** Git is shown no branch whose tip the API wrote. */
export const HIDDEN_FROM_GIT: readonly Patch[] = [
  {
    file: 'repositories/branch-write.js',
    find: 'await transaction.prepare();',
    replace: '(globalThis.committedByApi ??= new Set()).add(commit); await transaction.prepare();',
  },
  {
    file: 'smart-http/view.js',
    find: '!name.startsWith(NAMESPACES)',
    replace: '!name.startsWith(NAMESPACES) && !globalThis.committedByApi?.has(oid)',
  },
];
