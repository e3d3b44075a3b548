import { KeyRing } from '../auth/keys.js';
import { CurrentWorld } from '../world/current-world.js';

/** A world that nobody is served from: a source is read into it and checked, before it goes elsewhere. */
export function scratchWorld(): CurrentWorld {
  const organization = {
    name: 'scratch',
    keys: new KeyRing([]),
    authenticationAvailable: true,
    hostingEnabled: true,
    forgeApps: 0,
  };
  return new CurrentWorld({ organizations: [organization] });
}
