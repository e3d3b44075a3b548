import { github } from './github.js';
import { html } from './html/report-page.js';
import { junit } from './junit.js';
import { markdown } from './markdown.js';
import { createPretty } from './pretty.js';
import type { Reporter } from './reporter.js';
import { tap } from './tap.js';

export const REPORTERS = ['pretty', 'tap', 'json', 'junit', 'markdown', 'github', 'html'] as const;

export type ReporterName = (typeof REPORTERS)[number];

/** Renders the report as indented JSON. This is the only format with the complete report; `readReport` can read it. */
const json: Reporter = (report) => `${JSON.stringify(report, null, 2)}\n`;

/** Returns the reporter of a format. `color`: true to use colours; only the format `pretty` has any. */
export function reporterOf(name: ReporterName, color: boolean): Reporter {
  return { pretty: createPretty(color), tap, json, junit, markdown, github, html }[name];
}
