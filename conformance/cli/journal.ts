import { homedir, hostname } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { ScratchEntry } from '../index.js';
import { TARGET_FLAGS, type TargetArguments, wordsOf } from './target-options.js';

/** The journal that runs share unless they are given another: in the state folder of the user. */
export function defaultJournal(): string {
  const { XDG_STATE_HOME: state = '', LOCALAPPDATA: local = '' } = process.env;
  const folder = process.platform === 'win32' ? local : state;
  // The XDG specification: what is no absolute path is not there.
  const base = isAbsolute(folder) ? folder : join(homedir(), '.local', 'state');
  return join(base, 'repohost-emulator', 'conformance-scratch.ndjson');
}

/** What every entry of this process says of it. Names of files are absolute, because `gc` may run in another folder. */
export function ownerOf(args: TargetArguments): Pick<ScratchEntry, 'pid' | 'host' | 'flags'> {
  return { pid: process.pid, host: hostname(), flags: wordsOf(TARGET_FLAGS, args, resolve) };
}
