import type { AddressesView, NamespaceView } from '@emulator/admin/controls.js';
import { useLoaded } from '../components/loaded.js';
import { all, get } from './client.js';

/** Addresses of an organization, from `GET addresses`. */
export type Address = AddressesView['orgs'][number];

/**
 * Returns the addresses of all organizations, the default one first. `namespace`: id of the namespace (isolated world
 * of the emulator) that the page shows; undefined if it shows the default world.
 */
export function readAddresses(signal: AbortSignal): Promise<AddressesView> {
  return get<AddressesView>('addresses', { signal });
}

/** Returns the organization at whose address the page was opened; the first one if none matches. */
export function ownAddress(addresses: readonly Address[]): Address | undefined {
  return addresses.find(({ base_url }) => new URL(base_url).host === location.host) ?? addresses[0];
}

/** Returns the name of the organization that the host of the page's address selects; undefined until it is loaded. */
export function useOrganization(): string | undefined {
  const { value } = useLoaded((signal) => get<{ organization: string }>('health', { signal }), []);
  return value?.organization;
}

/** Lists the namespaces (isolated worlds of the emulator). The page of a namespace lists only those created in it. */
export function listNamespaces(signal: AbortSignal): Promise<readonly NamespaceView[]> {
  return all<NamespaceView>('namespaces', { signal });
}
