import type { WorldState } from './state.js';

/** Ends every state that lasts until `signal`. Returns how many there were. */
export function endStates({ organizations, repositories }: WorldState, signal: string): number {
  let ended = organizations.signal(signal);
  for (const repository of repositories.all()) {
    if (repository.record.override?.ends?.signal !== signal) continue;
    repository.update({ override: undefined });
    ended++;
  }
  return ended;
}
