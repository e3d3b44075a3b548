import { rename, rm, writeFile } from 'node:fs/promises';
import type { Emulator } from '../index.js';
import { UsageError } from './usage-error.js';

/** What scripts wait for: one line of JSON that says where everything is. */
export function readyLine(emulator: Emulator, pid: number): string {
  const { baseUrl, gitUrl, gitHost, org, orgs, keyId, keyFile, adminUrl } = emulator;
  const ready = {
    event: 'ready',
    base_url: baseUrl,
    git_url: gitUrl,
    git_host: gitHost,
    org,
    orgs: orgs.map((other) => ({
      org: other.org,
      base_url: other.baseUrl,
      git_url: other.gitUrl,
      git_host: other.gitHost,
    })),
    key_id: keyId,
    key_file: keyFile,
    admin_url: adminUrl,
    pid,
  };
  return `${JSON.stringify(ready)}\n`;
}

/** Writes the line under another name first: who sees the file sees all of it. Throws `UsageError`. */
export async function publishReady(file: string, line: string): Promise<void> {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(draft, line);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    throw new UsageError(`The ready file cannot be written: ${(error as Error).message}.`);
  }
}
