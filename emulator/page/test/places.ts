import { admin } from './admin-request.js';
import type { Started } from './browser.js';

/** Parts of the page's section Control, as values of the parameter `part`. */
export const PARTS = [
  'clock',
  'token',
  'keys',
  'quotas',
  'organizations',
  'variants',
  'webhooks',
  'namespaces',
  'snapshots',
  'about',
];

/**
 * Returns the address fragments of all places of the web page. The emulator must have the repository `name`, which
 * contains the file `a.txt`.
 */
export async function everyPlace(emulator: Started, name: string): Promise<readonly string[]> {
  const { items } = await admin(emulator, 'GET', 'requests?limit=1000');
  const { items: commits } = await admin(emulator, 'GET', `repositories/${encodeURIComponent(name)}/graph`);
  const repository = `repository?name=${encodeURIComponent(name)}`;
  const push = (items as { id: string; operation?: string }[]).find(({ operation }) => operation === 'gitReceivePack');
  return [
    'requests',
    'requests?status=4xx',
    'requests?order=slowest',
    'requests?groups=errors',
    'requests?axis=client',
    'requests?axis=agent',
    ...[push!, ...items.slice(-3)].map(({ id }: { id: string }) => `requests?id=${id}`),
    `requests?id=${items.at(-1).id}&compare=${push!.id}`,
    'repositories',
    repository,
    ...['commits', 'files', 'refs', 'notes'].map((tab) => `${repository}&tab=${tab}`),
    `${repository}&tab=files&path=a.txt`,
    `${repository}&tab=files&path=a.txt&blame=on`,
    `${repository}&tab=commits&commit=${commits[0].oid}`,
    `${repository}&tab=compare`,
    `${repository}&tab=compare&base=${commits.at(-1).oid}&head=${commits[0].oid}`,
    'faults',
    'scenarios',
    'verify',
    'verify?rule=retry-after',
    ...PARTS.map((part) => `control?part=${part}`),
  ];
}
