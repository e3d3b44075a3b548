import type { WorldState } from './state.js';

/** Ends every state that lasts until `signal`. Returns how many there were. */
export function endStates({ organizations, repositories }: WorldState, signal: string): number {
  let ended = organizations.signal(signal);
  for (const repository of repositories.all()) {
    const { override, thaw } = repository.record;
    if (override?.ends?.signal === signal) repository.update({ override: undefined });
    else if (thaw?.ends?.signal === signal) repository.restore();
    else continue;
    ended++;
  }
  return ended;
}
