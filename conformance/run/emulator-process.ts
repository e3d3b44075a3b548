import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { readKey, type SigningKey } from '../auth/keys.js';
import type { SecondOrganization, Target } from '../target.js';
import { packageRoot } from './version.js';

/** A running emulator and the target it is. */
export interface EmulatorProcess {
  readonly target: Target;
  stop(): Promise<void>;
}

interface ReadyLine {
  readonly event: 'ready';
  readonly base_url: string;
  readonly git_url: string;
  readonly org: string;
  readonly orgs?: readonly { readonly org: string; readonly base_url: string; readonly git_url: string }[];
  readonly key_id: string;
  readonly key_file: string;
  readonly admin_url?: string;
}

/** Starts the package's own emulator on a free port and waits until it says it is ready. */
export async function startEmulator(timeout = 20_000): Promise<EmulatorProcess> {
  const script = join(packageRoot(), 'bin', 'emulator.js');
  const args = [script, 'start', '--port', '0', '--org', 'demo', '--org', 'second', '--log', 'quiet'];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const stop = () => stopChild(child);
  try {
    const ready = await readReady(child, timeout);
    return { target: await targetOf(ready), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function readReady(child: ChildProcess, timeout: number): Promise<ReadyLine> {
  let complaint = '';
  child.stderr?.on('data', (part: Buffer) => {
    complaint = (complaint + part.toString('utf8')).slice(-4000);
  });
  return new Promise<ReadyLine>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the emulator was not ready within ${timeout / 1000} s`)), timeout);
    const settle = (act: () => void) => {
      clearTimeout(timer);
      act();
    };
    child.once('error', (error) => settle(() => reject(error)));
    child.once('exit', (code) =>
      settle(() => reject(new Error(`the emulator ended with ${code}: ${complaint.trim()}`))),
    );
    if (child.stdout === null) return;
    createInterface({ input: child.stdout }).on('line', (line) => {
      const ready = parseReady(line);
      if (ready !== undefined) settle(() => resolve(ready));
    });
  });
}

function parseReady(line: string): ReadyLine | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const value = JSON.parse(line) as { event?: unknown };
    return value.event === 'ready' ? (value as ReadyLine) : undefined;
  } catch {
    return undefined;
  }
}

/** The target an emulator describes: the test keys of every kind lie beside its default key. */
async function targetOf(ready: ReadyLine): Promise<Target> {
  const folder = dirname(ready.key_file);
  const about = await readKeyIndex(folder);
  const read = async (name: string): Promise<SigningKey | undefined> => {
    const file = join(folder, `${name}.pem`);
    return existsSync(file) ? readKey(file, about.get(`${name}.pem`)) : undefined;
  };
  const key = await readKey(ready.key_file, { id: ready.key_id });
  const others = await Promise.all(['es256', 'es384', 'es512', 'rs256'].map(read));
  const [restrictedKey, deletedKey, secondKey] = await Promise.all(['restricted', 'deleted', 'second'].map(read));
  const secondOrg = ready.orgs?.find(({ org }) => org !== ready.org);
  const second: SecondOrganization | undefined =
    secondOrg === undefined || secondKey === undefined
      ? undefined
      : { org: secondOrg.org, key: secondKey, baseUrl: secondOrg.base_url };
  return {
    baseUrl: ready.base_url,
    gitUrl: ready.git_url,
    org: ready.org,
    key,
    otherKeys: others.filter((other) => other !== undefined && other.file !== key.file) as SigningKey[],
    write: true,
    companion: true,
    ...(restrictedKey === undefined ? {} : { restrictedKey }),
    ...(deletedKey === undefined ? {} : { deletedKey }),
    ...(second === undefined ? {} : { second }),
    adminUrl: ready.admin_url ?? `${ready.base_url}/_emulator`,
  };
}

type KeyFacts = { readonly id?: string; readonly allowedScopes?: readonly string[] };

/** `keys.json`: ids and allowlists of the test keys, by file name. */
async function readKeyIndex(folder: string): Promise<Map<string, KeyFacts>> {
  const facts = new Map<string, KeyFacts>();
  const file = join(folder, 'keys.json');
  if (!existsSync(file)) return facts;
  const parsed: unknown = JSON.parse(await readFile(file, 'utf8'));
  const rows = Array.isArray(parsed) ? parsed : ((parsed as { keys?: unknown[] }).keys ?? []);
  for (const row of rows as Record<string, unknown>[]) {
    const name = String(row.file ?? row.private_key_file ?? `${row.name}.pem`)
      .split('/')
      .at(-1) as string;
    const scopes = row.allowed_scopes as readonly string[] | undefined;
    const id = row.key_id ?? row.id ?? row.kid;
    facts.set(name, {
      ...(typeof id === 'string' ? { id } : {}),
      ...(scopes === undefined || scopes.includes('*') ? {} : { allowedScopes: scopes }),
    });
  }
  return facts;
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const patience = setTimeout(() => child.kill('SIGKILL'), 5000);
  await ended;
  clearTimeout(patience);
}
