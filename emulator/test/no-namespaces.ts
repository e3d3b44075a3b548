import type { NamespaceControl } from '../admin/controls.js';

/** Namespace control of a server without namespaces. */
export const NO_NAMESPACES: NamespaceControl = {
  make: () => Promise.reject(new Error('no namespaces')),
  list: () => [],
  get: () => undefined,
  remove: () => Promise.resolve(false),
};
