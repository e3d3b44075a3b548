import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** What is asked for over and over. */
export interface Load {
  readonly port: number;
  readonly path: string;
  readonly authorization: string;
  readonly connections: number;
  readonly milliseconds: number;
}

/** Runs `servers/load.ts`; answers per second. */
export async function countRequests(load: Load): Promise<number> {
  const script = fileURLToPath(new URL('./servers/load.js', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(load)]);
  const { answers, failures, seconds } = JSON.parse(stdout) as { answers: number; failures: number; seconds: number };
  if (failures > 0) throw new Error(`${failures} requests were not answered with 200`);
  return answers / seconds;
}
