import { baselineSchema } from '../report/baseline.js';
import { reportJsonSchema } from '../report/schema.js';
import { targetFileSchema } from '../target/target-file.js';
import { defineCommand } from './command.js';
import { UsageError } from './usage-error.js';

/** Functions that return the JSON Schemas of the suite's files. The keys are the names that the user types. */
export const SCHEMAS: Readonly<Record<'target' | 'baseline' | 'report', () => object>> = {
  target: targetFileSchema,
  baseline: baselineSchema,
  report: reportJsonSchema,
};

export const schemaCommand = defineCommand({
  name: 'schema',
  arguments: ['of'],
  describe: `Print the JSON Schema of a format: ${Object.keys(SCHEMAS).join(', ')}`,
  flags: {},
  run: (_values, { print }, [of = '']) => {
    if (!Object.hasOwn(SCHEMAS, of)) {
      throw new UsageError(`unknown schema ${of}; the schemas are ${Object.keys(SCHEMAS).join(', ')}`);
    }
    print(`${JSON.stringify(SCHEMAS[of as keyof typeof SCHEMAS](), null, 2)}\n`);
  },
});
