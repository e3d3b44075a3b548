import { homedir, hostname } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import type { ScratchEntry } from '../index.js';
import { TARGET_FLAGS, type TargetArguments, wordsOf } from './target-options.js';

/** Default path of the journal that runs share, in the user's state folder. */
export function defaultJournal(): string {
  const { XDG_STATE_HOME: state = '', LOCALAPPDATA: local = '' } = process.env;
  const folder = process.platform === 'win32' ? local : state;
  // XDG Base Directory specification: a relative path must be ignored.
  const base = isAbsolute(folder) ? folder : join(homedir(), '.local', 'state');
  return join(base, 'repohost-emulator', 'conformance-scratch.ndjson');
}

/** Describes this process for journal entries. File names are absolute, because `gc` may run in another folder. */
export function ownerOf(args: TargetArguments): Pick<ScratchEntry, 'pid' | 'host' | 'flags'> {
  return { pid: process.pid, host: hostname(), flags: wordsOf(TARGET_FLAGS, args, resolve) };
}
