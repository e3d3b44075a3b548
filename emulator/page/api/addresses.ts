import type { AddressesView, NamespaceView } from '@emulator/admin/controls.js';
import { useLoaded } from '../components/loaded.js';
import { all, get } from './client.js';

/**
 * Addresses at which clients reach one organization, such as its base URL and Git URL. They come from `GET addresses`
 * of the admin API.
 */
export type Address = AddressesView['orgs'][number];

/**
 * Reads the addresses of all organizations from `GET addresses` of the admin API. The default organization is first.
 *
 * `namespace` in the result is the id of the namespace (isolated world of the emulator) that the page shows. It is
 * absent if the page shows the world with which the emulator started.
 */
export function readAddresses(signal: AbortSignal): Promise<AddressesView> {
  return get<AddressesView>('addresses', { signal });
}

/**
 * Returns the organization whose host is in the URL of this page. Returns the first organization if none has this host;
 * undefined if the list is empty.
 */
export function ownAddress(addresses: readonly Address[]): Address | undefined {
  return addresses.find(({ base_url }) => new URL(base_url).host === location.host) ?? addresses[0];
}

/**
 * Returns the name of the organization that the emulator serves at the host in the URL of this page; undefined until
 * the emulator's response has arrived.
 */
export function useOrganization(): string | undefined {
  const { value } = useLoaded((signal) => get<{ organization: string }>('health', { signal }), []);
  return value?.organization;
}

/**
 * Reads the list of namespaces, which are isolated worlds of the emulator with their own ports. The page of a namespace
 * lists only the namespaces that were created in it.
 */
export function listNamespaces(signal: AbortSignal): Promise<readonly NamespaceView[]> {
  return all<NamespaceView>('namespaces', { signal });
}
