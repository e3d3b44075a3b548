import type { z } from 'zod';
import { InvalidFile } from './text-file.js';
import { readYaml } from './yaml.js';

/**
 * Parses a YAML or JSON text and validates it with a schema. Throws `InvalidFile`. Its message names the invalid
 * member, never the member's value.
 */
export function readStructured<Schema extends z.ZodType>(text: string, schema: Schema): z.infer<Schema> {
  const value = readYaml(text);
  if (value === null || value === undefined) throw new InvalidFile('is empty');
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  throw new InvalidFile(sentenceOf(read.error.issues[0], value));
}

function sentenceOf(issue: z.core.$ZodIssue | undefined, value: unknown): string {
  if (issue === undefined) return 'is wrong';
  const at = pathOf(issue.path);
  if (issue.code === 'unrecognized_keys') {
    const [unknown = ''] = issue.keys;
    return `has an unknown member: ${pathOf([...issue.path, unknown])}`;
  }
  if (issue.code === 'invalid_key') return `has an invalid name: ${at}`;
  const given = issue.path.reduce<unknown>(
    (one, part) => (one as Record<PropertyKey, unknown> | null | undefined)?.[part],
    value,
  );
  const where = at === '' ? 'the document' : at;
  if (given === undefined) return `lacks ${where}`;
  return `has an invalid member: ${where} ${wordsOf(issue)}`;
}

const KINDS: Readonly<Record<string, string>> = {
  object: 'an object with members',
  record: 'an object with members',
  array: 'a list',
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
};

function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.message.startsWith('must')) return issue.message;
  if (issue.code === 'invalid_type') return `must be ${KINDS[issue.expected] ?? issue.expected}`;
  if (issue.code === 'too_small') {
    if (issue.origin !== 'number' && issue.origin !== 'int') return 'must not be empty';
    return `must be ${issue.inclusive ? 'at least' : 'above'} ${issue.minimum}`;
  }
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}`;
  return `is invalid: ${issue.message}`;
}

/** Formats the path of a member for messages, such as `keys.others[1].file`. */
function pathOf(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part).slice(0, 60)}`))
    .join('')
    .replace(/^\./, '');
}
