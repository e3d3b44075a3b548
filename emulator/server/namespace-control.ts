import { readyMembers } from '../admin/address-members.js';
import type { NamespaceControl, NamespaceView } from '../admin/controls.js';
import type { CurrentWorld } from '../world/current-world.js';
import { runningAt } from './address.js';
import type { NamespaceServer, Namespaces } from './namespaces.js';
import type { SigningKey } from './registered-keys.js';

/** What the admin routes of a world do with namespaces. */
export function namespaceControl(
  namespaces: Namespaces,
  key: SigningKey,
  isSecure: boolean,
): (world: CurrentWorld) => NamespaceControl {
  const viewOf = ({ id, listeners }: NamespaceServer): NamespaceView => ({
    id,
    ...readyMembers(runningAt(listeners.all, key, isSecure)),
    pid: process.pid,
  });
  return (world) => ({
    make: async (options) => viewOf(await namespaces.create(options, world)),
    list: () => namespaces.list(world).map(viewOf),
    get: (id) => {
      const namespace = namespaces.get(id, world);
      return namespace && viewOf(namespace);
    },
    remove: async (id) => {
      const namespace = namespaces.get(id, world);
      await namespace?.close();
      return namespace !== undefined;
    },
  });
}
