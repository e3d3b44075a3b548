import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import type { Emulator, OrganizationAddress } from '../index.js';
import { UsageError } from './usage-error.js';

/** What scripts wait for: one line of JSON that says where everything is. */
export function readyLine(emulator: Emulator, pid: number): string {
  const { org, orgs, keyId, keyFile, adminUrl, adminTokenFile } = emulator;
  const ready = {
    event: 'ready',
    ...addressMembers(emulator),
    org,
    orgs: orgs.map((other) => ({ org: other.org, ...addressMembers(other) })),
    key_id: keyId === '' ? null : keyId,
    key_file: keyFile === '' ? null : keyFile,
    admin_url: adminUrl,
    ...(adminTokenFile !== undefined && { admin_token_file: adminTokenFile }),
    pid,
  };
  return `${JSON.stringify(ready)}\n`;
}

function addressMembers({ baseUrl, gitUrl, gitHost, https }: Omit<OrganizationAddress, 'org'>) {
  return {
    base_url: baseUrl,
    git_url: gitUrl,
    git_host: gitHost,
    ...(https && { https_base_url: https.baseUrl, https_git_url: https.gitUrl, https_git_host: https.gitHost }),
  };
}

/**
 * A script that waits for the file must not find that of an earlier run. What is no file, such as a folder or `/dev/full`,
 * is neither removed nor replaced. Throws `UsageError`.
 */
export async function clearReady(file: string): Promise<void> {
  await saying(async () => {
    const found = await stat(file).catch(ignoreAbsent);
    if (found && !found.isFile()) throw new Error(`${file} is no regular file`);
    await rm(file, { force: true });
  });
}

/** Writes the line under another name first: who sees the file sees all of it. Throws `UsageError`. */
export async function publishReady(file: string, line: string): Promise<void> {
  const draft = `${file}.${process.pid}.tmp`;
  await saying(async () => {
    try {
      await writeFile(draft, line);
      await rename(draft, file);
    } catch (error) {
      await rm(draft, { force: true }).catch(() => {});
      throw error;
    }
  });
}

/** Removes the file again, unless it has become another emulator's. */
export async function withdrawReady(file: string, line: string): Promise<void> {
  try {
    if ((await readFile(file, 'utf8')) === line) await rm(file);
  } catch {
    // The emulator stops all the same; the process id in the file tells that it has ended.
  }
}

/** What a ready file says to those who wait. */
export interface Ready {
  readonly url: string;
  readonly pid: number;
  readonly gitUrl: string | undefined;
  readonly https: { readonly url: string; readonly gitUrl: string } | undefined;
  readonly keyFile: string | undefined;
  readonly adminTokenFile: string | undefined;
}

/** Undefined while there is none that can be read. */
export async function readReady(file: string): Promise<Ready | undefined> {
  try {
    const line = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
    const textOf = (name: string) => (typeof line[name] === 'string' ? line[name] : undefined);
    const url = textOf('base_url');
    const httpsUrl = textOf('https_base_url');
    if (url !== undefined && URL.canParse(url) && Number.isSafeInteger(line.pid)) {
      return {
        url,
        pid: Number(line.pid),
        gitUrl: textOf('git_url'),
        https: httpsUrl === undefined ? undefined : { url: httpsUrl, gitUrl: textOf('https_git_url') ?? httpsUrl },
        keyFile: textOf('key_file'),
        adminTokenFile: textOf('admin_token_file'),
      };
    }
  } catch {
    // It may still come.
  }
  return undefined;
}

async function saying(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    throw new UsageError(`The ready file cannot be written: ${(error as Error).message}.`);
  }
}

function ignoreAbsent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
