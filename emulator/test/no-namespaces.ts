import type { NamespaceControl } from '../admin/controls.js';

/**
 * Namespace control that refuses to create namespaces. Used by test servers that need none. A namespace is an isolated
 * service in one emulator.
 */
export const NO_NAMESPACES: NamespaceControl = {
  make: () => Promise.reject(new Error('no namespaces')),
  list: () => [],
  get: () => undefined,
  remove: () => Promise.resolve(false),
};
