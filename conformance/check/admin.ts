import { createPublicKey } from 'node:crypto';
import { createSigner } from '../auth/tokens.js';
import { type AdminResponse, callAdmin } from '../http/admin.js';
import { isRecord, type JsonRecord } from '../http/exchange.js';
import { defined } from '../target/json.js';
import type { SigningKey } from '../target/keys.js';
import { isLoopback, type Target } from '../target/target.js';
import { Skip } from './outcomes.js';
import { RuleContext } from './rule-context.js';

/**
 * Sends a request to an admin route of the emulator (below `/_emulator`) and returns the JSON object of the response.
 * Returns an empty object if the response is not a JSON object. Throws if the status is above 299.
 *
 * The response is not evidence for the rule's verdict, because admin requests only prepare the situation that the rule
 * checks. The rule is skipped if the target is not an emulator, or if a required admin token was not given.
 */
export async function askAdmin(t: RuleContext, method: string, path: string, json?: object): Promise<JsonRecord> {
  const response = await tryAdmin(t, method, path, json);
  if (response.status > 299)
    throw new Error(`${method} ${t.target.adminUrl}${path} returned ${response.status}: ${response.text}`);
  return isRecord(response.json) ? response.json : {};
}

/**
 * Sends a request to an admin route of the emulator and returns the response, whatever its status. The rule is skipped
 * if the target is not an emulator, or if a required admin token was not given.
 */
export async function tryAdmin(t: RuleContext, method: string, path: string, json?: object): Promise<AdminResponse> {
  t.needsEmulator();
  const { adminUrl = '', adminToken } = t.target;
  const response = await callAdmin({ url: `${adminUrl}${path}`, method, json, token: adminToken });
  if (response.status === 401)
    throw new Skip("needs the emulator's admin token: --admin-token or EMULATOR_ADMIN_TOKEN");
  return response;
}

/**
 * Changes the emulator's state for the organization under test, to prepare what a rule checks. The state includes
 * repository states, organization switches and limits.
 */
export async function changeState(t: RuleContext, changes: object): Promise<void> {
  await askAdmin(t, 'PATCH', `/state?organization=${encodeURIComponent(t.target.org)}`, changes);
}

/**
 * Returns true if the suite can create namespaces on the target and reach them. A namespace is an isolated world of the
 * emulator with its own state and ports, so the target must be an emulator on this machine.
 */
export function hasNamespaces({ adminUrl, baseUrl }: Target): boolean {
  return adminUrl !== undefined && isLoopback(baseUrl);
}

/**
 * Runs a part of a rule in a new namespace: an isolated world of the emulator with its own state and ports. Changes
 * made by this part therefore do not affect other rules of the run. The namespace is deleted afterwards. Exchanges and
 * notes of this part count for the rule `t`.
 *
 * - `options`: JSON body of the request that creates the namespace.
 * - `restrictedKey`: restricted key to register in the namespace.
 */
export async function inNamespace<Result>(
  t: RuleContext,
  options: object,
  check: (inner: RuleContext) => Promise<Result>,
  restrictedKey?: SigningKey,
): Promise<Result> {
  t.needsEmulator();
  if (!hasNamespaces(t.target)) throw new Skip('a namespace of the emulator can be reached only from its own machine');
  const { id, admin_url: adminUrl, orgs } = await askAdmin(t, 'POST', '/namespaces', options);
  try {
    const own = (orgs as { org: string; base_url: string; git_url: string }[]).find(({ org }) => org === t.target.org);
    if (own === undefined) throw new Skip(`a namespace of the emulator has no organization ${t.target.org}`);
    // `onRepository` records nothing for cleanup, because deleting the namespace deletes all repositories in it.
    const place = { baseUrl: own.base_url, gitUrl: own.git_url, adminUrl: String(adminUrl), write: true };
    const target = { ...t.target, ...place, ...defined({ restrictedKey }) };
    const run = {
      target,
      signer: createSigner(target, t.run.now),
      fixtures: new Map(),
      attempts: new Map(),
      onRepository: () => Promise.resolve(),
    };
    const inner = new RuleContext(t.rule, { ...t.run, ...run }, t);
    await registerKey(inner, inner.key('main'));
    if (restrictedKey !== undefined) await registerKey(inner, restrictedKey);
    return await check(inner);
  } finally {
    await askAdmin(t, 'DELETE', `/namespaces/${id}`);
  }
}

/**
 * Registers a key in a new namespace. A new namespace knows only the keys with which the emulator was started. The
 * suite's key may have been registered later, so the namespace would reject its tokens.
 */
async function registerKey(t: RuleContext, { id, privateKey, allowedScopes }: SigningKey): Promise<void> {
  const public_key = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' });
  const organization = t.target.org;
  const json = { public_key, organization, id, allowed_scopes: allowedScopes };
  const { status, text } = await tryAdmin(t, 'POST', '/keys', json);
  if (status > 299 && status !== 409) throw new Error(`the key cannot be registered in a namespace: ${text}`);
}
