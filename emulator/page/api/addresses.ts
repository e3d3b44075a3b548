import { get } from './client.js';

/** What `GET addresses` tells of an organization. */
export interface Address {
  readonly org: string;
  readonly base_url: string;
  readonly git_url: string;
  readonly git_host: string;
  readonly https_base_url?: string;
}

/** Every organization, the first one first. */
export async function readAddresses(signal: AbortSignal): Promise<readonly Address[]> {
  return (await get<{ orgs: readonly Address[] }>('addresses', { signal })).orgs;
}

/** That of the address that the page was opened by. */
export function ownAddress(addresses: readonly Address[]): Address | undefined {
  return addresses.find(({ base_url }) => new URL(base_url).host === location.host) ?? addresses[0];
}
