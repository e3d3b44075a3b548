import { type Comparison, compareReports } from '../report/compare.js';
import { compareText } from '../report/compare-text.js';
import { compareHtml } from '../report/html/compare-page.js';
import { defineCommand, type Flags } from './command.js';
import { readResult } from './read-result.js';
import { endWith, openOutputs, reporterFlag } from './report-output.js';
import { fileName } from './values.js';

const FORMATS: Readonly<Record<'text' | 'html' | 'json', (comparison: Comparison) => string>> = {
  text: compareText,
  html: compareHtml,
  json: (comparison) => `${JSON.stringify(comparison, null, 2)}\n`,
};

const FLAGS = {
  reporter: {
    read: reporterFlag(['text', 'html', 'json']),
    repeatable: true,
    describe: 'Format: text (default), html or json; with =FILE, written to a file',
  },
  output: { read: fileName, describe: 'File for the comparison instead of standard output' },
} satisfies Flags;

export const compareCommand = defineCommand({
  name: 'compare',
  arguments: ['before', 'after'],
  describe: 'Show the differences between two results; exit 0 if the results agree, 1 otherwise',
  flags: FLAGS,
  run: async ({ reporter, output }, session, [before = '', after = '']) => {
    const wanted = reporter.length === 0 ? [{ name: 'text' as const }] : reporter;
    const outputs = await openOutputs(wanted, output);
    const comparison = compareReports(await readResult(before), await readResult(after));
    const failures = await outputs((name) => FORMATS[name](comparison), session);
    endWith(comparison.differences.length === 0 ? 0 : 1, failures, session);
  },
});
