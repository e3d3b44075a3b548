import type { AddressesView, NamespaceView } from '@emulator/admin/controls.js';
import { useLoaded } from '../components/loaded.js';
import { all, get } from './client.js';

/** Addresses of an organization, from `GET addresses`. */
export type Address = AddressesView['orgs'][number];

/** Returns the addresses of all organizations, the default one first. */
export async function readAddresses(signal: AbortSignal): Promise<readonly Address[]> {
  return (await get<AddressesView>('addresses', { signal })).orgs;
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

/**
 * Returns the id of the namespace that the page belongs to; undefined if it belongs to the emulator's default world.
 */
export async function ownNamespace(signal: AbortSignal): Promise<string | undefined> {
  return (await get<AddressesView>('addresses', { signal })).namespace;
}
