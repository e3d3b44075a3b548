import type { AddressesView, NamespaceView } from '@emulator/admin/controls.js';
import { useLoaded } from '../components/loaded.js';
import { all, get } from './client.js';

/** Addresses of an organization, from `GET addresses`. */
export type Address = AddressesView['orgs'][number];

/**
 * Returns the addresses of all organizations, the default one first, and the id of the namespace that the page belongs
 * to; undefined if it belongs to the emulator's default world.
 */
export function readAddresses(signal: AbortSignal): Promise<AddressesView> {
  return get<AddressesView>('addresses', { signal });
}

/** Returns the organization at whose address the page was opened; the first one if none matches. */
export function ownAddress(addresses: readonly Address[]): Address | undefined {
  return addresses.find(({ base_url }) => new URL(base_url).host === location.host) ?? addresses[0];
}

/** Name of the organization that the address of the page selects; undefined while it is loaded. */
export function useOrganization(): string | undefined {
  const { value } = useLoaded((signal) => get<{ organization: string }>('health', { signal }), []);
  return value?.organization;
}

/** Lists namespaces: all of them, or in a namespace those created there. */
export function listNamespaces(signal: AbortSignal): Promise<readonly NamespaceView[]> {
  return all<NamespaceView>('namespaces', { signal });
}
