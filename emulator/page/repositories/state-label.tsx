import type { RepositoryStateView } from '@emulator/admin/state.js';

/** The state of a repository, in colour. */
export function StateLabel({ state }: { readonly state: string }) {
  return <span class={`state state-${state}`}>{state.replaceAll('_', ' ')}</span>;
}

/** `for 3 requests more`, or nothing where it does not end by itself. */
export function untilOf({ ends }: Pick<RepositoryStateView, 'ends'>): string | undefined {
  if (ends?.requests !== undefined) return `for ${ends.requests} ${ends.requests === 1 ? 'request' : 'requests'} more`;
  if (ends?.after !== undefined) return `until ${ends.after / 1000} s after the next request`;
  if (ends?.at !== undefined) return `until ${ends.at.slice(0, 19).replace('T', ' ')} on the emulator's clock`;
  return ends?.signal === undefined ? undefined : `until the latch ${ends.signal} is released`;
}
