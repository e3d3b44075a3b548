import type { Reporter } from './reporter.js';

/** The report itself. */
export const json: Reporter = (report) => `${JSON.stringify(report, null, 2)}\n`;
