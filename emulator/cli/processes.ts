import { readFileSync } from 'node:fs';
import { statusOf } from '../system/process-owner.js';

/** What Linux tells of a process. */
export interface ProcessRecord {
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Its controlling terminal; 0: none. */
  readonly terminal: number;
  /** The group that its terminal sends Ctrl-C to. */
  readonly foreground: number;
}

/** Undefined where there is no such process, and on other systems than Linux. */
export function processRecord(pid: number): ProcessRecord | undefined {
  // proc_pid_stat(5): "pid (comm) state ppid pgrp session tty_nr tpgid".
  const [state, ...fields] = statusOf(pid);
  const [parent, group, session, terminal, foreground] = fields.slice(0, 5).map(Number) as Five;
  return state === undefined ? undefined : { state, parent, group, session, terminal, foreground };
}

type Five = [number, number, number, number, number];

/** The words a process was started with; empty where that is not known. */
export function commandLine(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').replace(/\0+$/, '').split('\0');
  } catch {
    return [];
  }
}
