import { json } from './json.js';
import { createPretty } from './pretty.js';
import type { Reporter } from './reporter.js';
import { tap } from './tap.js';

export const REPORTERS = ['pretty', 'tap', 'json'] as const;

export type ReporterName = (typeof REPORTERS)[number];

/** `color`: whether the output is a terminal that shows colours. */
export function reporterOf(name: ReporterName, color: boolean): Reporter {
  return { pretty: createPretty(color), tap, json }[name];
}
