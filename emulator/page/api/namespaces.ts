import type { AddressesView, NamespaceView } from '@emulator/admin/controls.js';
import { all, get } from './client.js';

/** Lists all namespaces. In a namespace: those that were made there. */
export function listNamespaces(signal: AbortSignal): Promise<readonly NamespaceView[]> {
  return all<NamespaceView>('namespaces', { signal });
}

/** Returns the id of the namespace that the page belongs to, undefined if it belongs to the emulator's first world. */
export async function ownNamespace(signal: AbortSignal): Promise<string | undefined> {
  return (await get<AddressesView>('addresses', { signal })).namespace;
}
