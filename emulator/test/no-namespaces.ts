import type { NamespaceControl } from '../admin/controls.js';

/**
 * Namespace control (creates isolated services in one emulator) that refuses to create any, for servers in tests that
 * need none.
 */
export const NO_NAMESPACES: NamespaceControl = {
  make: () => Promise.reject(new Error('no namespaces')),
  list: () => [],
  get: () => undefined,
  remove: () => Promise.resolve(false),
};
