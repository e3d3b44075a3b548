import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { GIT_CLIENTS, type GitClientChoice } from './git-clients.js';
import { readStructured } from './structured-file.js';
import { InvalidFile, readTextFile } from './text-file.js';

const address = z.url({ protocol: /^https?$/, error: 'must be an http or https address' });
const name = z.string().min(1);

/** Schema of the members that say where a secret is stored. A target file itself never contains a secret. */
const place = {
  file: name.optional().describe('Path of a file, relative to the folder of this file'),
  env: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable')
    .optional()
    .describe('Name of an environment variable with the key'),
};

function secretWith<Shape extends z.ZodRawShape>(more: Shape) {
  return z
    .strictObject({ ...place, ...more })
    .refine((one) => 'file' in one !== 'env' in one, 'must have either file or env')
    .meta({ oneOf: [{ required: ['file'] }, { required: ['env'] }] });
}

const id = name.optional().describe('The id under which the key is registered');
const secret = secretWith({});
const key = secretWith({ id });
const restrictedKey = secretWith({ id, scopes: z.array(name).min(1).describe('Its allowlist') });

/** Pattern of a valid name prefix for scratch repositories. Scratch repositories are those that a run creates. */
export const PREFIX = /^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/;
export const PREFIX_WORDS = 'must be 1 to 32 lower-case letters, digits and hyphens, with no hyphen at an end';

/** Location of a secret. Exactly one member is present: `file` (path) or `env` (name of an environment variable). */
export interface Secret {
  readonly file?: string | undefined;
  readonly env?: string | undefined;
}

export interface KeyEntry extends Secret {
  /** Id under which the key is registered at the target. */
  readonly id?: string | undefined;
  /** Scopes that tokens of a restricted key may have. */
  readonly scopes?: readonly string[] | undefined;
}

/**
 * Content of a target file, which describes the service under test. It contains no secrets; it only names the file or
 * environment variable of each.
 */
export interface TargetFile {
  readonly $schema?: string | undefined;
  readonly base_url: string;
  readonly git_url?: string | undefined;
  readonly org: string;
  readonly keys: {
    readonly main: KeyEntry;
    readonly restricted?: (KeyEntry & { readonly scopes: readonly string[] }) | undefined;
    readonly deleted?: KeyEntry | undefined;
    readonly others?: readonly KeyEntry[] | undefined;
  };
  readonly second?:
    | { readonly org: string; readonly key: KeyEntry; readonly base_url?: string | undefined }
    | undefined;
  readonly repo?: string | undefined;
  readonly write?: boolean | undefined;
  readonly companion?: boolean | undefined;
  readonly prefix?: string | undefined;
  readonly admin?: { readonly url?: string | undefined; readonly token?: Secret | undefined } | undefined;
  readonly rate?: number | 'unlimited' | undefined;
  readonly timeout?: number | undefined;
  readonly window?: number | undefined;
  readonly git_client?: GitClientChoice | undefined;
  readonly variants?: Readonly<Record<string, string>> | undefined;
}

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
      others: z.array(key).optional().describe('Other unrestricted keys, of any algorithm'),
    })
    .describe('PKCS#8 PEM, in a file or an environment variable'),
  second: z
    .strictObject({ org: name, key, base_url: address.optional() })
    .optional()
    .describe('Another organization on the same service'),
  repo: name.optional().describe('An existing repository with commits, for runs that do not write'),
  write: z.boolean().optional().describe('Create and change repositories; default: only on an emulator'),
  companion: z.boolean().optional().describe('Also try routes that only published clients use'),
  prefix: z
    .string()
    .regex(PREFIX, PREFIX_WORDS)
    .optional()
    .describe('Prefix of the names of scratch repositories; default: cf'),
  admin: z
    .strictObject({ url: address.optional(), token: secret.optional() })
    .optional()
    .describe('Address of the admin API of an emulator, and its token'),
  rate: z
    .union(
      [z.number().positive('must be a number above 0, or unlimited'), z.literal('unlimited')],
      'must be a number above 0, or unlimited',
    )
    .optional()
    .describe(
      'Maximum requests per second; default: what the RateLimit headers of the target allow, 5 without them, unlimited on an emulator',
    ),
  timeout: z
    .int()
    .positive()
    .max(2 ** 31 - 1)
    .optional()
    .describe('Timeout of a request in milliseconds; default: 15000'),
  window: z
    .number()
    .positive()
    .max(7 * 86_400)
    .optional()
    .describe('Spread the requests over this many seconds'),
  git_client: z
    .enum(GIT_CLIENTS, 'must be js, native or both')
    .optional()
    .describe(
      'Git client of rules about clones, fetches and pushes: js (isomorphic-git), native (git on the PATH) or both; default: js',
    ),
  variants: z
    .record(name, z.string())
    .optional()
    .describe('Observed choices where the specification leaves one; a run fails if the target behaves differently'),
}) satisfies z.ZodType<TargetFile>;

/**
 * Thrown if a target file (description of the service under test) is invalid. The message names the invalid member
 * and its allowed values.
 *
 * ```js
 * await assert.rejects(readTargetFile('acme.pem'), InvalidTargetFile);
 * ```
 */
export class InvalidTargetFile extends Error {
  override readonly name = 'InvalidTargetFile';
}

/**
 * Reads a target file (description of the service under test) in YAML or JSON. Relative file names in it are resolved
 * against its folder. Throws `InvalidTargetFile` if the file is invalid.
 *
 * ```js
 * const { base_url, org } = await readTargetFile('target.yaml');
 * ```
 */
export async function readTargetFile(path: string): Promise<TargetFile> {
  try {
    return located(parseTargetFile(await readTextFile(path)), dirname(path));
  } catch (error) {
    throw error instanceof InvalidFile ? new InvalidTargetFile(`${path} ${error.message}`) : error;
  }
}

/**
 * Parses the text of a target file (description of the service under test). Does not resolve relative file names in it.
 * Throws `InvalidFile` if the text is invalid.
 */
export function parseTargetFile(text: string): TargetFile {
  return readStructured(text, targetFile);
}

function located(file: TargetFile, folder: string): TargetFile {
  const from = <Entry extends { file?: string | undefined }>(entry: Entry): Entry =>
    entry.file === undefined ? entry : { ...entry, file: resolve(folder, entry.file) };
  const { keys, second, admin } = file;
  return {
    ...file,
    keys: {
      main: from(keys.main),
      ...(keys.restricted && { restricted: from(keys.restricted) }),
      ...(keys.deleted && { deleted: from(keys.deleted) }),
      ...(keys.others && { others: keys.others.map(from) }),
    },
    ...(second && { second: { ...second, key: from(second.key) } }),
    ...(admin && { admin: { ...admin, ...(admin.token && { token: from(admin.token) }) } }),
  };
}

/** Returns the JSON Schema of target files (descriptions of the service under test), as published with this package. */
export function targetFileSchema(): object {
  return { title: 'Target of a conformance run', ...z.toJSONSchema(targetFile, { io: 'input' }) };
}
