import type { AddressesView, NamespaceView } from '@emulator/admin/controls.js';
import { useLoaded } from '../components/loaded.js';
import { all, get } from './client.js';

/** What `GET addresses` tells of an organization. */
export type Address = AddressesView['orgs'][number];

/** Every organization, the first one first. */
export async function readAddresses(signal: AbortSignal): Promise<readonly Address[]> {
  return (await get<AddressesView>('addresses', { signal })).orgs;
}

/** That of the address that the page was opened by. */
export function ownAddress(addresses: readonly Address[]): Address | undefined {
  return addresses.find(({ base_url }) => new URL(base_url).host === location.host) ?? addresses[0];
}

/** Name of the organization that the address of the page selects; undefined while it is loaded. */
export function useOrganization(): string | undefined {
  const { value } = useLoaded((signal) => get<{ organization: string }>('health', { signal }), []);
  return value?.organization;
}

/** Lists all namespaces. In a namespace: those that were made there. */
export function listNamespaces(signal: AbortSignal): Promise<readonly NamespaceView[]> {
  return all<NamespaceView>('namespaces', { signal });
}

/** Returns the id of the namespace that the page belongs to, undefined if it belongs to the emulator's first world. */
export async function ownNamespace(signal: AbortSignal): Promise<string | undefined> {
  return (await get<AddressesView>('addresses', { signal })).namespace;
}
