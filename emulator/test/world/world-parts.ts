import { isDeepStrictEqual } from 'node:util';
import type { WorldSnapshot } from '../../world/state.js';
import type { World } from '../../world/world.js';

/**
 * Returns the names of the parts of a world (state of an emulator) that have changed since `before`. Returns only
 * `world` if another world has replaced it. Parts that are replaced as a whole are compared by identity, because some
 * have private state.
 */
export function changedParts(before: { world: World; snapshot: WorldSnapshot }, world: World): string[] {
  if (before.world !== world) return ['world'];
  const then: Readonly<Record<string, unknown>> = before.snapshot;
  const now = world.snapshot();
  const changed = Object.entries(now).filter(([name, value]) => !isDeepStrictEqual(value, then[name]));
  const names = new Set(changed.map(([name]) => name));
  if (now.organizations !== before.snapshot.organizations) names.add('organizations');
  if (now.repositories.records !== before.snapshot.repositories.records) names.add('repositories');
  return [...names];
}
