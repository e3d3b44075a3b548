import type { StateName } from '../world/state.js';

/** One part of what an emulator holds, and whether an export has it. */
export interface ExportPart {
  readonly isIn: boolean;
  readonly what: string;
  readonly why: string;
}

/** What stays with the process beside the state of a world. */
type ProcessPart = 'snapshots' | 'namespaces';

const SESSION = 'is of one session';

/** What an export holds, and what it leaves out: clients find again what they can see through the API. */
export const EXPORT_PARTS: Readonly<Record<StateName | ProcessPart, ExportPart>> = {
  repositories: {
    isIn: true,
    what: 'repositories with refs, objects, forks, LFS, deployments, hosting, states',
    why: 'clients see them; credentials and variables only with --include-secrets',
  },
  organizations: { isIn: true, what: 'organizations with public keys and switches', why: 'clients see them' },
  webhooks: { isIn: true, what: 'webhooks', why: 'clients see them; their secrets only with --include-secrets' },
  deliveries: { isIn: true, what: 'webhook deliveries, waiting and ended', why: 'what waits is still to be sent' },
  quotas: { isIn: true, what: 'quotas, and how far they are used', why: 'clients meet them' },
  settings: { isIn: true, what: 'limits and variants set while it ran', why: 'clients meet them' },
  clock: { isIn: true, what: 'the clock and its mode', why: 'times go on from there' },
  ids: { isIn: true, what: 'counters of ids', why: 'no id comes twice' },
  requests: { isIn: true, what: 'the count of requests', why: 'no request id comes twice' },
  conversations: { isIn: true, what: 'the count of Git sessions', why: 'no session id comes twice' },
  searches: { isIn: true, what: 'which searches were answered', why: 'X-Cache tells clients' },
  journal: { isIn: false, what: 'the journal of requests', why: SESSION },
  faults: { isIn: false, what: 'armed faults and their counters', why: SESSION },
  scenarios: { isIn: false, what: 'running scenarios', why: SESSION },
  snapshots: { isIn: false, what: 'snapshots', why: SESSION },
  namespaces: {
    isIn: false,
    what: 'namespaces with their repositories',
    why: 'their ports end with the process; --namespace ID exports one',
  },
};

/** The rows as they stand in JSON. */
export function exportParts(): {
  readonly part: string;
  readonly in: boolean;
  readonly what: string;
  readonly why: string;
}[] {
  return Object.entries(EXPORT_PARTS).map(([part, { isIn, what, why }]) => ({ part, in: isIn, what, why }));
}
