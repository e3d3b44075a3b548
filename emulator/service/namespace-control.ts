import { readyMembers } from '../admin/address-members.js';
import type { NamespaceControl, NamespaceView } from '../admin/controls.js';
import { runningAt } from './address.js';
import type { NamespaceServer, Namespaces } from './namespaces.js';
import type { SigningKey } from './registered-keys.js';

/** What the admin routes do with namespaces. */
export function namespaceControl(namespaces: Namespaces, key: SigningKey, isSecure: boolean): NamespaceControl {
  const viewOf = ({ id, listeners }: NamespaceServer): NamespaceView => ({
    id,
    ...readyMembers(runningAt(listeners.all, key, isSecure)),
    pid: process.pid,
  });
  return {
    create: async (options) => viewOf(await namespaces.create(options)),
    list: () => namespaces.list().map(viewOf),
    get: (id) => {
      const namespace = namespaces.get(id);
      return namespace && viewOf(namespace);
    },
    remove: async (id) => {
      const namespace = namespaces.get(id);
      await namespace?.close();
      return namespace !== undefined;
    },
  };
}
