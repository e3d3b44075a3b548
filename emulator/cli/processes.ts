import { readFileSync } from 'node:fs';

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
  try {
    // proc_pid_stat(5): "pid (comm) state ppid pgrp session tty_nr tpgid"; comm may hold anything.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ');
    const [parent, group, session, terminal, foreground] = fields.slice(1, 6).map(Number) as Five;
    return { state: fields[0]!, parent, group, session, terminal, foreground };
  } catch {
    return undefined;
  }
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
