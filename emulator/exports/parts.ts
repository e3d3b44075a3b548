import type { StateName } from '../world/state.js';

/** Part of the state of an emulator, and if an export contains it. */
export interface ExportPart {
  readonly in: boolean;
  readonly what: string;
  readonly why: string;
}

/** Parts of the process outside of the state of a world. */
type ProcessPart = 'snapshots' | 'namespaces';

const SESSION = 'is of one session';

/** Parts that an export contains or omits. It contains what clients can see through the API. */
export const EXPORT_PARTS: Readonly<Record<StateName | ProcessPart, ExportPart>> = {
  repositories: {
    in: true,
    what: 'repositories with refs, objects, forks, LFS, deployments, hosting, states',
    why: 'clients see them; credentials and variables only with --include-secrets',
  },
  organizations: { in: true, what: 'organizations with public keys and switches', why: 'clients see them' },
  webhooks: { in: true, what: 'webhooks', why: 'clients see them; their secrets only with --include-secrets' },
  deliveries: { in: true, what: 'webhook deliveries, waiting and ended', why: 'what waits is still to be sent' },
  quotas: { in: true, what: 'quotas, and how far they are used', why: 'clients meet them' },
  settings: { in: true, what: 'limits and variants set while it ran', why: 'clients meet them' },
  clock: { in: true, what: 'the clock and its mode', why: 'times go on from there' },
  ids: { in: true, what: 'counters of ids', why: 'no id comes twice' },
  requests: { in: true, what: 'the count of requests', why: 'no request id comes twice' },
  conversations: { in: true, what: 'the count of Git sessions', why: 'no session id comes twice' },
  searches: { in: true, what: 'which searches were answered', why: 'X-Cache tells clients' },
  journal: { in: false, what: 'the journal of requests', why: SESSION },
  faults: { in: false, what: 'armed faults and their counters', why: SESSION },
  scenarios: { in: false, what: 'running scenarios', why: SESSION },
  snapshots: { in: false, what: 'snapshots', why: SESSION },
  namespaces: {
    in: false,
    what: 'namespaces with their repositories',
    why: 'their ports end with the process; --namespace ID exports one',
  },
};

/** The rows as JSON. */
export function exportParts(): ({ readonly part: string } & ExportPart)[] {
  return Object.entries(EXPORT_PARTS).map(([part, row]) => ({ part, ...row }));
}
