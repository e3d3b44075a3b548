import { type Matrix, matrixHtml, matrixMarkdown, matrixOf } from '../report/matrix.js';
import { defineCommand, type Flags } from './command.js';
import { readResult } from './read-result.js';
import { endWith, openOutputs, reporterFlag } from './report-output.js';
import { fileName } from './values.js';

const FORMATS: Readonly<Record<'markdown' | 'html' | 'json', (matrix: Matrix) => string>> = {
  markdown: matrixMarkdown,
  html: matrixHtml,
  json: (matrix) => `${JSON.stringify(matrix, null, 2)}\n`,
};

const FLAGS = {
  reporter: {
    read: reporterFlag(['markdown', 'html', 'json']),
    repeatable: true,
    describe: 'Format: markdown (default), html or json; with =FILE, written to a file',
  },
  output: { read: fileName, describe: 'File for the table instead of standard output' },
} satisfies Flags;

export const matrixCommand = defineCommand({
  name: 'matrix',
  arguments: ['results..'],
  describe: 'Show the verdicts of several results in one table, with changes marked',
  flags: FLAGS,
  run: async ({ reporter, output }, session, files) => {
    const wanted = reporter.length === 0 ? [{ name: 'markdown' as const }] : reporter;
    const outputs = await openOutputs(wanted, output);
    const matrix = matrixOf(await Promise.all(files.map(readResult)));
    endWith(0, await outputs((name) => FORMATS[name](matrix), session), session);
  },
});
