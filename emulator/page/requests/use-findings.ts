import type { Verification } from '@emulator/admin/verify.js';
import { post } from '../api/client.js';
import { useLoaded, useReloads } from '../components/loaded.js';
import { type Findings, findingsOf } from './axis-findings.js';

/** Minimum time in milliseconds between two verifications. The emulator examines the whole journal for each. */
const PAUSE = 5_000;

/**
 * Verifies the client rules, and again after requests have arrived. `lastEvent` is the id of the last event about the
 * requests.
 */
export function useFindings(lastEvent: number) {
  const { value, error, reload } = useLoaded(
    async (signal) => findingsOf((await post<Verification>('verify', { client: true }, { signal })).client),
    [],
  );
  useReloads(reload, lastEvent, PAUSE);
  return { findings: value ?? NO_FINDINGS, error };
}

const NO_FINDINGS: Findings = { rulesOf: new Map(), broken: 0, isPartial: false };
