import type { AddressesView } from '@emulator/admin/controls.js';
import { useLoaded } from '../components/loaded.js';
import { get } from './client.js';

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
