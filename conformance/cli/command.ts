import { parseArgs } from 'node:util';
import type { CommandModule, Options } from 'yargs';
import { UsageError } from './usage-error.js';
import type { Read } from './values.js';

/** Command line, output streams and exit code of a running command. */
export interface Session {
  /** Command-line arguments, without the names of Node.js and the script. */
  readonly argv: readonly string[];
  /** Writes to standard output. Commands write only their result with it, so that the output can be piped. */
  readonly print: (text: string) => void;
  /** Writes to standard error, for example warnings. */
  readonly warn: (text: string) => void;
  /** Exit code of the process. 0 unless the command sets another one. */
  exitCode: number;
}

/** Command-line flag. It takes a value if `read` is present; otherwise it is a boolean flag. */
export interface Flag<Value = unknown> {
  readonly describe: string;
  /** Parses the value that the user typed; absent for a boolean flag. Throws `UsageError` if the value is invalid. */
  readonly read?: Read<Value>;
  /** Default value, written as a user would type it. */
  readonly default?: string;
  readonly repeatable?: true;
  /** True for a boolean flag that also has the form `--no-…`. Its value is undefined if the user gives neither form. */
  readonly negatable?: true;
  /** True if the value is the name of a file. */
  readonly isFile?: true;
  /** True if the value is a secret. A report omits secrets from the commands that it prints. */
  readonly secret?: true;
}

export type Flags = Readonly<Record<string, Flag>>;

/** Parsed flags of a command. A flag with a value has the result of its `read`; a boolean flag is true or false. */
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

/** Command as `main.ts` registers it. `defineCommand` creates one. */
export interface Command {
  readonly name: string;
  readonly flags: Flags;
  readonly exclusive: readonly (readonly [string, string])[];
  /** Names of the positional arguments, in order. A last name that ends in `..` accepts one or more arguments. */
  readonly arguments: readonly string[];
  readonly module: (session: Session) => CommandModule;
}

/** A flag that requires another flag. If `without` lists several flags, one of them suffices. */
export type Need = readonly [flag: string, without: string | readonly string[]];

export function defineCommand<Table extends Flags>(command: {
  readonly name: string;
  readonly describe: string;
  readonly flags: Table;
  /** Pairs of flags that must not be given together. */
  readonly exclusive?: readonly (readonly [string, string])[];
  /** Flags that require another flag. */
  readonly needs?: readonly Need[];
  /** Text that `--help` prints after the list of flags. */
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
 * Returns a flag as yargs declares it. yargs gets the default value only as help text, because a default that yargs
 * filled in would look like a typed value.
 */
function declare([flag, row]: [string, Flag]): [string, Options] {
  const { describe, default: standard } = row;
  const options: Options = row.read ? { type: 'string', requiresArg: true, describe } : { type: 'boolean', describe };
  if (row.repeatable) options.array = true;
  if (standard !== undefined) options.defaultDescription = standard;
  return [flag, options];
}

/**
 * Returns the value of a flag's environment variable, such as `CONFORMANCE_KEY_ID` for `--key-id`. Returns undefined if
 * the variable is absent or empty.
 */
function valueIn(flag: string): string | undefined {
  return process.env[`CONFORMANCE_${flag.replaceAll('-', '_').toUpperCase()}`] || undefined;
}

/**
 * Returns the flags that environment variables set. Omits typed flags, and flags that a typed flag excludes. Ignores
 * `CONFORMANCE_` variables that belong to no flag. Throws `UsageError` if the variable of a boolean flag is neither
 * `true` nor `false`.
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
 * Throws `UsageError` for mistakes that yargs ignores: repeated flags, values of boolean flags, unknown negated flags,
 * and arguments after `--`.
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
