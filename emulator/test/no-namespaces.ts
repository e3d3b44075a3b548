import type { NamespaceControl } from '../admin/controls.js';

/** Namespaces of a server that makes none. */
export const NO_NAMESPACES: NamespaceControl = {
  make: () => Promise.reject(new Error('no namespaces')),
  list: () => [],
  get: () => undefined,
  remove: () => Promise.resolve(false),
};
