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
 * Sends a request to an admin route (below `/_emulator`) and returns the JSON of its response. The response is not
 * evidence: admin requests only prepare the situation that a rule checks. Skips the rule if the target is not an
 * emulator or requires an admin token that was not given.
 */
export async function askAdmin(t: RuleContext, method: string, path: string, json?: object): Promise<JsonRecord> {
  const response = await tryAdmin(t, method, path, json);
  if (response.status > 299)
    throw new Error(`${method} ${t.target.adminUrl}${path} returned ${response.status}: ${response.text}`);
  return isRecord(response.json) ? response.json : {};
}

/** Sends a request to an admin route and returns the response, whatever its status. Skips the rule like `askAdmin`. */
export async function tryAdmin(t: RuleContext, method: string, path: string, json?: object): Promise<AdminResponse> {
  t.needsEmulator();
  const { adminUrl = '', adminToken } = t.target;
  const response = await callAdmin({ url: `${adminUrl}${path}`, method, json, token: adminToken });
  if (response.status === 401)
    throw new Skip("needs the emulator's admin token: --admin-token or EMULATOR_ADMIN_TOKEN");
  return response;
}

/** Changes the state of the emulator: repository states, organization switches, limits. */
export async function changeState(t: RuleContext, changes: object): Promise<void> {
  await askAdmin(t, 'PATCH', `/state?organization=${encodeURIComponent(t.target.org)}`, changes);
}

/** Returns true if the suite can create namespaces at the target and reach them. */
export function hasNamespaces({ adminUrl, baseUrl }: Target): boolean {
  return adminUrl !== undefined && isLoopback(baseUrl);
}

/**
 * Runs a part of a rule in a new namespace, isolated from all other rules of the run. `options` are the options of the
 * namespace. Requests, exchanges and notes of this part belong to the rule. `restrictedKey`: a restricted key to
 * register in the namespace.
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
    // Cleanup is not needed, because deleting the namespace deletes everything in it.
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
 * Registers a key in a namespace. A new namespace has only the keys that the emulator was started with. The key of the
 * suite may have been registered later, so it must be registered in the namespace as well.
 */
async function registerKey(t: RuleContext, { id, privateKey, allowedScopes }: SigningKey): Promise<void> {
  const public_key = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' });
  const organization = t.target.org;
  const json = { public_key, organization, id, allowed_scopes: allowedScopes };
  const { status, text } = await tryAdmin(t, 'POST', '/keys', json);
  if (status > 299 && status !== 409) throw new Error(`the key cannot be registered in a namespace: ${text}`);
}
