import type { StateName } from '../world/state.js';

/** Part of the emulator's state. `in` says if an export of the state contains the part. */
export interface ExportPart {
  readonly in: boolean;
  readonly what: string;
  readonly why: string;
}

/** Parts of the emulator's state that belong to the process, not to a world (the state that clients see). */
type ProcessPart = 'snapshots' | 'namespaces';

const SESSION = 'only of interest while the emulator runs';

/**
 * Parts of the emulator's state that an export contains (`in: true`) or omits. An export contains everything that
 * clients can see through the API.
 */
export const EXPORT_PARTS: Readonly<Record<StateName | ProcessPart, ExportPart>> = {
  repositories: {
    in: true,
    what: 'repositories with refs, objects, forks, LFS, deployments, hosting, states',
    why: 'visible to clients; credentials and variables only with --include-secrets',
  },
  organizations: { in: true, what: 'organizations with public keys and settings', why: 'visible to clients' },
  webhooks: { in: true, what: 'webhooks', why: 'visible to clients; their secrets only with --include-secrets' },
  deliveries: { in: true, what: 'webhook deliveries, pending and ended', why: 'pending deliveries are still sent' },
  quotas: { in: true, what: 'quotas, and their usage', why: 'they affect responses' },
  settings: { in: true, what: 'limits and variants set at run time', why: 'they affect responses' },
  clock: { in: true, what: 'the clock and its mode', why: 'the time continues' },
  ids: { in: true, what: 'counters of ids', why: 'no id is used twice' },
  requests: { in: true, what: 'the count of requests', why: 'no request id is used twice' },
  conversations: { in: true, what: 'the count of Git sessions', why: 'no session id is used twice' },
  searches: { in: true, what: 'searches already made', why: 'visible to clients in X-Cache' },
  journal: { in: false, what: 'the journal of requests', why: SESSION },
  faults: { in: false, what: 'faults and their counters', why: SESSION },
  scenarios: { in: false, what: 'running scenarios', why: SESSION },
  snapshots: { in: false, what: 'snapshots', why: SESSION },
  namespaces: {
    in: false,
    what: 'namespaces with their repositories',
    why: 'their ports close with the process; --namespace ID exports one',
  },
};

/** Returns the parts of the emulator's state as a list for JSON, each with its name. */
export function exportParts(): ({ readonly part: string } & ExportPart)[] {
  return Object.entries(EXPORT_PARTS).map(([part, row]) => ({ part, ...row }));
}
