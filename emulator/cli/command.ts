import { parseArgs } from 'node:util';
import type { ArgumentsCamelCase, CommandModule, Options } from 'yargs';
import { type Read, readNamed } from '../config/option-values.js';
import type { Terminal } from './terminal.js';
import { UsageError } from './usage-error.js';

/** Flag of a command. It has a value if `read` is given; otherwise it is boolean. */
export interface Flag<Value = unknown> {
  readonly describe: string;
  /** Parses the value of the flag. Throws `OptionError` if it is invalid. Undefined for a boolean flag. */
  readonly read?: Read<Value>;
  /** Default value, as a user would type it. */
  readonly default?: string;
  readonly repeatable?: true;
}

export type Flags = Readonly<Record<string, Flag>>;

/**
 * Values of a command's flags, by flag name. A flag with a value has its parsed value; a boolean flag has true or
 * false.
 */
export type Values<Table extends Flags> = {
  readonly [Name in keyof Table]: Table[Name] extends { readonly read: (given: unknown) => infer Value }
    ? Table[Name] extends { readonly default: string }
      ? Value
      : Value | undefined
    : boolean;
};

type Name<Table> = NoInfer<keyof Table & string>;

/** Positional arguments of a command, in order: the description of each, by name. All are optional. */
export type Positionals = Readonly<Record<string, string>>;

type Texts<Table extends Positionals> = { readonly [Name in keyof Table]: string | undefined };

/** Command of `emulator`, in the form that yargs requires. `commands.ts` lists all commands. */
export interface Command {
  readonly name: string;
  readonly flags?: Flags;
  readonly exclusive?: readonly (readonly [string, string])[];
  readonly module: (session: Session) => CommandModule;
}

export interface Definition<Table extends Flags, Words extends Positionals> {
  readonly name: string;
  readonly describe: string;
  readonly flags: Table;
  readonly positionals?: Words;
  /** Returns the text below the flags in the command's help. */
  readonly epilogue?: () => string;
  /** Pairs of flags that cannot be given together. */
  readonly exclusive?: readonly (readonly [Name<Table>, Name<Table>])[];
  readonly run: (values: Values<Table> & Texts<Words>, session: Session) => void | Promise<void>;
}

export function defineCommand<const Table extends Flags, const Words extends Positionals = Record<never, string>>(
  command: Definition<Table, Words>,
): Command {
  const { name, describe, flags, exclusive = [], run } = command;
  const positionals = Object.entries<string>(command.positionals ?? {});
  return {
    name,
    flags,
    exclusive,
    module: (session) => ({
      command: [name, ...positionals.map(([word]) => `[${word}]`)].join(' '),
      describe,
      builder: (parser) => {
        for (const [word, about] of positionals) parser.positional(word, { type: 'string', describe: about });
        parser.options(Object.fromEntries(Object.entries(flags).map(declare)));
        return command.epilogue ? parser.epilogue(command.epilogue()) : parser;
      },
      handler: async (args) => {
        checkAsTyped(session.argv, flags);
        for (const [one, other] of exclusive) {
          if (isGiven(args[one]) && isGiven(args[other])) {
            throw new UsageError(`--${one} and --${other} cannot be combined.`);
          }
        }
        const values = Object.entries(flags).map(([flag, row]) => [flag, readFlag(flag, row, args)]);
        const words = positionals.map(([word]) => [word, args[word]]);
        await run(Object.fromEntries([...values, ...words]) as Values<Table> & Texts<Words>, session);
      },
    }),
  };
}

/**
 * Converts a flag to a yargs option. Yargs only shows the default in the help and does not set it. Otherwise the
 * command could not tell a default from a value that the user typed.
 */
function declare([flag, row]: [string, Flag]): [string, Options] {
  const value: Options = row.read ? { type: 'string', requiresArg: true } : { type: 'boolean' };
  const { describe, default: standard } = row;
  if (row.repeatable) value.array = true;
  return [flag, { ...value, describe, ...(standard === undefined ? {} : { defaultDescription: standard }) }];
}

function isGiven(given: unknown): boolean {
  return given !== undefined && given !== false;
}

/**
 * Throws `UsageError` for mistakes that yargs accepts: repeated flags, values of boolean flags, and arguments after
 * `--`.
 */
function checkAsTyped(argv: readonly string[], flags: Flags): void {
  const options = Object.fromEntries(
    Object.entries(flags).map(([flag, { read }]) => [flag, { type: read ? 'string' : 'boolean' } as const]),
  );
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true });
  const seen = new Set<string>();
  let before: string | undefined;
  for (const token of tokens) {
    if (token.kind === 'option-terminator') throw new UsageError('This command takes no arguments after "--".');
    const row = token.kind === 'option' ? flags[token.name] : undefined;
    if (token.kind === 'positional' && before !== undefined && /^(true|false)$/.test(token.value)) {
      throw new UsageError(`--${before} takes no value.`);
    }
    before = token.kind === 'option' && row && !row.read ? token.name : undefined;
    if (token.kind !== 'option' || !row) continue;
    if (!row.read && token.value !== undefined) throw new UsageError(`--${token.name} takes no value.`);
    if (seen.has(token.name) && !row.repeatable)
      throw new UsageError(`--${token.name} was given more than once, but is allowed only once.`);
    seen.add(token.name);
  }
}

function readFlag(flag: string, row: Flag, args: ArgumentsCamelCase): unknown {
  const given = args[flag];
  if (!row.read) return given === true;
  const typed = given ?? row.default;
  return typed === undefined ? undefined : readNamed(`--${flag}`, row.read, typed);
}

/** Context in which a command runs: the whole command line, the terminal, and the exit code that the command sets. */
export interface Session {
  /** Command line as typed. */
  readonly argv: readonly string[];
  readonly terminal: Terminal;
  /** Exit code of the process. 0 unless a command sets it. */
  exitCode: number;
}
