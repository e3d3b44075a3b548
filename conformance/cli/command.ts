import { parseArgs } from 'node:util';
import type { CommandModule, Options } from 'yargs';
import { UsageError } from './usage-error.js';
import type { Read } from './values.js';

/** Output streams and other context of a command, besides its flags. */
export interface Session {
  /** Command line as typed. */
  readonly argv: readonly string[];
  /** Standard output: results. */
  readonly print: (text: string) => void;
  /** Standard error. */
  readonly warn: (text: string) => void;
  /** Exit code of the process; 0 unless a command sets it. */
  exitCode: number;
}

/** Flag with a value, or boolean flag. */
export interface Flag<Value = unknown> {
  readonly describe: string;
  /** Parses the value as typed; undefined for a boolean flag. Throws `UsageError`. */
  readonly read?: Read<Value>;
  /** Default value, as it would be typed. */
  readonly default?: string;
  readonly repeatable?: true;
  /** True if `--no-…` has a meaning of its own. */
  readonly negatable?: true;
  /** True if the value is a file name. */
  readonly isFile?: true;
  /** True if the value is a secret, which printed commands must not contain. */
  readonly secret?: true;
}

export type Flags = Readonly<Record<string, Flag>>;

/** Arguments of a command: the parsed value of each flag with a value, and true or false for each boolean flag. */
export type Values<Table extends Flags> = {
  readonly [Name in keyof Table]: Table[Name] extends { readonly read: (typed: string) => infer Value }
    ? Table[Name] extends { readonly repeatable: true }
      ? readonly Value[]
      : Table[Name] extends { readonly default: string }
        ? Value
        : Value | undefined
    : Table[Name] extends { readonly negatable: true }
      ? boolean | undefined
      : boolean;
};

/** Command in the table of `main.ts`. This module decides everything that applies to all flags of all commands. */
export interface Command {
  readonly name: string;
  readonly flags: Flags;
  readonly exclusive: readonly (readonly [string, string])[];
  /** Names of the positional arguments, in order. The last name may end in `..`: one or more arguments. */
  readonly arguments: readonly string[];
  readonly module: (session: Session) => CommandModule;
}

/** Flag that requires another flag, or one of several flags. */
export type Need = readonly [flag: string, without: string | readonly string[]];

export function defineCommand<Table extends Flags>(command: {
  readonly name: string;
  readonly describe: string;
  readonly flags: Table;
  /** Pairs of flags that exclude each other. */
  readonly exclusive?: readonly (readonly [string, string])[];
  /** Flags that require another flag, or one of several flags. */
  readonly needs?: readonly Need[];
  /** Text that `--help` prints below the flags. */
  readonly epilogue?: string;
  readonly arguments?: readonly string[];
  readonly run: (values: Values<Table>, session: Session, given: readonly string[]) => void | Promise<void>;
}): Command {
  const { name, describe, flags, exclusive = [], needs = [], arguments: names = [], epilogue, run } = command;
  return {
    name,
    flags,
    exclusive,
    arguments: names,
    module: (session) => ({
      command: [name, ...names.map((one) => `<${one}>`)].join(' '),
      describe,
      builder: (parser) => {
        for (const one of names) parser.positional(one.replace('..', ''), { type: 'string', demandOption: true });
        if (epilogue !== undefined) parser.epilogue(epilogue);
        return parser.options(Object.fromEntries(Object.entries(flags).map(declare)));
      },
      handler: async (typed) => {
        checkAsTyped(session.argv, flags);
        const args = { ...typed, ...fromEnvironment(flags, typed, exclusive) };
        const isGiven = (flag: string) =>
          args[flag] !== undefined && (args[flag] !== false || isNegatable(flags[flag]));
        for (const [one, other] of exclusive) {
          if (isGiven(one) && isGiven(other)) throw new UsageError(`--${one} and --${other} contradict each other`);
        }
        for (const [one, without] of needs) {
          const others = [without].flat();
          if (!isGiven(one) || others.some(isGiven)) continue;
          throw new UsageError(`--${one} has no effect without ${others.map((other) => `--${other}`).join(' or ')}`);
        }
        const values = Object.entries(flags).map(([flag, row]) => [flag, readFlag(flag, row, args[flag])]);
        const given = names.flatMap((one) => [args[one.replace('..', '')]].flat().map(String));
        await run(Object.fromEntries(values) as Values<Table>, session, given);
      },
    }),
  };
}

function isNegatable(row: Flag | undefined): boolean {
  return row?.negatable === true;
}

/**
 * Declares a flag to yargs. Yargs only shows the default, because a default that it sets could not be distinguished
 * from a given value.
 */
function declare([flag, row]: [string, Flag]): [string, Options] {
  const { describe, default: standard } = row;
  const options: Options = row.read ? { type: 'string', requiresArg: true, describe } : { type: 'boolean', describe };
  if (row.repeatable) options.array = true;
  if (standard !== undefined) options.defaultDescription = standard;
  return [flag, options];
}

/**
 * Returns the environment variable of a flag, such as `CONFORMANCE_KEY_ID` for `--key-id`; undefined if absent or
 * empty.
 */
function valueIn(flag: string): string | undefined {
  return process.env[`CONFORMANCE_${flag.replaceAll('-', '_').toUpperCase()}`] || undefined;
}

/**
 * Returns flags from the environment. Flags that were typed, or that a typed flag excludes, are omitted. Unknown
 * variables with the prefix `CONFORMANCE_` are ignored.
 */
function fromEnvironment(
  flags: Flags,
  typed: Readonly<Record<string, unknown>>,
  exclusive: readonly (readonly [string, string])[],
): Record<string, string | boolean> {
  const values: Record<string, string | boolean> = {};
  for (const [flag, row] of Object.entries(flags)) {
    const value = valueIn(flag);
    const rivals = exclusive.flatMap((pair) => (pair.includes(flag) ? pair : []));
    if (value === undefined || [flag, ...rivals].some((one) => typed[one] !== undefined)) continue;
    if (row.read === undefined && !/^(true|false)$/.test(value)) {
      throw new UsageError(`--${flag} of the environment must be true or false, not ${JSON.stringify(value)}`);
    }
    if (row.read !== undefined) values[flag] = value;
    else if (value === 'true' || row.negatable) values[flag] = value === 'true';
  }
  return values;
}

/**
 * Throws `UsageError` for input that yargs ignores: repeated flags, values of boolean flags, and arguments after `--`.
 */
function checkAsTyped(argv: readonly string[], flags: Flags): void {
  const options = Object.fromEntries(
    Object.entries(flags).map(([flag, { read }]) => [flag, { type: read ? 'string' : 'boolean' } as const]),
  );
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true });
  const seen = new Set<string>();
  let before: string | undefined;
  for (const token of tokens) {
    if (token.kind === 'option-terminator') throw new UsageError('commands take no arguments after --');
    if (token.kind === 'positional' && before !== undefined && /^(true|false)$/.test(token.value)) {
      throw new UsageError(`--${before} takes no value`);
    }
    before = undefined;
    if (token.kind !== 'option') continue;
    const isNegated = token.name.startsWith('no-') && !Object.hasOwn(flags, token.name);
    const name = isNegated ? token.name.slice(3) : token.name;
    const row = flags[name];
    if (!row) continue;
    if (isNegated && !row.negatable) throw new UsageError(`unknown flag --${token.name}`);
    if (!row.read) {
      before = token.name;
      if (token.value !== undefined) throw new UsageError(`--${token.name} takes no value`);
    }
    if (seen.has(name) && !row.repeatable) throw new UsageError(`--${name} was given more than once`);
    seen.add(name);
  }
}

function readFlag(flag: string, row: Flag, given: unknown): unknown {
  const { read } = row;
  if (!read) return isNegatable(row) && given === undefined ? undefined : given === true;
  try {
    if (row.repeatable) return (given === undefined ? [] : [given].flat()).map((typed) => read(String(typed)));
    const typed = given ?? row.default;
    return typed === undefined ? undefined : read(String(typed));
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`--${flag} ${error.message}`) : error;
  }
}
