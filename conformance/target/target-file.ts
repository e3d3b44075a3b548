import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse, YAMLParseError } from 'yaml';
import { z } from 'zod';

const address = z.url({ protocol: /^https?$/, error: 'has to be an http or https address' });
const name = z.string().min(1);

/** Where a secret is: never in the file itself. */
const secret = z
  .strictObject({ file: name.optional(), env: name.optional() })
  .refine(({ file, env }) => (file === undefined) !== (env === undefined), 'has to have either file or env');

const key = z
  .strictObject({ file: name.optional(), env: name.optional(), id: name.optional() })
  .refine(({ file, env }) => (file === undefined) !== (env === undefined), 'has to have either file or env');
const restrictedKey = z
  .strictObject({ file: name.optional(), env: name.optional(), id: name.optional(), scopes: z.array(name).min(1) })
  .refine(({ file, env }) => (file === undefined) !== (env === undefined), 'has to have either file or env');

const targetFile = z.strictObject({
  $schema: z.string().optional(),
  base_url: address.describe('Address of the API'),
  git_url: address.optional().describe('Address of the Git host; default: base_url'),
  org: name.describe('Organization: the iss of every token'),
  keys: z
    .strictObject({
      main: key.describe('An unrestricted key'),
      restricted: restrictedKey.optional().describe('A restricted key, and the scopes of its allowlist'),
      deleted: key.optional().describe('A key that was registered and deleted'),
      others: z.array(key).optional().describe('Further unrestricted keys, of any kind'),
    })
    .describe('PKCS#8 PEM, in a file or an environment variable'),
  second: z
    .strictObject({ org: name, key, base_url: address.optional() })
    .optional()
    .describe('Another organization on the same service'),
  repo: name.optional().describe('An existing repository with commits, for runs that do not write'),
  write: z.boolean().optional().describe('Create and change repositories; default: only on an emulator'),
  companion: z.boolean().optional().describe('Also try routes that only published clients show'),
  prefix: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, 'has to be 1 to 32 lower-case letters, digits and hyphens')
    .optional()
    .describe('What the names of scratch repositories begin with; default: cf'),
  admin: z
    .strictObject({ url: address.optional(), token: secret.optional() })
    .optional()
    .describe('Where an emulator is controlled, and what its admin routes ask for'),
  rate: z.number().positive().optional().describe('Requests a second; default: 5 unless the target is an emulator'),
  timeout: z.int().positive().optional().describe('Milliseconds for one answer; default: 15000'),
  window: z.number().positive().optional().describe('Seconds over which the requests are spread'),
  variants: z
    .record(z.string(), z.string())
    .optional()
    .describe('Answers seen before where the specification leaves a choice: another one fails'),
});

/** A target as it is written down: everything but the secrets, which it names. */
export type TargetFile = z.infer<typeof targetFile>;
export type Secret = z.infer<typeof secret>;
export type KeyEntry = z.infer<typeof key> & { readonly scopes?: readonly string[] };

/** The file cannot be read as a target; the message says which member is wrong, and what is allowed. */
export class InvalidTargetFile extends Error {
  override readonly name = 'InvalidTargetFile';
}

/** Reads a target file, YAML or JSON; names of files in it count from its own folder. Throws `InvalidTargetFile`. */
export async function readTargetFile(path: string): Promise<TargetFile> {
  const file = parseTargetFile(await readText(path), path);
  const from = dirname(path);
  const located = <Entry extends { file?: string | undefined }>(entry: Entry): Entry =>
    entry.file === undefined ? entry : { ...entry, file: resolve(from, entry.file) };
  const { keys, second, admin } = file;
  return {
    ...file,
    keys: {
      main: located(keys.main),
      ...(keys.restricted && { restricted: located(keys.restricted) }),
      ...(keys.deleted && { deleted: located(keys.deleted) }),
      ...(keys.others && { others: keys.others.map(located) }),
    },
    ...(second && { second: { ...second, key: located(second.key) } }),
    ...(admin && { admin: { ...admin, ...(admin.token && { token: located(admin.token) }) } }),
  };
}

/** The same from its text; names of files stay as they are written. */
export function parseTargetFile(text: string, path: string): TargetFile {
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error;
    throw new InvalidTargetFile(`${path} is neither YAML nor JSON: ${error.message.split('\n', 1)[0]}`);
  }
  const read = targetFile.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new InvalidTargetFile(`${path}: ${issue === undefined ? 'it is no target' : wordIssue(issue, value)}`);
}

/** The published JSON Schema of target files. */
export function targetFileSchema(): object {
  return { title: 'Target of a conformance run', ...z.toJSONSchema(targetFile, { io: 'input' }) };
}

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new InvalidTargetFile(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function wordIssue(issue: z.core.$ZodIssue, value: unknown): string {
  const at = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    const [unknown] = issue.keys;
    return `there is no member ${at === '' ? unknown : `${at}.${unknown}`}`;
  }
  const given = issue.path.reduce<unknown>(
    (one, part) => (one as Record<PropertyKey, unknown> | undefined)?.[part],
    value,
  );
  if (given === undefined && issue.code === 'invalid_type') return `${at === '' ? 'the file' : at} is missing`;
  return `${at === '' ? 'the file' : at} ${issue.message.startsWith('has to') ? issue.message : `is wrong: ${issue.message}`}`;
}
