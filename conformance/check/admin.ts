import { createPublicKey } from 'node:crypto';
import { createSigner } from '../auth/tokens.js';
import { type AdminAnswer, callAdmin } from '../http/admin.js';
import { isRecord, type JsonRecord } from '../http/exchange.js';
import { defined } from '../target/json.js';
import type { SigningKey } from '../target/keys.js';
import { isLoopback, type Target } from '../target/target.js';
import { Skip } from './outcomes.js';
import { RuleContext } from './rule-context.js';

/**
 * Asks a route below `/_emulator`, and gives what it answers. Nothing of it is evidence: it makes the occasion that a
 * rule needs. Skips the rule where the target is no emulator, or does not let the suite in.
 */
export async function askAdmin(t: RuleContext, method: string, path: string, json?: object): Promise<JsonRecord> {
  const answer = await tryAdmin(t, method, path, json);
  if (answer.status > 299) throw new Error(`${method} ${t.target.adminUrl}${path} is ${answer.status}: ${answer.text}`);
  return isRecord(answer.json) ? answer.json : {};
}

/** The same with whatever comes of it. */
export async function tryAdmin(t: RuleContext, method: string, path: string, json?: object): Promise<AdminAnswer> {
  t.needsEmulator();
  const { adminUrl = '', adminToken } = t.target;
  const answer = await callAdmin({ url: `${adminUrl}${path}`, method, json, token: adminToken });
  if (answer.status === 401) throw new Skip("needs the emulator's admin token: --admin-token or EMULATOR_ADMIN_TOKEN");
  return answer;
}

/** Sets states of repositories, switches of organizations, limits. */
export async function changeState(t: RuleContext, changes: object): Promise<void> {
  await askAdmin(t, 'PATCH', `/state?organization=${encodeURIComponent(t.target.org)}`, changes);
}

/** Whether the target lets the suite make namespaces that it can reach. */
export function hasNamespaces({ adminUrl, baseUrl }: Target): boolean {
  return adminUrl !== undefined && isLoopback(baseUrl);
}

/**
 * Runs a part of a rule in a world of its own, which no other rule of the run meets: `options` are those of a
 * namespace. What it sends, sees and notes belongs to the rule. `restrictedKey`: one that is registered there.
 */
export async function inNamespace<Result>(
  t: RuleContext,
  options: object,
  check: (inner: RuleContext) => Promise<Result>,
  restrictedKey?: SigningKey,
): Promise<Result> {
  t.needsEmulator();
  if (!hasNamespaces(t.target)) throw new Skip('a namespace of the emulator is reached on its own machine only');
  const { id, admin_url: adminUrl, orgs } = await askAdmin(t, 'POST', '/namespaces', options);
  try {
    const own = (orgs as { org: string; base_url: string; git_url: string }[]).find(({ org }) => org === t.target.org);
    if (own === undefined) throw new Skip(`a namespace of the emulator has no organization ${t.target.org}`);
    // Whatever is made there goes with it.
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

/** A namespace begins with the keys of the start; the one given to the suite may have come later. */
async function registerKey(t: RuleContext, { id, privateKey, allowedScopes }: SigningKey): Promise<void> {
  const public_key = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' });
  const organization = t.target.org;
  const json = { public_key, organization, id, allowed_scopes: allowedScopes };
  const { status, text } = await tryAdmin(t, 'POST', '/keys', json);
  if (status > 299 && status !== 409) throw new Error(`the key cannot be registered in a namespace: ${text}`);
}
