import type { NamespaceView } from '@emulator/admin/controls.js';
import { ApiError, all } from './client.js';

/** Lists the namespaces. Returns null within a namespace, which has none of its own. */
export async function listNamespaces(signal: AbortSignal): Promise<readonly NamespaceView[] | null> {
  try {
    return await all<NamespaceView>('namespaces', { signal });
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}
