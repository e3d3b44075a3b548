import fc from 'fast-check';
import { operations } from '../../api/index.js';
import type { Operation } from '../../operation/operation.js';
import { type ByName, randomRequests } from '../concurrency/random-requests.js';
import type { RandomPush } from '../git/random-objects.js';
import { faultOf } from '../operations/documented-response.js';
import type { Service } from '../service.js';

const SCOPES = ['git:read', 'git:write', 'repo:write', 'org:read', 'deployment:read', 'deployment:write'];

/** Returns the API operations about one repository that have this effect, such as read or write. */
function operationsOf(effect: Operation['effect']): readonly Operation[] {
  return operations.filter(({ group, subject, ...row }) => {
    return row.effect === effect && subject !== 'organization' && subject !== 'new-repository' && group !== 'Git';
  });
}

/**
 * Returns names for random requests, by kind: refs, objects and paths. They come from the pushed ref `ref` and the
 * pushed objects.
 */
function namesOf({ tips, objects }: RandomPush, ref: string): ByName {
  const short = ref.replace(/^refs\/(heads|tags)\//, '');
  const oid = tips.find((tip) => tip.ref === ref)!.oid;
  const text = objects.filter(({ type }) => type === 'tree').map(({ body }) => body.toString('latin1'));
  const paths = text.flatMap((body) => [...body.matchAll(/\d+ ([^\0]+)\0/g)].map((match) => match[1]!));
  const spelled = [short, ref, oid, `${short}^{}`, `${short}^{tree}`, `${short}~1`];
  const through = paths.slice(0, 4).map((path) => `${short}:${path}`);
  return [
    [/^notes_ref$/, [ref, 'commits', 'odd']],
    [/^(name|tag|branch|.*_branch)$/, [short, ref]],
    [/^(ref|sha|rev|base|head|target|object_ref|baseSha|.*_ref|.*_sha|.*Sha)$/, [...spelled, ...through]],
    [/path/i, ['a', 'dt', ...paths, 'dt/a']],
  ];
}

interface AskOptions {
  readonly seed: number;
  /** Number of requests to send for each pair of operation and ref. */
  readonly samples: number;
}

/**
 * Sends requests of every operation with this effect (read or write) about every pushed ref. Returns a description of
 * each wrong response.
 */
async function askAll(
  service: Service,
  push: RandomPush,
  effect: Operation['effect'],
  { seed, samples }: AskOptions,
): Promise<string[]> {
  const faults: string[] = [];
  const shas = [push.tips[0]!.oid, push.tips[0]!.oid, push.tips.at(1)?.oid ?? push.tips[0]!.oid];
  for (const operation of operationsOf(effect)) {
    const { method } = operation.routes[0]!;
    for (const { ref } of push.tips) {
      const requests = randomRequests(operation, 'team/app', shas, namesOf(push, ref));
      for (const { target, body } of fc.sample(requests, { seed, numRuns: samples })) {
        const response = await service.call(method, target, { scopes: SCOPES, ...(body && { body }) });
        const fault = faultOf(operation, response);
        if (fault !== undefined)
          faults.push(`${method} ${target} ${body ?? ''}: ${fault} ${response.text.slice(0, 200)}`);
      }
    }
  }
  return faults;
}

/**
 * Sends requests of every writing operation that use the pushed refs as target or source. Returns a description of each
 * wrong response.
 */
export function writeEverything(service: Service, push: RandomPush, options: AskOptions): Promise<string[]> {
  return askAll(service, push, 'write', options);
}

/**
 * Sends requests of every reading operation with every name of each pushed ref, and fetches every ref. Returns the
 * mistakes in the responses: an undocumented status, a 5xx status, or a body that does not match the schema.
 */
export async function readEverything(service: Service, push: RandomPush, options: AskOptions): Promise<string[]> {
  const faults = await askAll(service, push, 'read', options);
  for (const remote of ['team/app', 'team/app+ephemeral']) {
    const listed = await service.call('GET', `/${remote}.git/info/refs?service=git-upload-pack`);
    const shown = [...listed.text.matchAll(/([0-9a-f]{40}) (?:refs|HEAD)/g)].map((match) => match[1]!);
    if (listed.status !== 200) faults.push(`info/refs: ${listed.status}`);
    if (shown.length === 0) continue;
    for (const wants of [shown, ...shown.map((oid) => [oid])]) {
      const lines = wants.map((oid) => `0032want ${oid}\n`).join('');
      const response = await service.call('POST', `/${remote}.git/git-upload-pack`, {
        headers: { 'content-type': 'application/x-git-upload-pack-request', 'git-protocol': 'version=2' },
        body: `0011command=fetch0001${lines}0009done\n0000`,
      });
      if (response.status !== 200 || !response.bytes.includes('PACK'))
        faults.push(`fetch ${wants}: ${response.status} ${response.text.slice(0, 200)}`);
    }
  }
  return faults;
}
