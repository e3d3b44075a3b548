import type { Service, ServiceResponse } from '../../service.js';

export const V1 = '/api/v1/repos';
export const ADA = { name: 'Ada', email: 'ada@example.com' };

/**
 * Test of one variant (point that the specification leaves open). `seen` has the expected responses for each value of
 * the variant.
 */
export interface Probe {
  /** Sends requests whose responses depend on the variant. Returns the responses in the short form of `seen`. */
  readonly look: (service: Service) => Promise<readonly unknown[]>;
  readonly seen: Readonly<Record<string, readonly unknown[]>>;
}

export const outcome = ({ status, json }: ServiceResponse): string =>
  json?.code ? `${status} ${json.code}` : `${status}`;

export const READS = [
  ['GET', `${V1}/commit?sha=main`],
  ['GET', `${V1}/files/metadata`],
  ['POST', `${V1}/archive`],
  ['GET', '/api/repos/team%2Fapp/branches'],
] as const;

export async function readAll(service: Service, options: Parameters<Service['call']>[2]): Promise<string[]> {
  const outcomes: string[] = [];
  for (const [method, target] of READS) outcomes.push(outcome(await service.call(method, target, options)));
  return outcomes;
}

export function restore(service: Service, metadata: object, type = 'application/x-ndjson'): Promise<ServiceResponse> {
  const body = `${JSON.stringify({ metadata: { target_branch: 'main', author: ADA, ...metadata } })}\n`;
  return service.call('POST', `${V1}/restore-commit`, { body, headers: { 'content-type': type } });
}

export async function tip(service: Service): Promise<string> {
  return (await service.call('GET', `${V1}/commit?sha=main`)).json.commit.sha;
}
