import type { Test } from 'tap';
import { ADMIN_PREFIX } from '../../admin/path.js';
import type { GivenOptions } from '../../config/options.js';
import { type CallOptions, type ServiceResponse, startService } from '../service.js';

/** Initial time of the clock of emulators that `startAdmin` starts. */
export const START = '2026-01-01T00:00:00Z';

/**
 * Starts an emulator for a test. Also returns the function `admin`, which sends requests to its admin API. `path` is a
 * path from the table of admin routes, without the common prefix.
 */
export async function startAdmin(t: Test, options: GivenOptions = {}) {
  const service = await startService({ clock: START, ...options });
  t.teardown(() => service.emulator.close({ graceMs: 0 }));
  const admin = (method: string, path: string, json?: unknown, more: CallOptions = {}): Promise<ServiceResponse> =>
    service.call(method, ADMIN_PREFIX + path, { token: null, ...(json !== undefined && { json }), ...more });
  return { ...service, service, admin };
}
