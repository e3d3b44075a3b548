import { readFileSync } from 'node:fs';
import { statusOf } from '../system/process-owner.js';

/** Facts about a process, read from `/proc/PID/stat` on Linux. */
export interface ProcessRecord {
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Device number of the process's controlling terminal; 0 if none. */
  readonly terminal: number;
  /** Id of the terminal's foreground process group. This group gets the signal when the user types Ctrl-C. */
  readonly foreground: number;
}

/** Returns facts about a process. Returns undefined if the process does not exist, or if the system is not Linux. */
export function processRecord(pid: number): ProcessRecord | undefined {
  // Format of the line: "pid (comm) state ppid pgrp session tty_nr tpgid" (proc_pid_stat(5)).
  const [state, ...fields] = statusOf(pid);
  const [parent, group, session, terminal, foreground] = fields.slice(0, 5).map(Number) as Five;
  return state === undefined ? undefined : { state, parent, group, session, terminal, foreground };
}

type Five = [number, number, number, number, number];

/** Returns the command line of a process as a list of arguments; empty if unknown. */
export function commandLine(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replace(/\0+$/, '').split('\0');
  } catch {
    return [];
  }
}
