import type { NamespaceControl, NamespaceView } from '../admin/controls.js';
import { addressMembers } from './address.js';
import type { NamespaceServer, Namespaces } from './namespaces.js';

/** What the admin routes do with namespaces. */
export function namespaceControl(namespaces: Namespaces): NamespaceControl {
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

function viewOf({ id, listeners }: NamespaceServer): NamespaceView {
  return { id, ...addressMembers(listeners.all) };
}
